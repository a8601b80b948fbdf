"""Retrying a dead letter, pressed by several hands, interrupted, and without a broker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
import redis.asyncio as aioredis

from tasks import names
from tasks.deadletters import DeadLetter, DeadLetters
from tasks.publish import Publisher
from tests.conftest import free_port
from workers.errors import StoreUnavailable
from workers.runtime.keys import Keys
from workers.runtime.settings import RedisSettings, Settings

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
LETTER = DeadLetter(
    letter_id="ERR-20261201-120000-ABCD",
    task_id="old",
    task=names.INDEX,
    queue="indexing",
    args=("endpoint",),
    error_type="IndexRefused",
    error_message="no description",
    at=NOON,
)


class MovableClock:
    now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
async def letters(clean_redis: aioredis.Redis, clock: MovableClock) -> DeadLetters:
    kept = DeadLetters(clean_redis, Keys(), kept=10, clock=clock)
    await kept.record(LETTER)
    return kept


@pytest.fixture
async def publisher(redis_url: str) -> AsyncIterator[Publisher]:
    opened = Publisher.open(Settings(redis=RedisSettings(url=redis_url)))
    yield opened
    await opened.close()


async def test_twenty_presses_at_once_publish_once(letters: DeadLetters, publisher: Publisher) -> None:
    ids = await asyncio.gather(*(letters.retry(LETTER.letter_id, publisher) for _ in range(20)))

    assert len(set(ids)) == 1
    assert (await publisher.depth())["indexing"] == 1


async def test_a_press_that_died_can_be_repeated_under_the_same_id(
    letters: DeadLetters, publisher: Publisher, clean_redis: aioredis.Redis, clock: MovableClock
) -> None:
    dead = json.dumps({"task_id": "reserved", "at": NOON.timestamp()})
    await clean_redis.hset("sb:dead:presses", LETTER.letter_id, dead)  # type: ignore[misc] # redis-py types both worlds

    assert await letters.retry(LETTER.letter_id, publisher) == "reserved"
    assert (await publisher.depth())["indexing"] == 0

    clock.now = NOON + timedelta(seconds=31)
    assert await letters.retry(LETTER.letter_id, publisher) == "reserved"
    assert (await publisher.depth())["indexing"] == 1
    assert (await letters.show(LETTER.letter_id)).retried_as == "reserved"


async def test_a_press_without_a_broker_can_be_repeated_at_once(letters: DeadLetters, publisher: Publisher) -> None:
    nowhere = RedisSettings(url=f"redis://127.0.0.1:{free_port()}/0", socket_timeout_s=0.5)
    away = Publisher.open(Settings(redis=nowhere))

    with pytest.raises(StoreUnavailable):
        await letters.retry(LETTER.letter_id, away)
    await letters.retry(LETTER.letter_id, publisher)

    assert (await publisher.depth())["indexing"] == 1
    await away.close()


async def test_two_letters_never_share_an_id(letters: DeadLetters) -> None:
    second = await letters.record(LETTER.model_copy(update={"task_id": "other"}))

    assert second.letter_id != LETTER.letter_id
    assert await letters.count() == 2
    assert (await letters.show(LETTER.letter_id)).task_id == "old"
