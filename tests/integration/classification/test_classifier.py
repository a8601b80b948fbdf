"""The chain over real search: Redis, the embedded vector engine and the embedding model."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import redis.asyncio as aioredis

from schemas.conversations import Collecting, Conversation, EndpointProgress, Utterance
from schemas.endpoints import Endpoint, Language
from schemas.registry import Registered
from schemas.routing import Decision, Layer
from schemas.turns import TurnRequest
from workers.classification.chain import Classifier
from workers.indexing.indexer import Indexer
from workers.registry.store import RegistryStore
from workers.retrieval.embedder import open_embedder
from workers.retrieval.search import EndpointSearch
from workers.runtime.keys import Keys
from workers.runtime.settings import RetrievalSettings, RoutingSettings

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
ENDPOINTS = tuple(
    Endpoint(endpoint_id=entry["name"], url="https://api.example/x", **entry)
    for entry in tomllib.loads((Path(__file__).parent / "catalogue.toml").read_text(encoding="utf-8"))["endpoint"]
)
BY_ID = {endpoint.endpoint_id: endpoint for endpoint in ENDPOINTS}


@pytest.fixture
async def classifier(clean_redis: aioredis.Redis) -> AsyncIterator[Classifier]:
    registry = RegistryStore(clean_redis, Keys())
    retrieval, routing = RetrievalSettings(), RoutingSettings()
    embedder = open_embedder(retrieval)
    indexer = Indexer(registry=registry, embedder=embedder)
    for endpoint in ENDPOINTS:
        await registry.put(Registered(endpoint=endpoint, updated_at=NOON))
        await indexer.index(endpoint.endpoint_id)
    search = EndpointSearch(registry=registry, embedder=embedder, retrieval=retrieval, routing=routing)
    await search.start()
    yield Classifier(search=search, settings=routing)
    await search.close()


async def decide(classifier: Classifier, text: str, conversation: Conversation | None = None) -> Decision:
    request = TurnRequest(
        turn_id="t",
        tenant="default",
        chat_id="c",
        message=text,
        accepted_at=NOON,
        deadline_at=NOON + timedelta(minutes=1),
    )
    return await classifier.decide(request, conversation, now=NOON)


def ids(decision: Decision) -> list[str]:
    return [endpoint.endpoint_id for endpoint in decision.endpoints]


SINGLE: list[tuple[Language, str, str]] = [
    ("en", "What are the public holidays in Estonia this year?", "get_public_holidays"),
    ("en", "Calculate vehicle tax for 123ABC", "get_vehicle_tax"),
    ("en", "hello, will it rain in Tartu tomorrow?", "get_weather_forecast"),
    ("en", "How much is 250 EUR in SEK?", "convert_currency"),
    ("en", "show me the latest votes of the Riigikogu", "get_parliament_votings"),
    ("et", "Millal on Eesti koolide koolivaheajad?", "get_school_holidays"),
    ("et", "Otsi aadressi Viru 4 Tallinnas", "search_address"),
    ("et", "Mis oli elektrihind eelmisel kuul?", "get_electricity_prices"),
    ("et", "tere, mis kell läheb rong Narva?", "get_train_times"),
    ("et", "Leia ettevõtte Bolt andmed", "lookup_company"),
    ("ru", "Какая погода будет в Нарве?", "get_weather_forecast"),
    ("ru", "Рассчитайте налог на машину 123ABC", "get_vehicle_tax"),
    ("ru", "Хочу продлить библиотечную книгу", "extend_library_loan"),
    ("ru", "У меня штраф за парковку, сколько платить?", "get_parking_fine"),
]
PARALLEL = [
    ("find an address and my vehicle tax", ["search_address", "get_vehicle_tax"]),
    (
        "What are the public holidays in Estonia and what is the current electricity price?",
        ["get_public_holidays", "get_electricity_prices"],
    ),
    ("Arvuta sõidukimaks 123ABC 2026 ja näita elektrihindu", ["get_vehicle_tax", "get_electricity_prices"]),
    ("Какая погода в Таллинне и сколько стоит электричество?", ["get_weather_forecast", "get_electricity_prices"]),
    (
        "Search for an address in Tartu, get public holidays in Estonia this year, and show me the electricity prices",
        ["search_address", "get_public_holidays", "get_electricity_prices"],
    ),
]
REFUSED: list[tuple[Language, str]] = [
    ("en", "write me a poem about the sea"),
    ("en", "What is the meaning of life?"),
    ("en", "give me a recipe for pancakes"),
    ("et", "räägi mulle üks anekdoot"),
    ("et", "Mis on elu mõte?"),
    ("ru", "напиши стихотворение о море"),
    ("ru", "расскажи анекдот"),
]


async def test_questions_in_three_languages_find_their_endpoint(classifier: Classifier) -> None:
    decisions = [(said, await decide(classifier, said)) for _, said, _ in SINGLE]

    assert [(said, decision.language, ids(decision)) for said, decision in decisions] == [
        (said, language, [expected]) for language, said, expected in SINGLE
    ]


async def test_messages_with_several_requests_find_them_all(classifier: Classifier) -> None:
    decisions = [(said, await decide(classifier, said)) for said, _ in PARALLEL]

    assert [(said, ids(decision)) for said, decision in decisions] == PARALLEL


async def test_sel_05_what_nothing_fits_is_refused_with_what_we_can_do(classifier: Classifier) -> None:
    decisions = [(said, await decide(classifier, said)) for _, said in REFUSED]

    assert [(said, d.language, d.layer) for said, d in decisions] == [
        (said, language, Layer.OOD) for language, said in REFUSED
    ]
    assert all(any(title in d.reply for e in ENDPOINTS for title in e.titles.values()) for _, d in decisions)


@pytest.mark.parametrize("said", ["hello", "aitäh!", "Спасибо большое", "what can you do?", "kes sa oled?", "как дела"])
async def test_small_talk_reaches_no_endpoint(classifier: Classifier, said: str) -> None:
    assert (await decide(classifier, said)).layer is Layer.CONTEXT


async def test_a_collection_is_resumed_by_values_and_left_for_a_clear_request(classifier: Classifier) -> None:
    open_ = Collecting(
        endpoints=tuple(EndpointProgress(endpoint=BY_ID[i]) for i in ("search_address", "get_vehicle_tax")),
        original_query="find an address and my vehicle tax",
    )
    chat = Conversation(language="en", collecting=open_)

    for said in ("123ABC", "Viru tn 4, Tallinn and year 2026", "for the vehicle tax: 123ABC, 2026", "Tallinn"):
        assert (await decide(classifier, said, chat)).resumes, said
    left = await decide(classifier, "What are the public holidays in Estonia?", chat)
    assert (left.resumes, ids(left)) == (False, ["get_public_holidays"])


async def test_a_follow_up_asks_the_last_question_again(classifier: Classifier) -> None:
    spoken = (Utterance(role="user", text="Millal on riigipühad Eestis?"), Utterance(role="bot", text="…"))

    decision = await decide(classifier, "ja Lätis?", Conversation(language="et", transcript=spoken))

    assert ids(decision) == ["get_public_holidays"]


async def test_before_anything_is_registered_the_answer_is_still_polite(clean_redis: aioredis.Redis) -> None:
    retrieval, routing = RetrievalSettings(), RoutingSettings()
    registry = RegistryStore(clean_redis, Keys())
    search = EndpointSearch(registry=registry, embedder=open_embedder(retrieval), retrieval=retrieval, routing=routing)
    await search.start()

    decision = await decide(Classifier(search=search, settings=routing), "public holidays?")

    assert (decision.layer, decision.rule) == (Layer.OOD, "out_of_domain")
    await search.close()
