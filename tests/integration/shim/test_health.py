"""What operators see of the door."""

from __future__ import annotations

import asyncio

import httpx
import pytest
import redis.asyncio as aioredis

from schemas.ids import TurnId
from tests.integration.shim.running import Hand, SseReader, shown
from tests.integration.shim.test_api_tools import HOLIDAYS, index_like_a_worker
from workers.registry.store import RegistryStore
from workers.runtime.keys import Keys
from workers.runtime.presence import Presence

QUEUES = ("classification", "extraction", "calling", "formatting", "indexing")
ASK = {"chatId": "chat-1", "message": "hello"}


async def test_readiness_names_each_thing_that_is_missing(
    client: httpx.AsyncClient, clean_redis: aioredis.Redis
) -> None:
    await Presence(clean_redis, Keys()).announce("worker-1", QUEUES[:3])

    answer = await client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["missing"] == [
        "no worker serves the queue formatting",
        "no worker serves the queue indexing",
        "no endpoint is registered",
    ]


async def test_a_whole_system_is_ready(client: httpx.AsyncClient, clean_redis: aioredis.Redis) -> None:
    await Presence(clean_redis, Keys()).announce("worker-1", QUEUES)
    await client.post("/api-tools", json=HOLIDAYS)
    assert (await client.get("/readyz")).json()["missing"] == ["no endpoint is indexed yet"]
    await index_like_a_worker(RegistryStore(clean_redis, Keys()), HOLIDAYS["endpointId"])

    answer = await client.get("/readyz")

    assert (answer.status_code, answer.json()["isReady"]) == (200, True)
    assert answer.json()["workers"] == dict.fromkeys(QUEUES, 1)


async def test_a_worker_that_fell_silent_or_left_no_longer_counts(clean_redis: aioredis.Redis) -> None:
    presence = Presence(clean_redis, Keys())
    await presence.announce("worker-1", ["calling"])
    await presence.announce("worker-2", ["calling"])
    await clean_redis.zadd(Keys().present("calling"), {"worker-3": 1.0})
    assert await presence.serving(["calling"]) == {"calling": 2}

    await presence.leave("worker-1", ["calling"])

    assert await presence.serving(["calling"]) == {"calling": 1}


async def test_metrics_tell_the_time_to_the_first_token(client: httpx.AsyncClient, hand: Hand) -> None:
    def first_tokens(exposed: str) -> float:
        line = next(
            line for line in exposed.split("\n") if line.startswith("signalbox_time_to_first_token_seconds_count")
        )
        return float(line.split(" ")[1])

    before = first_tokens((await client.get("/metrics")).text)
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        turn_id = await hand.answer_next("one ", "two")
        await SseReader(response).rest()
    await client.get(f"/turns/{turn_id}/events?last_event_id=3-0")

    assert first_tokens((await client.get("/metrics")).text) == before + 1


async def test_a_bug_is_answered_with_an_id_and_nothing_else(
    client: httpx.AsyncClient, clean_redis: aioredis.Redis
) -> None:
    await clean_redis.hset(Keys().registry(), "broken", '{"not": "an endpoint"}')

    answer = await client.get("/api-tools/broken")

    assert (answer.status_code, answer.json()["type"]) == (500, "internal")
    assert answer.json()["error_id"] in answer.json()["error"]


async def test_a_bug_in_mid_stream_still_ends_the_stream(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        reader = SseReader(response)
        turn = (await hand.take()).turn
        await hand.say(turn, "so far")
        assert await reader.content() == "so far"
        await hand.redis.publish(Keys().live(TurnId(turn.turn_id)), '{"id":"4-0","event":{"type":"nonsense"}}')

        assert shown(await asyncio.wait_for(reader.rest(), 2)).startswith("\n\nSomething went wrong on our side")


async def test_every_route_is_documented(client: httpx.AsyncClient) -> None:
    from api_shim.app import routes

    document = (await client.get("/openapi.json")).json()

    documented = {(path, method.upper()) for path, methods in document["paths"].items() for method in methods}
    served = {
        (route.path.replace(":path}", "}"), method)
        for route in routes()
        if route.include_in_schema
        for method in (route.methods or {"GET" if "events" in route.path else "POST"}) - {"HEAD"}
    }
    assert documented == served


async def test_every_reference_of_the_documentation_leads_somewhere(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()

    def references(node: object) -> set[str]:
        match node:
            case {"$ref": str(target)}:
                return {target}
            case dict():
                return set().union(*map(references, node.values()))
            case list():
                return set().union(*map(references, node))
            case _:
                return set()

    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert references(document) <= known
    assert set(document["components"]["schemas"]["ErrorBody"]["properties"]) == {"error", "error_id", "type", "fields"}
    assert "chatId" in document["components"]["schemas"]["OrchestrateRequest"]["properties"]


@pytest.mark.parametrize("path", ["/", "/docs", "/static/chat.css", "/static/chat.js", "/static/icon.svg"])
async def test_pages_are_served_from_here_alone_and_kept_by_browsers(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)

    assert answer.status_code == 200
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert "https://" not in answer.text.replace("https?://", "")
    kept = await client.get(path, headers={"if-none-match": answer.headers["etag"]})
    assert (kept.status_code, kept.text) == (304, "")
