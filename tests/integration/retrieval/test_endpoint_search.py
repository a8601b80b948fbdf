"""Search from registration to candidates: real Redis, real engine, the embedded model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import redis.asyncio as aioredis

from schemas.endpoints import Endpoint, ParamSpec
from schemas.registry import IndexState, Registered
from tests.integration.retrieval.endpoints import catalogue, endpoint
from workers.indexing.indexer import Indexer
from workers.registry.store import RegistryStore
from workers.retrieval.embedder import E5Embedder, LetterEmbedder
from workers.retrieval.search import LONGEST_QUESTION_CHARS, EndpointSearch
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.settings import RetrievalSettings, RoutingSettings


class CountingEmbedder(E5Embedder):
    """The real model, counting how many texts it embeds."""

    queries = 0
    passages = 0

    async def embed_queries(self, texts: object) -> list:  # type: ignore[type-arg,override]
        self.queries += len(texts)  # type: ignore[arg-type]
        return await super().embed_queries(texts)  # type: ignore[arg-type]

    async def embed_passages(self, texts: object) -> list:  # type: ignore[type-arg,override]
        self.passages += len(texts)  # type: ignore[arg-type]
        return await super().embed_passages(texts)  # type: ignore[arg-type]


def open_search(registry: RegistryStore, embedder: E5Embedder) -> EndpointSearch:
    quick = RetrievalSettings(poll_registry_s=0.05)
    return EndpointSearch(registry=registry, embedder=embedder, retrieval=quick, routing=RoutingSettings())


async def register(registry: RegistryStore, indexer: Indexer, *endpoints: Endpoint) -> None:
    for one in endpoints:
        await registry.put(Registered(endpoint=one, updated_at=utc_now()))
        await indexer.index(one.endpoint_id)


@pytest.fixture
def registry(clean_redis: aioredis.Redis) -> RegistryStore:
    return RegistryStore(clean_redis, Keys())


@pytest.fixture
async def embedder() -> AsyncIterator[CountingEmbedder]:
    opened = CountingEmbedder()
    yield opened
    await opened.close()


@pytest.fixture
async def search(registry: RegistryStore, embedder: CountingEmbedder) -> AsyncIterator[EndpointSearch]:
    opened = open_search(registry, embedder)
    await opened.start()
    yield opened
    await opened.close()


@pytest.fixture
def indexer(registry: RegistryStore, embedder: CountingEmbedder) -> Indexer:
    return Indexer(registry=registry, embedder=embedder)


@pytest.fixture
async def full(registry: RegistryStore, indexer: Indexer, search: EndpointSearch) -> EndpointSearch:
    await register(registry, indexer, *catalogue())
    assert await registry.wait_searchable("default.convert_currency", 5)
    return search


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What are the public holidays in Estonia?", "get_public_holidays"),
        ("Millised riigipühad on Eestis?", "get_public_holidays"),
        ("Какие государственные праздники в Эстонии?", "get_public_holidays"),
        ("kui palju maksab elekter homme", "get_electricity_prices"),
        ("Сколько стоит электричество завтра?", "get_electricity_prices"),
        ("how much car tax do I owe", "calculate_vehicle_tax"),
        ("Какая завтра погода в Тарту?", "get_weather_forecast"),
    ],
    ids=lambda value: value,
)
async def test_the_right_endpoint_is_first_in_three_languages(full: EndpointSearch, question: str, name: str) -> None:
    found = await full.search(question)

    assert found[0].endpoint.name == name


async def test_a_plain_question_is_a_clear_match(full: EndpointSearch) -> None:
    found = await full.search("What are the public holidays in Estonia?")

    assert found[0].confidence == "high"
    assert found[0].cosine >= 0.60
    assert all(one.confidence == "medium" for one in found[1:])


@pytest.mark.parametrize(
    "question", ["Give me a poem about love", "Mis on elu mõte?", "Кто написал Войну и мир?", " ", "🎉"]
)
async def test_what_nobody_offers_finds_nothing(full: EndpointSearch, question: str) -> None:
    assert await full.search(question) == ()


async def test_the_nearest_are_named_however_far_they_are(full: EndpointSearch) -> None:
    found = await full.nearest("Mis on elu mõte?", limit=2)

    assert len(found) == 2
    assert found[0].fused >= found[1].fused


async def test_a_repeated_question_is_embedded_once(full: EndpointSearch, embedder: CountingEmbedder) -> None:
    first = await full.search("weather in Tartu")
    before = embedder.queries

    assert await full.search("weather in Tartu") == first
    assert embedder.queries == before


async def test_text_that_breaks_tokenizers_does_no_harm(full: EndpointSearch) -> None:
    for text in ("weather\0 in Tartu", "שלום עולם", "\ud800 weather", "weather " * 3000):
        await full.search(text)


async def test_private_endpoints_and_other_tenants_stay_unseen(
    registry: RegistryStore, indexer: Indexer, search: EndpointSearch
) -> None:
    await register(registry, indexer, endpoint("search_address", visibility="private"), *catalogue("other"))
    assert await registry.wait_searchable("other.convert_currency", 5)

    assert await search.nearest("Look up a street address") == ()
    theirs = await search.search("Look up a street address", tenant="other")
    assert [one.endpoint.tenant for one in theirs][:1] == ["other"]


async def test_waiting_means_that_every_process_finds_it(
    registry: RegistryStore, indexer: Indexer, search: EndpointSearch
) -> None:
    second = open_search(registry, E5Embedder())
    await second.start()

    await register(registry, indexer, endpoint("get_weather_forecast"))
    assert await registry.wait_searchable("default.get_weather_forecast", 5)

    for one in (search, second):
        assert [c.endpoint.name for c in await one.nearest("weather")] == ["get_weather_forecast"]
    await second.close()


async def test_a_process_that_starts_later_knows_everything(registry: RegistryStore, full: EndpointSearch) -> None:
    late = open_search(registry, E5Embedder())
    await late.start()

    assert await late.search("weather in Tartu") == await full.search("weather in Tartu")
    await late.close()


async def test_a_changed_endpoint_answers_to_its_new_description_only(
    registry: RegistryStore, indexer: Indexer, search: EndpointSearch
) -> None:
    await register(registry, indexer, endpoint("thing", text="Weather forecast for a town."))
    await register(registry, indexer, endpoint("thing", text="Renew a library loan."))
    assert await registry.wait_searchable("default.thing", 5)

    found = await search.search("renew my library loan")

    assert [(one.endpoint.description, one.endpoint.version) for one in found] == [("Renew a library loan.", 2)]
    assert await search.search("weather forecast") == ()


async def test_a_deleted_endpoint_is_found_no_more(registry: RegistryStore, full: EndpointSearch) -> None:
    head = await registry.log.head()
    await registry.delete("default.get_weather_forecast")

    while not await registry.log.is_applied_everywhere(head.seq + 1):
        await full.nearest("x")
    assert "get_weather_forecast" not in [one.endpoint.name for one in await full.nearest("weather", limit=10)]


async def test_indexing_twice_embeds_once(
    registry: RegistryStore, indexer: Indexer, embedder: CountingEmbedder
) -> None:
    await register(registry, indexer, endpoint("search_address"))
    before, head = embedder.passages, await registry.log.head()

    await register(registry, indexer, endpoint("search_address"))

    assert embedder.passages == before
    assert await registry.log.head() == head
    found = await registry.get("default.search_address")
    assert found is not None
    assert found.state is IndexState.INDEXED


async def test_a_wiped_registry_empties_the_index(
    registry: RegistryStore, indexer: Indexer, full: EndpointSearch, clean_redis: aioredis.Redis
) -> None:
    await clean_redis.flushall()
    await register(registry, indexer, endpoint("search_address"))
    assert await registry.wait_searchable("default.search_address", 5)

    assert [one.endpoint.name for one in await full.nearest("anything", limit=10)] == ["search_address"]


async def test_closing_ends_however_it_meets_the_blocking_read(registry: RegistryStore) -> None:
    # The Redis client loses a cancellation that arrives together with a reply: about one close in fifty hung.
    quick = RetrievalSettings(poll_registry_s=0.02)

    async def open_and_close(after_s: float) -> None:
        one = EndpointSearch(registry=registry, embedder=LetterEmbedder(), retrieval=quick, routing=RoutingSettings())
        await one.start()
        await asyncio.sleep(after_s)
        closed, _ = await asyncio.wait({asyncio.create_task(one.close())}, timeout=5)
        assert closed

    for _ in range(5):
        await asyncio.gather(*(open_and_close(0.015 + n * 0.001) for n in range(20)))


async def test_only_the_beginning_of_a_long_message_is_embedded(
    full: EndpointSearch, embedder: CountingEmbedder
) -> None:
    asked = "What is the weather in Tartu tomorrow? "
    start = asked + "x" * (LONGEST_QUESTION_CHARS - len(asked))
    await full.weigh(start + " one ending")
    embedded = embedder.queries

    await full.weigh(start + " quite another ending, a page long" * 100)

    assert LONGEST_QUESTION_CHARS == 600
    assert embedder.queries == embedded


async def test_an_endpoint_that_the_engine_cannot_hold_keeps_no_other_one_out(
    search: EndpointSearch, registry: RegistryStore, indexer: Indexer
) -> None:
    number = ParamSpec(name="number", type="integer", default=10**400)
    poisoned = endpoint("get_weather_forecast").model_copy(update={"params": (number,)})

    await register(registry, indexer, poisoned, endpoint("search_address"))

    assert await registry.wait_searchable("default.search_address", 5)
    found = await search.search("Look up a street address.")
    assert [one.endpoint.name for one in found] == ["search_address"]
