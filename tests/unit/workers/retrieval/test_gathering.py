"""Texts that wait together are encoded together."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from workers.retrieval.calibration import Vector
from workers.retrieval.gathering import Gathering


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


class Encoder:
    """Writes down its batches; the first one waits until it is let go."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, texts: Sequence[str]) -> Vector:
        self.batches.append(list(texts))
        self.begun.set()
        assert self.go_on.wait(5)
        if "bad" in texts:
            raise ValueError("bad text")
        return np.array([[len(text)] for text in texts], dtype=np.float32)


async def once_under_way(encoder: Encoder) -> None:
    assert await asyncio.to_thread(encoder.begun.wait, 5)


async def test_what_comes_while_a_batch_is_encoded_makes_the_next_one(executor: ThreadPoolExecutor) -> None:
    encoder = Encoder()
    gathering = Gathering(encoder, executor)
    first = asyncio.create_task(gathering.embed(["a"]))
    await once_under_way(encoder)
    others = [asyncio.create_task(gathering.embed(texts)) for texts in (["bb", "a"], ["ccc", "bb"])]
    await asyncio.sleep(0)
    encoder.go_on.set()

    assert await first == [[1]]
    assert await asyncio.gather(*others) == [[[2], [1]], [[3], [2]]]
    assert encoder.batches == [["a"], ["bb", "ccc"]]


async def test_a_batch_is_bounded_by_its_letters(executor: ThreadPoolExecutor) -> None:
    encoder = Encoder()
    encoder.go_on.set()
    texts = [letter * 2_000 for letter in "abcde"]

    vectors = await Gathering(encoder, executor).embed(texts)

    assert len(vectors) == 5
    assert encoder.batches == [texts[:2], texts[2:4], texts[4:]]


async def test_an_error_goes_to_those_who_were_in_the_batch_and_the_next_ones_are_encoded(
    executor: ThreadPoolExecutor,
) -> None:
    encoder = Encoder()
    encoder.go_on.set()
    gathering = Gathering(encoder, executor)

    with pytest.raises(ValueError, match="bad text"):
        await gathering.embed(["bad"])

    assert await gathering.embed(["good"]) == [[4]]


async def test_a_caller_that_leaves_takes_no_vector_from_the_others(executor: ThreadPoolExecutor) -> None:
    encoder = Encoder()
    gathering = Gathering(encoder, executor)
    leaving = asyncio.create_task(gathering.embed(["shared"]))
    await once_under_way(encoder)
    staying = asyncio.create_task(gathering.embed(["shared"]))
    await asyncio.sleep(0)
    leaving.cancel()
    encoder.go_on.set()

    assert await staying == [[6]]
    assert encoder.batches == [["shared"]]
