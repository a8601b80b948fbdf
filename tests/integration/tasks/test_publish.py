"""Our own publishing writes what Celery writes, and loses nothing silently."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import redis
import redis.asyncio as aioredis
from celery import Celery

from schemas.commands import Command, Stage
from schemas.ids import chat_key, new_turn_id
from tasks import names
from tasks.app import build_app
from tasks.envelope import PUBLISHED_AT, Trace
from tasks.publish import Publisher
from tasks.queues import QueueName
from tests.conftest import free_port
from tests.integration.tasks.conftest import Workers, eventually
from workers.errors import StoreUnavailable
from workers.runtime.settings import QueueSettings, RedisSettings, Settings

TURN = new_turn_id(chat_key("default", "publish"))

# Different in every message, or telling when and where it was made.
_UNIQUE = {"id", "root_id", "origin", "expires", PUBLISHED_AT}
_UNIQUE_PROPERTIES = {"correlation_id", "delivery_tag", "reply_to"}


@pytest.fixture
def app(given: Settings) -> Iterator[Celery]:
    sender = build_app(given)
    yield sender
    sender.close()


@pytest.fixture
async def publisher(given: Settings, clean_redis: aioredis.Redis) -> AsyncIterator[Publisher]:
    del clean_redis
    opened = Publisher.open(given)
    yield opened
    await opened.close()


async def popped(client: aioredis.Redis, key: str) -> dict[str, Any]:
    return dict(json.loads(await client.rpop(key)))  # type: ignore[misc] # redis-py types both worlds at once


async def test_the_envelope_is_the_one_that_apply_async_writes(
    app: Celery, publisher: Publisher, clean_redis: aioredis.Redis, prefix: str
) -> None:
    app.send_task(
        names.CLASSIFY, (TURN,), expires=3600, ignore_result=True, headers={PUBLISHED_AT: 1.0}, parent_id="mother"
    )
    theirs = await popped(clean_redis, f"{prefix}classification")
    await publisher.stage(
        Command(stage=Stage.CLASSIFICATION, turn_id=TURN), trace=Trace(root_id="root", parent_id="mother")
    )
    ours = await popped(clean_redis, f"{prefix}classification")

    assert list(ours) == list(theirs)
    assert json.loads(base64.b64decode(ours.pop("body"))) == json.loads(base64.b64decode(theirs.pop("body")))
    for part, unique in (("headers", _UNIQUE), ("properties", _UNIQUE_PROPERTIES)):
        mine, celerys = ours.pop(part), theirs.pop(part)
        assert set(mine) == set(celerys)
        assert {k: v for k, v in mine.items() if k not in unique} == {
            k: v for k, v in celerys.items() if k not in unique
        }
        assert {k: type(mine[k]) for k in unique} == {k: type(celerys[k]) for k in unique}
    assert ours == theirs


@pytest.mark.parametrize("trace", [None, Trace(root_id="root", parent_id="mother")])
async def test_the_parts_of_a_chord_and_its_count_are_those_that_celery_writes(
    app: Celery, publisher: Publisher, clean_redis: aioredis.Redis, prefix: str, trace: Trace | None
) -> None:
    command = Command(stage=Stage.CALLING, turn_id=TURN, fan_out=2)
    await start_through_celery(app, command, trace)
    theirs = [await popped(clean_redis, f"{prefix}calling") for _ in range(2)]
    their_count = await counted(clean_redis)
    await publisher.stage(command, trace=trace)
    ours = [await popped(clean_redis, f"{prefix}calling") for _ in range(2)]

    assert await counted(clean_redis) == their_count == ("2", 600)
    assert len({one["headers"]["group"] for one in ours}) == len({one["headers"]["group"] for one in theirs}) == 1
    for mine, celerys in zip(ours, theirs, strict=True):
        chord_ids = [message["headers"].pop("group") for message in (mine, celerys)]
        bodies = [json.loads(base64.b64decode(message.pop("body"))) for message in (mine, celerys)]
        for body, group_id in zip(bodies, chord_ids, strict=True):
            options = body[2]["chord"]["options"]
            assert options.pop("group_id") == group_id
            assert options.pop("task_id")
            options.pop("reply_to")
        assert bodies[0] == bodies[1]
        for part, unique in (("headers", _UNIQUE), ("properties", _UNIQUE_PROPERTIES)):
            assert {k: v for k, v in mine[part].items() if k not in unique} == {
                k: v for k, v in celerys[part].items() if k not in unique
            }
            assert set(mine[part]) == set(celerys[part])


async def start_through_celery(app: Celery, command: Command, trace: Trace | None) -> None:
    """Let Celery write the chord, as for a broker whose lists we do not write ourselves."""
    apart = Settings(
        redis=RedisSettings(url=app.conf.broker_url), queue=QueueSettings(broker_url=f"{app.conf.broker_url}?apart")
    )
    publisher = Publisher(apart, app=app)
    await publisher.stage(command, trace=trace)
    await publisher.close()


async def counted(client: aioredis.Redis) -> tuple[str | None, int]:
    """Take out the size that the backend will read, and how long it would stay."""
    (key,) = [key async for key in client.scan_iter("*celery-taskset-meta-*.s")]
    left_s = await client.ttl(key)
    return await client.getdel(key), left_s


async def test_a_fan_out_that_a_broken_line_repeats_is_counted_once(
    publisher: Publisher, workers: Workers, clean_redis: aioredis.Redis, prefix: str
) -> None:
    await publisher.stage(Command(stage=Stage.CALLING, turn_id=TURN, fan_out=3))
    again = await clean_redis.lrange(f"{prefix}calling", 0, -1)  # type: ignore[misc] # redis-py types both worlds
    await clean_redis.lpush(f"{prefix}calling", *again)  # type: ignore[misc] # redis-py types both worlds at once

    workers.start()

    eventually(lambda: len(workers.marks(f"part:{TURN}")) == 6)
    await asyncio.sleep(0.5)
    assert len(workers.marks(f"formatted:{TURN}")) == 1


async def test_a_push_tells_the_depth_of_its_queue(publisher: Publisher) -> None:
    command = Command(stage=Stage.CLASSIFICATION, turn_id=TURN)

    depths = [await publisher.stage(command) for _ in range(3)]
    await publisher.index("endpoint")

    assert depths == [1, 2, 3]
    assert await publisher.depth() == {
        **dict.fromkeys(map(str, QueueName), 0),
        "classification": 3,
        "indexing": 1,
    }


async def test_pushes_asked_for_together_travel_in_one_batch_over_one_connection(
    publisher: Publisher, clean_redis: aioredis.Redis
) -> None:
    command = Command(stage=Stage.FORMATTING, turn_id=TURN)
    await publisher.stage(command)
    before = await connections(clean_redis)

    depths = await asyncio.gather(*(publisher.stage(command) for _ in range(300)))

    assert sorted(depths) == list(range(2, 302))
    assert await connections(clean_redis) <= before  # others may be leaving


async def connections(client: aioredis.Redis) -> set[str]:
    return {one["id"] for one in await client.client_list()}


async def test_a_cut_connection_is_made_anew(publisher: Publisher, clean_redis: aioredis.Redis) -> None:
    command = Command(stage=Stage.FORMATTING, turn_id=TURN)
    await publisher.stage(command)

    await clean_redis.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

    assert await publisher.stage(command) == 2


async def test_a_full_broker_is_an_error_and_not_a_lost_message(
    publisher: Publisher, clean_redis: aioredis.Redis
) -> None:
    await clean_redis.config_set("maxmemory", "1")
    try:
        with pytest.raises(StoreUnavailable):
            await publisher.stage(Command(stage=Stage.CLASSIFICATION, turn_id=TURN))
    finally:
        await clean_redis.config_set("maxmemory", "0")
    assert await publisher.stage(Command(stage=Stage.CLASSIFICATION, turn_id=TURN)) == 1


async def test_no_broker_is_an_error() -> None:
    settings = Settings(redis=RedisSettings(url=f"redis://127.0.0.1:{free_port()}/0", socket_timeout_s=0.5))
    publisher = Publisher.open(settings)

    with pytest.raises(StoreUnavailable):
        await publisher.stage(Command(stage=Stage.CLASSIFICATION, turn_id=TURN))
    await publisher.close()


async def test_another_broker_is_asked_through_celery_and_says_so_when_it_is_away(given: Settings) -> None:
    settings = Settings(redis=given.redis, queue=QueueSettings(broker_url=f"amqp://127.0.0.1:{free_port()}//"))
    publisher = Publisher(settings, app=build_app(settings))

    with pytest.raises(StoreUnavailable):
        await publisher.stage(Command(stage=Stage.CLASSIFICATION, turn_id=TURN))
    with pytest.raises(StoreUnavailable):
        await publisher.depth()
    await publisher.close()


async def test_a_worker_takes_what_was_published(publisher: Publisher, workers: Workers) -> None:
    workers.start()

    await publisher.stage(Command(stage=Stage.CLASSIFICATION, turn_id=TURN))

    eventually(lambda: workers.marks("classified") == [TURN])


async def test_two_deployments_on_one_redis_never_meet(redis_url: str, clean_redis: aioredis.Redis) -> None:
    publishers = {
        name: Publisher.open(Settings(redis=RedisSettings(url=redis_url, key_prefix=name))) for name in ("one", "two")
    }

    await publishers["one"].stage(Command(stage=Stage.CLASSIFICATION, turn_id=TURN))

    assert (await publishers["one"].depth())["classification"] == 1
    assert (await publishers["two"].depth())["classification"] == 0
    assert [key async for key in clean_redis.scan_iter("*classification")] == ["one:queue:classification"]
    for publisher in publishers.values():
        await publisher.close()


def test_a_worker_of_another_deployment_takes_nothing(
    app: Celery, workers: Workers, redis_url: str, prefix: str
) -> None:
    del redis_url
    workers.start(REDIS_KEY_PREFIX="other")

    app.send_task("test.sleep", ("foreign", 0.01))
    revoked = app.control.inspect(timeout=1).ping()

    assert revoked is None
    assert workers.redis.llen(f"{prefix}maintenance") == 1
    assert workers.marks("foreign:started") == []
    assert isinstance(workers.redis, redis.Redis)
