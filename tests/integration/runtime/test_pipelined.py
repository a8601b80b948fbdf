"""The client whose commands share one connection gives redis-py's answers, whatever happens to the connection."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
import redis.asyncio as aioredis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from tests.conftest import running_redis
from workers.runtime.redis import async_client
from workers.runtime.settings import RedisSettings


async def test_a_thousand_commands_at_once_get_each_its_own_answer(tmp_path: Path) -> None:
    with running_redis(tmp_path) as url:
        client = async_client(RedisSettings(url=url))
        await asyncio.gather(*(client.set(f"k{n}", n) for n in range(1000)))

        assert await asyncio.gather(*(client.get(f"k{n}") for n in range(1000))) == [str(n) for n in range(1000)]
        assert (await client.info("clients"))["connected_clients"] == 1
        await client.aclose()
        await client.connection_pool.disconnect()


async def test_answers_have_the_form_that_redis_py_gives_them(clean_redis: aioredis.Redis) -> None:
    await clean_redis.hset("h", mapping={"a": "1", "õ": "Привет"})
    await clean_redis.xadd("s", {"e": "x"}, id="1-0")
    await clean_redis.zadd("z", {"m": 1.5})

    assert await clean_redis.hgetall("h") == {"a": "1", "õ": "Привет"}
    assert await clean_redis.xrange("s") == [("1-0", {"e": "x"})]
    assert [tuple(pair) for pair in await clean_redis.zrange("z", 0, -1, withscores=True)] == [("m", 1.5)]
    assert await clean_redis.get("nothing") is None


async def test_an_error_reply_is_raised_to_its_own_command_only(clean_redis: aioredis.Redis) -> None:
    await clean_redis.set("text", "x")

    good, bad, unknown = await asyncio.gather(
        clean_redis.get("text"), clean_redis.incr("text"), clean_redis.evalsha("0" * 40, 0), return_exceptions=True
    )

    assert good == "x"
    assert isinstance(bad, ResponseError)
    assert isinstance(unknown, NoScriptError)


async def test_a_connection_that_was_killed_is_made_anew_unnoticed(tmp_path: Path) -> None:
    with running_redis(tmp_path) as url:
        client = async_client(RedisSettings(url=url))
        await client.set("k", "1")
        async with aioredis.Redis.from_url(url) as other:
            await other.client_kill_filter(_type="normal", skipme=True)

        assert await asyncio.gather(*(client.get("k") for _ in range(50))) == ["1"] * 50
        await client.aclose()
        await client.connection_pool.disconnect()


async def test_a_blocking_command_holds_nobody_up(clean_redis: aioredis.Redis) -> None:
    waiting = asyncio.create_task(clean_redis.xread({"s": "$"}, block=2000))
    await asyncio.sleep(0.05)

    async with asyncio.timeout(0.5):
        await clean_redis.set("k", "1")
    await clean_redis.xadd("s", {"e": "x"})

    assert await waiting


async def test_a_caller_that_gives_up_leaves_the_others_their_answers(clean_redis: aioredis.Redis) -> None:
    await clean_redis.set("k", "1")
    leaving = [asyncio.create_task(clean_redis.get("k")) for _ in range(20)]
    staying = [asyncio.create_task(clean_redis.get("k")) for _ in range(20)]
    await asyncio.sleep(0)
    for task in leaving:
        task.cancel()

    assert await asyncio.gather(*staying) == ["1"] * 20


async def test_a_server_that_falls_silent_is_a_timeout_and_is_found_again(tmp_path: Path) -> None:
    with running_redis(tmp_path) as url:
        client = async_client(RedisSettings(url=url, socket_timeout_s=0.4))
        pid = int((await client.info("server"))["process_id"])
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises((RedisTimeoutError, RedisConnectionError)):
                await client.get("k")
        finally:
            os.kill(pid, signal.SIGCONT)

        assert await client.get("k") is None
        await client.aclose()
        await client.connection_pool.disconnect()


async def test_a_server_that_is_not_there_is_a_connection_error() -> None:
    client = async_client(RedisSettings(url="redis://127.0.0.1:1/0"))

    with pytest.raises(RedisConnectionError):
        await client.get("k")
    await client.aclose()


async def test_a_password_and_a_database_are_honoured(tmp_path: Path) -> None:
    with running_redis(tmp_path) as url:
        async with aioredis.Redis.from_url(url) as plain:
            await plain.config_set("requirepass", "secret")
        client = async_client(RedisSettings(url=url.replace("redis://", "redis://:secret@").replace("/0", "/3")))
        await client.set("k", "1")

        assert (await client.info("keyspace"))["db3"]["keys"] == 1
        await client.aclose()
        await client.connection_pool.disconnect()
