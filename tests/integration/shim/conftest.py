from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import redis.asyncio as aioredis

from tests.integration.shim.running import Hand, RunningDoor, running_door


@pytest.fixture(scope="session")
def door(redis_url: str) -> Iterator[RunningDoor]:
    """One door for the tests that need no special settings; heartbeats come fast so that tests need not wait."""
    with running_door(redis_url, SHIM_HEARTBEAT_S=0.25, SHIM_SLOW_READER_EVENTS=50, SHIM_INDEX_WAIT_S=1.5) as running:
        yield running


@pytest.fixture
async def client(door: RunningDoor) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=door.url, timeout=10, trust_env=False) as opened:
        yield opened


@pytest.fixture
def hand(clean_redis: aioredis.Redis) -> Hand:
    return Hand(clean_redis)
