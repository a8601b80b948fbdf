"""Each of the seed project's flags, set by its name in the environment, changes what the cache does."""

from __future__ import annotations

import pytest
import redis.asyncio as aioredis

from tests.integration.caching.chats import World
from workers.runtime.settings import CacheSettings, Settings

ESTONIA = "What are public holidays in Estonia in 2026?"
WEATHER = "weather in Tartu tomorrow"


async def a_world(redis: aioredis.Redis, monkeypatch: pytest.MonkeyPatch, **environment: str) -> World:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    given = Settings().cache
    assert given == CacheSettings()
    return await World(redis, **given.model_dump(exclude={"cache_timeout_s"})).register()


async def kept(redis: aioredis.Redis, begins: str) -> list[str]:
    """The entries under a prefix, flights and what they left aside."""
    found = [key async for key in redis.scan_iter(f"sb:*{begins}*")]
    return sorted(key for key in found if ":landed:" not in key and not key.endswith(":flight"))


async def test_switched_off_nothing_is_read_written_or_followed_up(
    clean_redis: aioredis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = await a_world(clean_redis, monkeypatch)
    await on.say(ESTONIA)
    before = await kept(clean_redis, "atc:")
    off = await a_world(clean_redis, monkeypatch, ATC_RESPONSE_CACHE_ENABLED="false")
    for _ in range(2):
        said = await off.say(ESTONIA)
        assert (len(said.calls), said.cached) == (1, {})
    assert (await off.say("Same for Latvia?")).calls == ()
    await off.say(WEATHER)
    assert len(before) == 2
    assert await kept(clean_redis, "atc:") == before


async def test_a_response_is_kept_for_the_default_unless_its_endpoint_says_less(
    clean_redis: aioredis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await a_world(clean_redis, monkeypatch, ATC_CACHE_DEFAULT_TTL_SECONDS="600", ATC_CACHE_TTL_JITTER="0")
    shelf = world.shelf.endpoints
    for name, own_s, expected_s in (("get_weather", None, 600), ("get_weather", 60, 60), ("get_weather", 0, 0)):
        shelf[name] = shelf[name].model_copy(update={"cache_ttl_seconds": own_s, "version": shelf[name].version + 1})
        await clean_redis.delete(*await kept(clean_redis, "atc:cache"), "none")
        await world.say(WEATHER)
        left = [await clean_redis.pttl(key) for key in await kept(clean_redis, "atc:cache")]
        assert [round(ms / 10_000) * 10 for ms in left] == ([expected_s] if expected_s else [])


async def test_last_calls_are_kept_for_their_time_from_the_newest_on(
    clean_redis: aioredis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = await a_world(clean_redis, monkeypatch, ATC_LAST_CALL_TTL_SECONDS="90")
    await world.say(ESTONIA)
    (key,) = await kept(clean_redis, "atc:last")
    assert 80_000 < await clean_redis.pttl(key) <= 90_000
    await clean_redis.pexpire(key, 5_000)
    await world.say(WEATHER)
    assert 80_000 < await clean_redis.pttl(key) <= 90_000
    await clean_redis.delete(key)  # its time is over
    said = await world.say("and in Narva?")
    assert "date" not in said.calls[0].arguments, "the date was of the call that is forgotten"


async def test_the_prefixes_begin_the_keys(clean_redis: aioredis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {"ATC_CACHE_KEY_PREFIX": "their:cache", "ATC_LAST_CALL_KEY_PREFIX": "their:last"}
    world = await a_world(clean_redis, monkeypatch, **names)
    await world.say(ESTONIA)
    assert len(await kept(clean_redis, "their:cache:")) == 1
    assert len(await kept(clean_redis, "their:last:")) == 1
    assert await kept(clean_redis, "atc:") == []


async def test_a_long_response_is_not_kept(clean_redis: aioredis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    world = await a_world(clean_redis, monkeypatch, ATC_CACHE_MAX_BYTES="200")
    assert [len((await world.say(ESTONIA)).calls) for _ in range(2)] == [1, 1]
    assert await kept(clean_redis, "atc:cache") == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ATC_CACHE_DEFAULT_TTL_SECONDS", "0"),
        ("ATC_LAST_CALL_TTL_SECONDS", "-1"),
        ("ATC_CACHE_KEY_PREFIX", "has blanks"),
        ("ATC_CACHE_TTL_JITTER", "2"),
        ("ATC_RESPONSE_CACHE_ENABLED", "perhaps"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=name.removeprefix("ATC_").lower()):
        CacheSettings()
