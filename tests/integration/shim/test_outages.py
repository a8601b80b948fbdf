"""Redis dies, falls silent or comes back; the door itself is told to stop."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
import redis.asyncio as aioredis

from api_shim.follower import Follower
from tests.conftest import free_port
from tests.integration.shim.running import Hand, RunningDoor, SseReader, running_door, shown, until
from tests.own_redis import OwnRedis
from workers.errors import StoreUnavailable
from workers.runtime.redis import async_client
from workers.runtime.settings import RedisSettings

ASK = {"chatId": "chat-1", "message": "hello"}


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[OwnRedis]:
    server = OwnRedis(tmp_path)
    yield server
    if server.process.poll() is None:
        server.stop()


@pytest.fixture
async def follower(own_redis: OwnRedis) -> AsyncIterator[Follower]:
    opened = Follower(RedisSettings(url=own_redis.url, socket_timeout_s=1.0), silence_s=0.3)
    opened.start()
    yield opened
    await opened.close()


async def test_a_stream_survives_a_restart_of_redis(own_redis: OwnRedis) -> None:
    with running_door(own_redis.url, SHIM_HEARTBEAT_S=0.3, REDIS_SOCKET_TIMEOUT_S=1) as door:
        client = async_client(RedisSettings(url=own_redis.url))
        hand = Hand(client)
        async with (
            httpx.AsyncClient(base_url=door.url, timeout=15, trust_env=False) as http,
            http.stream("POST", "/orchestrate/stream", json=ASK) as response,
        ):
            reader = SseReader(response)
            turn = (await hand.take()).turn
            await hand.say(turn, "before ")
            assert await reader.content() == "before "

            own_redis.stop()
            await asyncio.sleep(0.5)
            own_redis.start()
            await client.connection_pool.disconnect()
            await hand.say(turn, "after", start=1)
            await hand.answer(turn, "before after")

            assert shown(await asyncio.wait_for(reader.rest(), 8)) == "after"
        await client.aclose()
        await client.connection_pool.disconnect()


async def test_followers_read_again_after_a_reconnect(own_redis: OwnRedis, follower: Follower) -> None:
    async with follower.follow("a", limit=10) as reader:
        await reader.confirmed()
        assert not reader.must_reread

        own_redis.stop()
        own_redis.start()

        assert await reader.wait(5)
        assert reader.must_reread
        await publish(own_redis, "a", "heard again")
        await reader.wait(2)
        assert reader.take() == [b"heard again"]


async def publish(server: OwnRedis, channel: str, message: str) -> int:
    client = aioredis.Redis.from_url(server.url)
    try:
        return int(await client.publish(channel, message))
    finally:
        await client.aclose()
        await client.connection_pool.disconnect()


async def test_a_silent_connection_is_noticed_and_replaced(own_redis: OwnRedis, follower: Follower) -> None:
    async with follower.follow("a", limit=10) as reader:
        await reader.confirmed()
        own_redis.freeze()
        await asyncio.sleep(1.2)
        own_redis.process.send_signal(signal.SIGCONT)

        assert await reader.wait(5)
        assert reader.must_reread


async def test_an_idle_connection_is_kept(own_redis: OwnRedis, follower: Follower) -> None:
    async with follower.follow("a", limit=10) as reader:
        await reader.confirmed()
        assert not await reader.wait(1.5)
        assert await publish(own_redis, "a", "still here") == 1
        assert await reader.wait(1)


async def test_one_connection_serves_all_and_channels_are_left_when_unread(
    own_redis: OwnRedis, follower: Follower
) -> None:
    admin = aioredis.Redis.from_url(own_redis.url, decode_responses=True)

    async with follower.follow("a", limit=10) as one, follower.follow("a", limit=10) as two:
        async with follower.follow("b", limit=10) as other:
            for reader in (one, two, other):
                await reader.confirmed()
            assert await admin.pubsub_numsub("a", "b") == [("a", 1), ("b", 1)]
            await admin.publish("a", "x")
            await one.wait(1)
            await two.wait(1)
            assert (one.take(), two.take(), other.take()) == ([b"x"], [b"x"], [])
        await until(lambda: _is_unread(admin, "b"))
        assert follower.followed == 1
    await until(lambda: _is_unread(admin, "a"))
    await admin.aclose()
    await admin.connection_pool.disconnect()


async def _is_unread(admin: aioredis.Redis, channel: str) -> bool:
    return dict(await admin.pubsub_numsub(channel))[channel] == 0


async def test_a_channel_left_and_joined_again_at_once_is_heard(own_redis: OwnRedis, follower: Follower) -> None:
    for _ in range(50):
        async with follower.follow("a", limit=10):
            pass
        async with follower.follow("a", limit=10) as reader:
            await reader.confirmed()
            assert await publish(own_redis, "a", "now") == 1
            assert await reader.wait(1)
            reader.take()


async def test_a_subscription_that_redis_never_confirms_is_a_store_error() -> None:
    follower = Follower(RedisSettings(url=f"redis://127.0.0.1:{free_port()}/0", socket_timeout_s=0.3))
    follower.start()
    async with follower.follow("a", limit=10) as reader:
        with pytest.raises(StoreUnavailable):
            await reader.confirmed()
    await follower.close()


async def test_a_stopping_door_says_farewell_and_another_one_goes_on(redis_url: str, hand: Hand) -> None:
    with running_door(redis_url) as old, running_door(redis_url) as new:
        async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
            async with client.stream("POST", f"{old.url}/orchestrate/stream", json=ASK) as response:
                reader = SseReader(response)
                turn = (await hand.take()).turn
                await hand.say(turn, "first ")
                last = await reader.next()
                assert last is not None

                old.process.send_signal(signal.SIGTERM)
                fields = await asyncio.wait_for(reader.block(), 2)
                assert fields == {"retry": "1000"}
                assert await asyncio.wait_for(reader.block(), 2) is None
            old.process.wait(timeout=5)

            resume = f"{new.url}/turns/{turn.turn_id}/events"
            async with client.stream("GET", resume, headers={"last-event-id": last.entry_id}) as response:
                await hand.say(turn, "second", start=1)
                await hand.answer(turn, "first second")
                assert shown(await SseReader(response).rest()) == "second"


async def test_ten_open_streams_do_not_hold_up_a_stop(door: RunningDoor, redis_url: str, hand: Hand) -> None:
    assert door.process.poll() is None
    with running_door(redis_url) as leaving:
        async with httpx.AsyncClient(base_url=leaving.url, timeout=10, trust_env=False) as client:
            asking = [
                asyncio.create_task(client.post("/orchestrate/stream", json={"chatId": f"c{n}", "message": "hi"}))
                for n in range(10)
            ]
            for _ in asking:
                await hand.next_turn()

            started = time.monotonic()
            leaving.process.send_signal(signal.SIGTERM)
            answers = await asyncio.gather(*asking)
            leaving.process.wait(timeout=5)

    assert time.monotonic() - started < 4
    assert all("retry: 1000" in answer.text for answer in answers)
