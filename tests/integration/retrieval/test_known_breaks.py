"""What other systems broke on, by the ids of the list of what we must not repeat (SEL: choosing, QDR: the engine)."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest
import redis.asyncio as aioredis
from qdrant_client import AsyncQdrantClient

from schemas.endpoints import Endpoint
from schemas.registry import Registered, Searchable, Sparse
from tests.integration.retrieval.endpoints import catalogue, endpoint
from tests.integration.retrieval.qdrant_twin import running_twin
from workers.indexing.indexer import Indexer
from workers.registry.store import RegistryStore
from workers.retrieval.calibration import E5, LETTERS, Vector, card_of
from workers.retrieval.embedder import E5Embedder, EmbedderAway, LetterEmbedder, open_embedder
from workers.retrieval.index import Query, VectorIndex, collection_name
from workers.retrieval.mirror import MirroredIndex
from workers.retrieval.qdrant_edge import EdgeIndex
from workers.retrieval.qdrant_server import ServerIndex
from workers.retrieval.ranking import Ranked, Thresholds, confidences, fuse
from workers.retrieval.recipe import pack, vectorize
from workers.retrieval.search import BY_WORDS_ALONE, EndpointSearch
from workers.retrieval.similarity import alike
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


async def test_sel_01_twins_are_named_and_a_new_wording_of_one_moves_no_other(clean_redis: aioredis.Redis) -> None:
    embedder = LetterEmbedder()
    reads = endpoint("read_record", text="Get a record of the archive.")
    seeks = endpoint("search_record", text="Find a record of the archive.")
    seeks = seeks.model_copy(update={"url": "https://api.example.org/found"})
    told = seeks.model_copy(update={"description": "Full-text hunt through old papers by keyword and year."})
    others = catalogue()

    before = alike(await vectorize([reads, seeks, *others], embedder), at_least=0.5)
    after = alike(await vectorize([reads, told, *others], embedder), at_least=0.5)

    assert [(one.first.name, one.second.name, one.advice) for one in before] == [
        ("read_record", "search_record", "give_examples")
    ]
    assert after == ()
    firsts = []
    for twin in (seeks, told):
        search = await searching(clean_redis, reads, twin, *others, embedder=embedder)
        firsts.append([(await search.nearest(one.description, limit=1))[0].endpoint.name for one in others])
        await search.close()
    assert firsts == [[one.name for one in others]] * 2


async def test_sel_02_among_hundreds_a_few_are_handed_on_and_the_right_one_leads(clean_redis: aioredis.Redis) -> None:
    kinds = ("invoice", "parcel", "permit", "lease", "ticket", "loan", "meter", "badge", "vaccine", "parking")
    deeds = ("Cancel", "Renew", "List", "Print", "Transfer")
    many = [
        endpoint(f"{deed}_{kind}_{place}", text=f"{deed} a {kind} in {place}.")
        for deed in deeds
        for kind in kinds
        for place in ("Tartu", "Narva", "Valga", "Elva", "Rapla")
    ]
    right = []
    for count in (50, 250):
        search = await searching(clean_redis, *many[:count], embedder=LetterEmbedder())
        shortlists = [await search.search(one.description, limit=RoutingSettings().top_k) for one in many[:count:10]]
        assert all(len(shortlist) <= 8 for shortlist in shortlists)
        hits = [
            shortlist[0].endpoint == one
            for one, shortlist in zip(many[:count:10], shortlists, strict=True)
            if shortlist
        ]
        right.append(sum(hits) / len(shortlists))
        await search.close()

    assert right == [1.0, 1.0]


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


async def test_sel_09_what_was_weighed_is_told_with_both_scores_and_the_limits(clean_redis: aioredis.Redis) -> None:
    search = await searching(clean_redis, *catalogue(), embedder=LetterEmbedder())

    first, second, *_ = await search.weigh("weather forecast for the town", limit=10)

    assert first.name == "get_weather_forecast"
    assert first.band == "high"
    assert first.score - second.score >= search.limits.lead
    assert first.score >= search.limits.clear > search.limits.match
    assert first.fused == pytest.approx(first.dense + card_of(LETTERS).order_weight * first.lexical, abs=2e-4)
    await search.close()


async def test_sel_11_with_the_model_away_words_alone_still_find(clean_redis: aioredis.Redis) -> None:
    class Away(LetterEmbedder):
        async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
            raise EmbedderAway(f"{len(texts)} texts and no server")

    search = await searching(clean_redis, *catalogue(), embedder=Away())
    before = BY_WORDS_ALONE._value.get()

    found = await search.search("electricity prices by the hour")
    nothing = await search.search("tell me a joke about a penguin")

    assert [one.endpoint.name for one in found] == ["get_electricity_prices"]
    assert nothing == ()
    assert BY_WORDS_ALONE._value.get() == before + 2
    await search.close()


async def test_qdr_02_another_models_collection_is_made_beside_the_old_which_stays_whole() -> None:
    newer = dataclasses.replace(CARD, version=CARD.version + 1, dimension=8)
    with running_twin() as url:
        for card in (CARD, newer, CARD):
            index = ServerIndex(AsyncQdrantClient(url=url, check_compatibility=False), card)
            await index.open()
            if await index.count() == 0:
                vector = [1.0] + [0.0] * (card.dimension - 1)
                await index.apply([point(endpoint("a"), vector).model_copy(update={"model": card.tag})], ())
            assert await index.count() == 1
            await index.close()


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
