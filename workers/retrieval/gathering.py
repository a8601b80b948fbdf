"""Texts of many callers, embedded together: a catalogue comes as hundreds of tasks of one endpoint each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor

from workers.retrieval.calibration import Vector

Encode = Callable[[Sequence[str]], Vector]
"""Texts (n,) → vectors (n, d)."""

_MOST_LETTERS = 5_000
"""Letters of a batch, some 1,500 pieces: half a second on two threads, and unpacking the model is 5 % of it."""


class Gathering:
    """Encodes what waits, one batch at a time; what comes meanwhile makes the next one. Equal texts are made once."""

    def __init__(self, encode: Encode, executor: Executor) -> None:
        """`encode` runs in the executor, never twice at once."""
        self._encode = encode
        self._executor = executor
        self._waiting: dict[str, asyncio.Future[Vector]] = {}
        self._under_way: dict[str, asyncio.Future[Vector]] = {}
        self._work: asyncio.Task[None] | None = None

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector a text. Whatever `encode` raises goes to everybody whose text was in that batch."""
        loop = asyncio.get_running_loop()
        made = [self._place_of(text, loop) for text in texts]
        if self._waiting and (self._work is None or self._work.done()):
            self._work = loop.create_task(self._encode_all(), name="embed-passages")
        # Shielded: another caller may wait for the same text.
        return list(await asyncio.gather(*(asyncio.shield(one) for one in made)))

    def _place_of(self, text: str, loop: asyncio.AbstractEventLoop) -> asyncio.Future[Vector]:
        known = self._under_way.get(text) or self._waiting.get(text)
        if known is None:
            known = self._waiting[text] = loop.create_future()
        return known

    async def _encode_all(self) -> None:
        try:
            while self._waiting:
                await self._encode_some()
        finally:
            for left in (*self._under_way.values(), *self._waiting.values()):
                left.cancel()
            self._under_way, self._waiting = {}, {}

    async def _encode_some(self) -> None:
        batch = self._under_way = self._next_batch()
        made = asyncio.get_running_loop().run_in_executor(self._executor, self._encode, list(batch))
        await asyncio.wait([made])
        error = made.exception()
        vectors = made.result() if error is None else [None] * len(batch)
        for place, vector in zip(batch.values(), vectors, strict=True):
            if error is None:
                place.set_result(vector)
            else:
                place.set_exception(error)
                place.exception()  # a caller may have left; nobody is to be told that it was never asked for
        self._under_way = {}

    def _next_batch(self) -> dict[str, asyncio.Future[Vector]]:
        batch: dict[str, asyncio.Future[Vector]] = {}
        letters = 0
        for text in list(self._waiting):
            letters += len(text)
            if batch and letters > _MOST_LETTERS:
                break
            batch[text] = self._waiting.pop(text)
        return batch
