"""The mirror answers as its engine does, whatever was put, changed and taken away."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator

import numpy as np
import pytest

from schemas.registry import Searchable, Sparse
from tests.integration.retrieval.endpoints import endpoint
from workers.retrieval.calibration import LETTERS, card_of
from workers.retrieval.index import Query
from workers.retrieval.mirror import MirroredIndex
from workers.retrieval.qdrant_edge import EdgeIndex
from workers.retrieval.ranking import Ranked, fuse, fuse_by_ranks
from workers.retrieval.recipe import pack

CARD = dataclasses.replace(card_of(LETTERS), dimension=32)
FEATURES = 2_000
SIZE = 700


class Maker:
    """Endpoints with random vectors; some features stand in nearly all of them, most in a few (Zipf)."""

    def __init__(self) -> None:
        self._numbers = np.random.default_rng(3)
        shares = 1 / np.arange(1, FEATURES + 1)
        self._shares = shares / shares.sum()

    def dense(self) -> np.ndarray:  # type: ignore[type-arg]
        return self._numbers.normal(size=CARD.dimension).astype(np.float32)

    def words(self, count: int) -> Sparse:
        places = sorted(set(self._numbers.choice(FEATURES, size=count, p=self._shares).tolist()))
        values = self._numbers.uniform(0.1, 1.0, size=len(places)).round(4).tolist()
        return Sparse(indices=tuple(places), values=tuple(values))

    def searchable(self, number: int, text: str = "") -> Searchable:
        one = endpoint(
            f"e{number}", text=text or f"endpoint {number}", tenant="other" if number % 50 == 0 else "default"
        )
        return Searchable(
            endpoint=one,
            model=CARD.tag,
            fingerprint="",
            dense=pack(self.dense()),
            sparse=self.words(20),
            lexical=self.words(60),
        )

    def query(self, *, sparse: bool = False) -> Query:
        words = self.words(30)
        return Query(tenant="default", dense=self.dense(), lexical=words, sparse=words if sparse else Sparse())


class Both:
    """The engine alone, and the mirror before an engine of its own, told the same."""

    def __init__(self) -> None:
        self.engine = EdgeIndex(CARD)
        self.mirror = MirroredIndex(EdgeIndex(CARD, has_words=False), CARD)

    async def apply(self, put: list[Searchable], gone: list[str]) -> None:
        for index in (self.engine, self.mirror):
            await index.apply(put, gone)

    async def ranked(self, query: Query) -> tuple[tuple[Ranked, ...], tuple[Ranked, ...]]:
        order = fuse_by_ranks if query.sparse.indices else fuse
        return order(await self.engine.find(query), CARD), order(await self.mirror.find(query), CARD)


@pytest.fixture
def maker() -> Maker:
    return Maker()


@pytest.fixture
async def both(maker: Maker) -> AsyncIterator[Both]:
    opened = Both()
    for index in (opened.engine, opened.mirror):
        await index.open()
    for at in range(0, SIZE, 100):
        await opened.apply([maker.searchable(at + n) for n in range(100)], [])
    yield opened
    for index in (opened.engine, opened.mirror):
        await index.close()


async def assert_alike(both: Both, query: Query) -> None:
    theirs, ours = await both.ranked(query)

    assert [one.endpoint_id for one in ours] == [one.endpoint_id for one in theirs]
    for name in ("dense", "lexical", "fused", "score"):
        found = [getattr(one, name) for one in ours]
        assert found == pytest.approx([getattr(one, name) for one in theirs], abs=2e-5), name


async def test_it_finds_what_the_engine_finds_with_the_same_scores(both: Both, maker: Maker) -> None:
    for _ in range(40):
        await assert_alike(both, maker.query())


async def test_so_it_does_after_changes_one_by_one_and_after_most_are_gone(both: Both, maker: Maker) -> None:
    for number in range(0, 200, 2):
        await both.apply([maker.searchable(number, "changed")], [f"default.e{number + 1}"])
    for _ in range(10):
        await assert_alike(both, maker.query())

    gone = [f"default.e{number}" for number in range(200, 600)]
    await both.apply([], gone)
    for _ in range(10):
        await assert_alike(both, maker.query())

    kept = [f"{tenant}.e{number}" for number in range(0, 100, 2) for tenant in ("default", "other")]
    for index in (both.engine, both.mirror):
        await index.keep_only(kept)
    for _ in range(10):
        await assert_alike(both, maker.query())
    assert await both.mirror.count() == await both.engine.count() == 50


async def test_fusion_by_ranks_gets_the_engines_ranks(both: Both, maker: Maker) -> None:
    for _ in range(10):
        await assert_alike(both, maker.query(sparse=True))


async def test_an_endpoint_read_before_is_read_anew_once_it_changed(both: Both, maker: Maker) -> None:
    mirror = both.mirror
    assert [one.description for one in await mirror.endpoints(["default.e1"])] == ["endpoint 1"]

    await mirror.apply([maker.searchable(1, "new words")], ["default.e2"])

    assert [one.description for one in await mirror.endpoints(["default.e1", "default.e2"])] == ["new words"]


async def test_endpoints_come_whole_and_in_the_order_asked(maker: Maker) -> None:
    mirror = MirroredIndex(EdgeIndex(CARD, has_words=False), CARD)
    await mirror.open()
    page = [maker.searchable(number) for number in range(1, 50)]
    await mirror.apply(page, [])
    found = await mirror.endpoints(["default.e3", "default.nobody", "default.e2"])
    await mirror.keep_only(["default.e3"])
    left = await mirror.endpoints(["default.e3", "default.e2"])

    await mirror.close()

    assert found == [page[2].endpoint, page[1].endpoint]
    assert left == [page[2].endpoint]
