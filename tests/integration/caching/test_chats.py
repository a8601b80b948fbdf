"""What a chat is told from the cache, turn after turn: never another call's answer, another tester's, or an old one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio as aioredis

from schemas.ids import chat_key
from tests.integration.caching.chats import World
from tests.own_redis import OwnRedis
from workers.runtime.clock import local_time, utc_now
from workers.runtime.redis import async_client
from workers.runtime.settings import RedisSettings

ESTONIA, LATVIA = "What are public holidays in Estonia in 2026?", "What are public holidays in Latvia in 2026?"
WHICH = "Which of those is on a Monday?"
BOTH = "weather in Tartu tomorrow and public holidays in Estonia in 2026"
HOLIDAYS, WEATHER = "get_public_holidays", "get_weather"


@pytest.fixture
async def world(clean_redis: aioredis.Redis) -> World:
    return await World(clean_redis).register()


async def test_a_failed_call_is_not_answered_for_by_the_one_before_it(world: World) -> None:
    world.api.failing.add("LV")
    await world.say(ESTONIA)
    failed = await world.say("Same for Latvia?")
    which = await world.say(WHICH)
    assert failed.called == [(HOLIDAYS, "LV")]
    assert (which.cached, which.rule.startswith("follow_up")) == ({}, False)
    assert "Easter" not in which.text
    assert (await world.say("and in Finland?")).called == [(HOLIDAYS, "FI")]


async def test_the_first_of_two_calls_can_be_followed_up_after_a_third(world: World) -> None:
    await world.say(BOTH)
    await world.say("pharmacies in Tartu")
    narva = await world.say("and the weather in Narva?")
    (call,) = narva.calls
    assert narva.rule == "follow_up:param_update"
    tomorrow = (local_time(utc_now(), "Europe/Tallinn") + timedelta(days=1)).date().isoformat()
    assert call.arguments == {"city": "Narva", "date": tomorrow}


@pytest.mark.parametrize("turns_to", ["pharmacies in Tartu", "how much is the vehicle tax?"], ids=["answered", "asked"])
async def test_a_bare_follow_up_does_not_lean_past_another_question(world: World, turns_to: str) -> None:
    await world.say(ESTONIA)
    await world.say(turns_to)
    if "tax" in turns_to:
        await world.say("cancel")
    assert (await world.say("Same for Latvia?")).called == []


async def test_a_turn_does_not_end_before_its_calls_are_noted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    note, noted = world.cache.last_calls.note, asyncio.Event()

    async def slowly(*args: Any, **more: Any) -> None:
        await asyncio.sleep(0.3)
        await note(*args, **more)
        noted.set()

    monkeypatch.setattr(world.cache.last_calls, "note", slowly)
    await world.say(ESTONIA)
    assert noted.is_set()
    assert (await world.say(WHICH)).cached[HOLIDAYS].source == "L2"


async def test_of_two_calls_at_once_each_reads_what_is_kept(world: World) -> None:
    await world.say("weather in Tartu tomorrow")
    both = await world.say(BOTH)
    assert both.called == [(HOLIDAYS, "EE")]
    assert both.cached.keys() == {WEATHER}
    again = await world.say(BOTH)
    assert (again.called, again.cached.keys()) == ([], {WEATHER, HOLIDAYS})


async def test_one_of_two_calls_can_be_followed_up_by_its_place(world: World) -> None:
    await world.say(BOTH)
    second = await world.say("and the second one for Latvia?")
    assert second.called == [(HOLIDAYS, "LV")]
    await world.say(BOTH)
    first = await world.say("and the first one for Narva?")
    assert first.called == [(WEATHER, "Narva")]


async def test_a_question_after_two_calls_is_about_the_one_that_can_tell(world: World) -> None:
    await world.say(BOTH)
    which = await world.say("which of those are in June?")
    assert which.called == []
    assert "Midsummer Day" in which.text


async def test_one_testers_calls_are_nothing_to_another(world: World) -> None:
    await world.say(ESTONIA, chat="test-a", environment="test")
    assert (await world.say("and in 2025?", chat="test-b", environment="test")).called == []
    assert (await world.say(ESTONIA, chat="test-b", environment="test")).called == [(HOLIDAYS, "EE")]
    assert (await world.say(ESTONIA, chat="a-real-one")).called == [(HOLIDAYS, "EE")]
    assert (await world.say(ESTONIA, chat="test-a", environment="test")).called == []


async def test_another_chats_follow_up_leans_on_nothing_of_this_one(world: World) -> None:
    await world.say(ESTONIA, chat="one")
    assert (await world.say("Same for Latvia?", chat="two")).called == []


async def test_what_is_posted_is_carried_out_each_time_and_nothing_of_it_is_kept(world: World) -> None:
    renew = "renew the library loans of card 20117733"
    world.shelf.sure[renew] = "renew_library_loans"
    for _ in range(2):
        renewed = await world.say(renew)
        assert [call.endpoint.method for call in renewed.calls] == ["POST"]
    assert (await world.cache.last_calls.load(chat_key("default", "chat"))).calls == ()


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    server = OwnRedis(tmp_path)
    yield server
    server.stop()


async def test_after_an_outage_nothing_leans_on_a_call_that_is_no_longer_the_last(
    clean_redis: aioredis.Redis, own_redis: OwnRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.caching.cache.REST_S", 0.0)
    client = async_client(RedisSettings(url=own_redis.url, socket_timeout_s=1.0))
    world = await World(clean_redis, cache_redis=client, cache_timeout_s=1.0).register()
    await world.say(ESTONIA)
    own_redis.stop()
    assert (await world.say(LATVIA)).called == [(HOLIDAYS, "LV")]
    own_redis.start()
    which = await world.say(WHICH)
    assert (which.cached, which.rule.startswith("follow_up")) == ({}, False), which.text
    await world.say(LATVIA)
    assert (await world.say(WHICH)).cached[HOLIDAYS].source == "L2"
    await client.aclose()
    await client.connection_pool.disconnect()


async def test_a_frozen_cache_costs_each_turn_little(clean_redis: aioredis.Redis, own_redis: OwnRedis) -> None:
    client = async_client(RedisSettings(url=own_redis.url))
    world = await World(clean_redis, cache_redis=client, cache_timeout_s=0.3).register()
    own_redis.freeze()
    began = asyncio.get_running_loop().time()
    for _ in range(3):
        assert (await world.say(ESTONIA)).called == [(HOLIDAYS, "EE")]
    assert asyncio.get_running_loop().time() - began < 3
    await client.aclose()
    await client.connection_pool.disconnect()
