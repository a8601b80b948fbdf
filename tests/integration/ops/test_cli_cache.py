"""`signalbox cache` against a real Redis that holds what a chat called."""

from __future__ import annotations

import json
from datetime import timedelta

import redis.asyncio as aioredis

from api_shim.tenancy import conversation_key
from schemas.calls import ApiCall, CallSucceeded
from schemas.endpoints import Endpoint, ParamSpec
from schemas.ids import new_turn_id
from schemas.turns import TurnRequest
from tests.conftest import free_port
from tests.integration.ops.conftest import Cli
from workers.caching.cache import ResponseCache
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.settings import CacheSettings

ENDPOINT = Endpoint(
    endpoint_id="e1",
    name="holidays",
    description="d",
    url="https://a.ee",
    params=(ParamSpec(name="country"),),
    version=3,
)


async def a_chat_that_called(client: aioredis.Redis, chat: str, *, author: str = "") -> None:
    now = utc_now()
    request = TurnRequest(
        turn_id=new_turn_id(conversation_key("default", chat_id=chat, author_id=author)),
        tenant="default",
        chat_id=chat,
        author_id=author,
        message="holidays",
        accepted_at=now,
        deadline_at=now + timedelta(seconds=60),
    )
    cache = ResponseCache.open(client, Keys(), CacheSettings(cache_timeout_s=5), utc_now)
    call = ApiCall(call_id="c", index=0, endpoint=ENDPOINT, arguments={"country": "EE"})

    async def answered() -> CallSucceeded:
        return CallSucceeded(call_id="c", status=200, body=[{"name": "x"}])

    outcome = await cache.fetch(call, request, answered, deadline=request.deadline_at)
    noted = cache.remembered(call, outcome, request, query="holidays", language="en")
    assert noted is not None
    chat_key = conversation_key("default", chat_id=chat, author_id=author)
    await cache.last_calls.note(chat_key, [noted], before=await cache.recall(request))


async def test_what_a_chat_called_is_shown_and_dropped(clean_redis: aioredis.Redis, cli: Cli, redis_url: str) -> None:
    await a_chat_that_called(clean_redis, "c1")
    shown = cli("cache", "show", "c1", "--json", REDIS_URL=redis_url)
    table = cli("cache", "show", "c1", REDIS_URL=redis_url)
    dropped = cli("cache", "drop", "c1", "--json", REDIS_URL=redis_url)
    after = cli("cache", "show", "c1", "--json", REDIS_URL=redis_url)

    assert shown.returncode == 0, shown.stderr
    (item,) = json.loads(shown.stdout)["items"]
    assert (item["endpoint"], item["version"], item["arguments"], item["isNewest"]) == (
        "holidays",
        3,
        {"country": "EE"},
        True,
    )
    assert 0 <= item["ageS"] < 300
    assert "country=EE" in table.stdout
    assert json.loads(dropped.stdout) == {"chat": "c1", "calls": 1, "responses": 1}
    assert json.loads(after.stdout)["items"] == []
    assert [key async for key in clean_redis.scan_iter("*atc*") if "landed" not in key] == []


async def test_a_chat_of_another_author_is_another_chat(clean_redis: aioredis.Redis, cli: Cli, redis_url: str) -> None:
    await a_chat_that_called(clean_redis, "c1", author="mari")
    nobody = cli("cache", "show", "c1", "--json", REDIS_URL=redis_url)
    mari = cli("cache", "show", "c1", "--author", "mari", "--json", REDIS_URL=redis_url)

    assert json.loads(nobody.stdout)["items"] == []
    assert len(json.loads(mari.stdout)["items"]) == 1


def test_without_redis_it_says_so_and_where_it_looked(cli: Cli) -> None:
    url = f"redis://127.0.0.1:{free_port()}/0"
    told = cli("cache", "drop", "c1", REDIS_URL=url)
    assert told.returncode == 3
    assert url in told.stderr
