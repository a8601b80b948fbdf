"""What other systems broke on, by the ids of the list of what we must not repeat (SEL: choosing, QDR: the engine)."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator

import numpy as np
import pytest
import redis.asyncio as aioredis

from schemas.endpoints import Endpoint
from schemas.registry import Registered, Searchable, Sparse
from tests.integration.retrieval.endpoints import catalogue, endpoint
from workers.indexing.indexer import Indexer
from workers.registry.store import RegistryStore
from workers.retrieval.calibration import E5, LETTERS, card_of
from workers.retrieval.embedder import E5Embedder, LetterEmbedder, open_embedder
from workers.retrieval.index import Query, VectorIndex, collection_name
from workers.retrieval.mirror import MirroredIndex
from workers.retrieval.qdrant_edge import EdgeIndex
from workers.retrieval.ranking import Ranked, Thresholds, confidences, fuse
from workers.retrieval.recipe import pack
from workers.retrieval.search import EndpointSearch
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.settings import RetrievalSettings, RoutingSettings

CARD = dataclasses.replace(card_of(LETTERS), dimension=4)


@pytest.fixture(params=["the engine", "its mirror"])
async def index(request: pytest.FixtureRequest) -> AsyncIterator[VectorIndex]:
    engine = EdgeIndex(CARD, has_words=request.param == "the engine")
    opened: VectorIndex = engine if request.param == "the engine" else MirroredIndex(engine, CARD)
    await opened.open()
    yield opened
    await opened.close()


def point(one: Endpoint, dense: list[float], words: dict[int, float] | None = None) -> Searchable:
    lexical = Sparse(indices=tuple(words or {}), values=tuple((words or {}).values()))
    packed = pack(np.array(dense, dtype=np.float32))
    return Searchable(endpoint=one, model=CARD.tag, fingerprint="", dense=packed, sparse=lexical, lexical=lexical)


def asked(dense: list[float], words: dict[int, float] | None = None) -> Query:
    lexical = Sparse(indices=tuple(words or {}), values=tuple((words or {}).values()))
    return Query(tenant="default", dense=np.array(dense, dtype=np.float32), lexical=lexical)


async def searching(
    client: aioredis.Redis, *endpoints: Endpoint, embedder: LetterEmbedder | E5Embedder
) -> EndpointSearch:
    registry = RegistryStore(client, Keys())
    settings = RetrievalSettings(poll_registry_s=0.05)
    search = EndpointSearch(registry=registry, embedder=embedder, retrieval=settings, routing=RoutingSettings())
    indexer = Indexer(registry=registry, embedder=embedder)
    for one in endpoints:
        await registry.put(Registered(endpoint=one, updated_at=utc_now()))
        await indexer.index(one.endpoint_id)
    await search.start()
    return search


def test_sel_03_a_lone_weak_hit_is_no_clear_match() -> None:
    lone = (Ranked(endpoint_id="a", fused=0.5, score=0.505),)

    assert confidences(lone, Thresholds()) == ("medium",)
    assert confidences((dataclasses.replace(lone[0], score=0.39),), Thresholds()) == (None,)


async def test_sel_04_a_curve_measured_on_one_model_is_not_read_by_another(clean_redis: aioredis.Redis) -> None:
    registry = RegistryStore(clean_redis, Keys())
    await registry.set_curve(card_of(E5).tag, ((0.0, 0.9), (1.0, 1.0)))

    assert await registry.curve(card_of(LETTERS).tag) is None
    assert await registry.curve(card_of(E5).tag) == ((0.0, 0.9), (1.0, 1.0))


async def test_sel_07_without_the_model_letters_stand_in_and_the_tag_says_so(
    clean_redis: aioredis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: E5Embedder, *, threads: int) -> None:
        raise ImportError(threads)

    monkeypatch.setattr(E5Embedder, "__init__", missing)
    embedder = open_embedder(RetrievalSettings())
    assert isinstance(embedder, LetterEmbedder)
    search = await searching(clean_redis, *catalogue(), embedder=embedder)

    found = await search.search("weather forecast")

    assert search.model.startswith(LETTERS)
    assert [one.endpoint.name for one in found] == ["get_weather_forecast"]
    await search.close()


async def test_sel_08_an_example_question_closes_the_gap_that_a_terse_description_leaves(
    clean_redis: aioredis.Redis,
) -> None:
    terse = endpoint("open_case", text="Open a case.")
    told = terse.model_copy(update={"examples": {"en": ("I was charged twice and want my refund",)}})
    search = await searching(clean_redis, *catalogue(), terse, embedder=LetterEmbedder())
    before = await search.search("refund, charged twice")
    await search.close()

    search = await searching(clean_redis, told, embedder=LetterEmbedder())
    after = await search.search("refund, charged twice")
    await search.close()

    assert before == ()
    assert [one.endpoint.name for one in after] == ["open_case"]


async def test_qdr_03_an_empty_collection_carries_its_models_name() -> None:
    other = dataclasses.replace(CARD, version=CARD.version + 1)

    assert collection_name(CARD) != collection_name(other)
    assert CARD.model in collection_name(CARD)


async def test_qdr_04_two_processes_never_share_a_shard() -> None:
    first, second = EdgeIndex(CARD), EdgeIndex(CARD)
    await asyncio.gather(first.open(), second.open())

    await first.apply([point(endpoint("a"), [1.0, 0.0, 0.0, 0.0])], ())

    assert (await first.count(), await second.count()) == (1, 0)
    await asyncio.gather(first.close(), second.close())


async def test_qdr_05_what_is_put_is_found_at_once_five_hundred_times(index: VectorIndex) -> None:
    for number in range(500):
        one = endpoint(f"e{number}")
        await index.apply([point(one, [1.0, number / 500, 0.0, 0.0], {number: 1.0})], ())
        hits = await index.find(asked([0.0, 0.0, 1.0, 0.0], {number: 1.0}))
        assert max(hits, key=lambda hit: hit.lexical).endpoint_id == one.endpoint_id


async def test_qdr_07_without_a_common_word_nothing_unrelated_scores(index: VectorIndex) -> None:
    await index.apply([point(endpoint("a"), [1.0, 0.0, 0.0, 0.0], {7: 1.0})], ())

    hits = await index.find(asked([0.0, 1.0, 0.0, 0.0], {9: 1.0}))

    assert [(hit.dense, hit.lexical) for hit in hits] == [(0.0, 0.0)]
    assert confidences(fuse(hits, CARD), Thresholds()) == (None,)


async def test_qdr_08_a_first_rank_is_no_likeness(clean_redis: aioredis.Redis) -> None:
    registry = RegistryStore(clean_redis, Keys())
    embedder = LetterEmbedder()
    search = await searching(clean_redis, *catalogue(), embedder=embedder)
    by_ranks = EndpointSearch(
        registry=registry,
        embedder=embedder,
        retrieval=RetrievalSettings(fusion="reciprocal"),
        routing=RoutingSettings(),
    )
    await by_ranks.start()

    (first, *_) = await by_ranks.nearest("xylophone quartz")
    (same, *_) = [one for one in await search.nearest("xylophone quartz", limit=10) if one.endpoint == first.endpoint]

    assert await by_ranks.search("xylophone quartz") == ()
    assert first.cosine == same.cosine < 0.4
    await by_ranks.close()
    await search.close()
