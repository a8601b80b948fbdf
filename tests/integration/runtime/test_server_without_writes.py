"""A server that is there but takes no writes (memory full, replicas lost) counts as away: wait, and try again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
import redis.asyncio as aioredis

from schemas.calls import CallFailed, FailureReason
from schemas.endpoints import Endpoint
from schemas.ids import chat_key, new_turn_id
from schemas.registry import Registered
from schemas.turns import TurnRequest
from workers.calling.outcomes import OutcomeStore
from workers.errors import StoreUnavailable
from workers.registry.log import Position
from workers.registry.store import RegistryStore
from workers.runtime.keys import Keys
from workers.runtime.presence import Presence
from workers.runtime.settings import TurnSettings
from workers.sessions.turns import TurnStore

NOW = datetime.now(UTC)
TURN_ID = new_turn_id(chat_key("default", "full"))


@pytest.fixture(params=[("maxmemory", "1", "0"), ("min-replicas-to-write", "1", "0")], ids=["full", "no_replicas"])
async def refusing(clean_redis: aioredis.Redis, request: pytest.FixtureRequest) -> AsyncIterator[aioredis.Redis]:
    name, closed, opened = request.param
    await clean_redis.config_set(name, closed)
    yield clean_redis
    await clean_redis.config_set(name, opened)


async def admit(redis: aioredis.Redis) -> None:
    request = TurnRequest(
        turn_id=TURN_ID,
        tenant="default",
        chat_id="full",
        message="hello",
        accepted_at=NOW,
        deadline_at=NOW + timedelta(seconds=60),
    )
    await TurnStore(redis, Keys(), TurnSettings()).admit(request, on_busy="enqueue")


async def register(redis: aioredis.Redis) -> None:
    endpoint = Endpoint(endpoint_id="e1", tenant="default", name="e", description="d", url="https://api.example/x")
    await RegistryStore(redis, Keys()).put(Registered(endpoint=endpoint, updated_at=NOW))


async def report(redis: aioredis.Redis) -> None:
    await RegistryStore(redis, Keys()).log.report("follower", Position())


async def record(redis: aioredis.Redis) -> None:
    failed = CallFailed(call_id=f"{TURN_ID}:0", reason=FailureReason.TIMED_OUT)
    await OutcomeStore(redis, Keys()).record(TURN_ID, failed)


async def announce(redis: aioredis.Redis) -> None:
    # Not on one of the shared connection's commands: a pipeline goes redis-py's own way.
    await Presence(redis, Keys()).announce("worker", ["calling"])


@pytest.mark.parametrize("write", [admit, register, report, record])
async def test_a_write_that_the_server_refuses_for_now_finds_the_store_unavailable(
    refusing: aioredis.Redis, write: Callable[[aioredis.Redis], Awaitable[None]]
) -> None:
    with pytest.raises(StoreUnavailable):
        await write(refusing)


async def test_a_worker_that_announces_itself_to_a_full_server_finds_it_unavailable(
    clean_redis: aioredis.Redis,
) -> None:
    await clean_redis.config_set("maxmemory", "1")
    try:
        with pytest.raises(StoreUnavailable):
            await announce(clean_redis)
    finally:
        await clean_redis.config_set("maxmemory", "0")


async def test_what_is_wrong_with_a_command_is_still_a_bug(clean_redis: aioredis.Redis) -> None:
    await clean_redis.set(Keys().turn(TURN_ID), "no hash")

    with pytest.raises(aioredis.ResponseError, match="WRONGTYPE"):
        await TurnStore(clean_redis, Keys(), TurnSettings()).load(TURN_ID)
