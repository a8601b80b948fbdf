from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import redis.asyncio as aioredis

from schemas.calls import ApiCall
from schemas.endpoints import Endpoint
from schemas.ids import TurnId, call_id, chat_key, new_turn_id
from tests.integration.calling.misbehaving import Misbehaving, running
from workers.calling.caller import Caller
from workers.calling.outcomes import OutcomeStore
from workers.runtime.keys import Keys
from workers.runtime.settings import CallingSettings

MakeCall = Callable[..., ApiCall]


@pytest.fixture
async def server() -> AsyncIterator[Misbehaving]:
    async with running() as found:
        yield found


@pytest.fixture
def turn_id() -> TurnId:
    return new_turn_id(chat_key("default", "a chat"))


@pytest.fixture
def make_call(server: Misbehaving, turn_id: TurnId) -> MakeCall:
    """Build a call to a path of the misbehaving server; `index` tells the calls of a turn apart."""

    def make(path: str, *, index: int = 0, arguments: dict[str, Any] | None = None, **endpoint: Any) -> ApiCall:
        url = path if "://" in path else server.url(path)
        described = Endpoint(endpoint_id=f"e{index}", name="thing", description="A thing.", url=url, **endpoint)
        return ApiCall(call_id=call_id(turn_id, index), index=index, endpoint=described, arguments=arguments or {})

    return make


@pytest.fixture
def settings() -> CallingSettings:
    return CallingSettings(
        timeout_s=0.6, retries=2, allowed_hosts="127.0.0.1", breaker_failures_to_open=5, breaker_cooldown_s=0.5
    )


@pytest.fixture
def outcomes(clean_redis: aioredis.Redis) -> OutcomeStore:
    return OutcomeStore(clean_redis, Keys())


@pytest.fixture
async def caller(
    clean_redis: aioredis.Redis, outcomes: OutcomeStore, settings: CallingSettings
) -> AsyncIterator[Caller]:
    opened = Caller.open(redis=clean_redis, keys=Keys(), settings=settings, outcomes=outcomes)
    yield opened
    await opened.close()


@pytest.fixture
def soon() -> datetime:
    """A deadline that leaves time for everything in these tests."""
    return datetime.now(UTC) + timedelta(seconds=20)
