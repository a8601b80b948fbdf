"""A curve fitted on real vectors, and what a kept one does to search."""

from __future__ import annotations

import redis.asyncio as aioredis

from schemas.endpoints import Endpoint
from schemas.registry import Registered
from workers.indexing.indexer import Indexer
from workers.registry.store import RegistryStore
from workers.retrieval.embedder import E5Embedder
from workers.retrieval.fitting import Bench, everyday_questions, fit
from workers.retrieval.search import EndpointSearch
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.settings import RetrievalSettings, RoutingSettings

SUBJECTS = {
    "holidays": ("public holidays of a year", ["When is Easter?", "Is Midsummer a day off?", "Which days are free?"]),
    "power": ("price of electricity by hour", ["What does power cost?", "When is it cheap to wash?", "kWh price now"]),
    "tax": ("yearly tax on a vehicle", ["How much car tax?", "Tax for 123 ABC", "What do I pay for my motorcycle?"]),
    "weather": ("weather forecast of a town", ["Will it rain in Tartu?", "Is it cold outside?", "Do I need a coat?"]),
    "currency": ("exchange rate of a currency", ["How many dollars for 5 euros?", "Euro to yen", "Rate of the pound"]),
    "votes": ("results of parliament votes", ["How did they vote today?", "Who voted against?", "Result of the vote"]),
    "address": ("search of addresses and postcodes", ["Postcode of Viru 1", "Where is Pikk 7?", "Find this address"]),
}
ENDPOINTS = [
    Endpoint(
        endpoint_id=name,
        name=f"get_{name}",
        description=f"The {about} in Estonia.",
        url=f"https://api.example.ee/{name}",
        examples={"en": tuple(examples)},
    )
    for name, (about, examples) in SUBJECTS.items()
]


async def test_an_example_is_asked_while_it_is_left_out_and_the_curve_parts_in_from_out() -> None:
    embedder = E5Embedder()
    bench = Bench(ENDPOINTS, embedder)

    asked = await bench.ask_all(everyday_questions())
    found = fit(asked, embedder.card)
    await embedder.close()

    inside = [one for one in asked if one.is_inside]
    assert (len(inside), found.outside) == (21, len(everyday_questions()))
    assert sum(one.is_right for one in inside) >= 14
    at_match = min(found.points, key=lambda point: abs(point.score - 0.40))
    assert at_match.recall > at_match.outside_answered + 0.3


async def test_a_kept_curve_decides_from_the_next_start_on(clean_redis: aioredis.Redis) -> None:
    registry = RegistryStore(clean_redis, Keys())
    embedder = E5Embedder()
    for one in ENDPOINTS:
        await registry.put(Registered(endpoint=one, updated_at=utc_now()))
        await Indexer(registry=registry, embedder=embedder).index(one.endpoint_id)
    strict = ((-1.0, 0.0), (1.5, 0.40), (1.8, 0.60), (2.0, 1.0))

    before = await _found(registry)
    await registry.set_curve(embedder.card.tag, strict)
    kept = await _found(registry)
    await registry.set_curve(embedder.card.tag, None)
    after = await _found(registry)
    await embedder.close()

    assert (before[0], kept, after[0]) == ("tax", [], "tax")


async def _found(registry: RegistryStore) -> list[str]:
    search = EndpointSearch(
        registry=registry, embedder=E5Embedder(), retrieval=RetrievalSettings(), routing=RoutingSettings()
    )
    await search.start()
    matches = await search.search("How much is the yearly tax on my vehicle?")
    await search.close()
    return [one.endpoint.endpoint_id for one in matches]
