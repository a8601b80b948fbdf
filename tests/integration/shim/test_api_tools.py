"""Registration at the door, with the registry and the queue behind it."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import redis.asyncio as aioredis

from schemas.registry import IndexState, Searchable
from tests.integration.shim.running import until
from workers.registry.log import Position, RegistryLog
from workers.registry.store import RegistryStore
from workers.runtime.keys import Keys

HOLIDAYS: dict[str, Any] = {
    "endpointId": "a3f7c2d1-84e6-4b19-92f3-d51c7e890ab2",
    "serviceId": "",
    "name": "get_national_holidays",
    "description": "Fetch national holidays for a specific country.",
    "method": "GET",
    "url": "https://openholidaysapi.org/PublicHolidays",
    "visibility": "public",
    "type": "custom_endpoint",
    "params": [{"name": "countryIsoCode", "type": "string", "required": True, "description": "Two letters"}],
}


@pytest.fixture
def registry(clean_redis: aioredis.Redis) -> RegistryStore:
    return RegistryStore(clean_redis, Keys())


async def asked_to_index(redis: aioredis.Redis) -> list[str]:
    messages = await redis.lrange("sb:queue:indexing", 0, -1)
    return [json.loads(base64.b64decode(json.loads(message)["body"]))[0][0] for message in messages]


@pytest.mark.parametrize("path", ["/api-tools", "/rag-search/api-tools/index"])
async def test_a_registered_endpoint_is_stored_and_sent_to_be_indexed(
    client: httpx.AsyncClient, clean_redis: aioredis.Redis, path: str
) -> None:
    answer = await client.post(path, json=HOLIDAYS | {"params": quote(json.dumps(HOLIDAYS["params"]))})

    assert answer.status_code == 202
    assert answer.json() == {
        "endpointId": HOLIDAYS["endpointId"],
        "name": "get_national_holidays",
        "state": "pending",
        "reason": "",
        "version": 1,
    }
    assert await asked_to_index(clean_redis) == [HOLIDAYS["endpointId"]]
    shown = (await client.get(f"/api-tools/{HOLIDAYS['endpointId']}")).json()
    assert shown["endpoint"]["params"][0]["name"] == "countryIsoCode"


async def index_like_a_worker(registry: RegistryStore, endpoint_id: str) -> None:
    """Publish the endpoint as searchable, and report as the only follower that it is applied."""

    async def is_registered() -> bool:
        return await registry.get(endpoint_id) is not None

    await until(is_registered)
    found = await registry.get(endpoint_id)
    assert found is not None
    await registry.publish(Searchable(endpoint=found.endpoint, model="m", fingerprint="f", dense=""))
    head = await registry.log.head()
    await RegistryLog(registry._redis, Keys()).report("worker-1", Position(head.epoch, head.seq))


async def test_waiting_ends_when_every_worker_finds_the_endpoint(
    client: httpx.AsyncClient, registry: RegistryStore
) -> None:
    working = asyncio.create_task(index_like_a_worker(registry, HOLIDAYS["endpointId"]))

    answer = await client.post("/api-tools?wait=true", json=HOLIDAYS)

    await working
    assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["isSearchable"]) == ("indexed", True)


async def test_waiting_for_nobody_ends_with_the_state_as_it_is(
    client: httpx.AsyncClient, clean_redis: aioredis.Redis
) -> None:
    answer = await client.post("/api-tools?wait=true", json=HOLIDAYS)

    assert answer.status_code == 202
    assert (answer.json()["state"], answer.json()["isSearchable"]) == ("pending", False)
    assert len(await asked_to_index(clean_redis)) == 1


async def test_who_waited_in_vain_may_ask_on_until_every_worker_finds_it(
    client: httpx.AsyncClient, registry: RegistryStore
) -> None:
    refused = await client.post("/api-tools?wait=true", json=HOLIDAYS)
    working = asyncio.create_task(index_like_a_worker(registry, HOLIDAYS["endpointId"]))

    shown = await client.get(f"/api-tools/{HOLIDAYS['endpointId']}?wait=true")

    await working
    assert refused.json()["isSearchable"] is False
    assert (shown.json()["state"], shown.json()["isSearchable"]) == ("indexed", True)
    unasked = await client.get(f"/api-tools/{HOLIDAYS['endpointId']}")
    assert "isSearchable" not in unasked.json()


async def test_a_failed_index_is_told_with_its_reason(client: httpx.AsyncClient, registry: RegistryStore) -> None:
    await client.post("/api-tools", json=HOLIDAYS)
    await registry.set_state(HOLIDAYS["endpointId"], IndexState.FAILED, version=1, reason="the text is empty")

    shown = (await client.get(f"/api-tools/{HOLIDAYS['endpointId']}")).json()

    assert (shown["state"], shown["reason"]) == ("failed", "the text is empty")


async def test_the_list_is_paged_and_counts_all(client: httpx.AsyncClient, clean_redis: aioredis.Redis) -> None:
    assert await clean_redis.dbsize() == 0
    for number in range(5):
        await client.post("/api-tools", json=HOLIDAYS | {"endpointId": f"e{number}", "name": f"tool_{number}"})

    page = (await client.get("/api-tools?offset=1&limit=2")).json()

    assert (page["total"], [item["name"] for item in page["items"]]) == (5, ["tool_1", "tool_2"])


@pytest.mark.parametrize("query", ["limit=-1", "limit=x", "offset=٣", "limit=9999", "offset=" + "9" * 30])
async def test_a_page_that_is_no_number_is_refused(client: httpx.AsyncClient, query: str) -> None:
    answer = await client.get(f"/api-tools?{query}")

    assert (answer.status_code, answer.json()["fields"][0]["path"]) == (422, query.partition("=")[0])


async def test_a_deleted_endpoint_is_gone(client: httpx.AsyncClient, clean_redis: aioredis.Redis) -> None:
    assert await clean_redis.dbsize() == 0
    await client.post("/api-tools", json=HOLIDAYS)

    assert (await client.delete(f"/api-tools/{HOLIDAYS['endpointId']}")).status_code == 204
    assert (await client.delete(f"/api-tools/{HOLIDAYS['endpointId']}")).status_code == 404
    assert (await client.get(f"/api-tools/{HOLIDAYS['endpointId']}")).status_code == 404


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"name": ""}, "name"),
    "an unknown method": ({"method": "FETCH"}, "method"),
    "a relative URL": ({"url": "/PublicHolidays"}, "url"),
    "a file URL": ({"url": "file:///etc/passwd"}, "url"),
    "an unknown type": ({"params": [{"name": "a", "type": "colour"}]}, "params.0.type"),
    "two parameters of one name": ({"params": [{"name": "a"}, {"name": "a"}]}, "params"),
    "NUL in the description": ({"description": "a\0b"}, "description"),
    "a description as list": ({"description": ["a"]}, "description"),
    "examples of a language we lack": ({"examples": {"de": ["x"]}}, "examples.de.[key]"),
    "an enum option without a value": ({"params": [{"name": "a", "enum": [{"labels": {}}]}]}, "params.0.enum.0.value"),
}


@pytest.mark.parametrize(("change", "field"), FAULTS.values(), ids=FAULTS)
async def test_a_faulty_registration_is_refused_with_the_path(
    client: httpx.AsyncClient, clean_redis: aioredis.Redis, change: dict[str, Any], field: str
) -> None:
    answer = await client.post("/api-tools", json=HOLIDAYS | change)

    assert answer.status_code == 422
    assert field in [fault["path"] for fault in answer.json()["fields"]]
    assert await clean_redis.keys("sb:*registry*") == []


async def test_an_endpoint_whose_id_holds_a_slash_can_be_read_and_removed(
    client: httpx.AsyncClient, registry: RegistryStore
) -> None:
    await client.post("/api-tools", json=HOLIDAYS | {"endpointId": "team/holidays"})

    shown = await client.get("/api-tools/team%2Fholidays")
    removed = await client.delete("/api-tools/team%2Fholidays")

    assert shown.json()["endpointId"] == "team/holidays"
    assert removed.status_code == 204
    assert await registry.get("team/holidays") is None
