"""What happens to tasks that fail: retries, dead letters, poison, quarantine. Real workers, a real Redis."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from celery import Celery

from schemas.ids import chat_key, new_turn_id
from tasks import names
from tasks.app import build_app
from tasks.deadletters import DeadLetters
from tasks.publish import Publisher
from tasks.quarantine import Parked, Quarantine
from tests.integration.tasks.conftest import Workers, eventually
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import Settings

TURN = new_turn_id(chat_key("default", "failures"))


@pytest.fixture
def app(given: Settings) -> Iterator[Celery]:
    sender = build_app(given)
    yield sender
    sender.close()


@pytest.fixture
async def letters(given: Settings) -> AsyncIterator[DeadLetters]:
    client = async_client(given.redis)
    yield DeadLetters(client, Keys(), kept=100)
    await client.aclose()
    await client.connection_pool.disconnect()


@pytest.fixture
async def publisher(given: Settings) -> AsyncIterator[Publisher]:
    opened = Publisher.open(given)
    yield opened
    await opened.close()


@pytest.fixture
def quarantine(given: Settings) -> Iterator[Quarantine]:
    opened = Quarantine.open(given)
    yield opened
    opened.close()


def letter(workers: Workers) -> dict[str, Any]:
    eventually(lambda: workers.redis.hlen("sb:dead") == 1)
    found: dict[str, Any] = json.loads(workers.redis.hvals("sb:dead")[0])
    return found


def test_a_passing_error_is_retried_until_it_passes(app: Celery, workers: Workers) -> None:
    workers.start(QUEUE_TASK_TIME_LIMIT_S=10, QUEUE_VISIBILITY_TIMEOUT_S=20)

    app.send_task(names.INDEX, ("endpoint-1",))

    eventually(lambda: workers.marks("indexed") == ["endpoint-1"])
    assert workers.redis.get("tries:endpoint-1") == "3"
    assert workers.redis.hlen("sb:dead") == 0


def test_a_permanent_error_makes_a_dead_letter_at_once_and_ends_the_turn(app: Celery, workers: Workers) -> None:
    workers.start()

    app.send_task("test.raise", (TURN, "permanent"))
    found = letter(workers)

    assert found["error_type"] == "EndpointUnknown"
    assert found["args"] == [TURN, "permanent"]
    assert found["turn_id"] == TURN
    assert "worker_tasks.py" in found["traceback"]
    assert len(workers.marks("tried:permanent")) == 1
    eventually(lambda: workers.marks("failed") == [f"{TURN} {found['letter_id']}"])
    eventually(lambda: workers.marks("classified") == [TURN])


def test_an_error_nobody_foresaw_makes_a_dead_letter_without_retries(app: Celery, workers: Workers) -> None:
    workers.start()

    app.send_task("test.raise", (TURN, "bug"))

    assert letter(workers)["error_type"] == "ZeroDivisionError"
    assert len(workers.marks("tried:bug")) == 1


def test_a_stale_turn_is_nobodys_fault(app: Celery, workers: Workers, prefix: str) -> None:
    workers.start()

    app.send_task("test.raise", (TURN, "stale"))
    eventually(lambda: workers.marks("tried:stale"))
    eventually(lambda: workers.redis.hlen(f"{prefix}unacked") == 0)

    assert workers.redis.hlen("sb:dead") == 0
    assert workers.marks("failed") == []


def test_a_task_that_kills_its_workers_is_given_up_after_its_deliveries(app: Celery, workers: Workers) -> None:
    app.send_task("test.suicide", (TURN,), task_id="poison")

    for number in range(5):
        worker = workers.start(QUEUE_MAX_DELIVERIES=2, QUEUE_VISIBILITY_TIMEOUT_S=2, QUEUE_TASK_TIME_LIMIT_S=1)
        eventually(lambda w=worker: w.poll() is not None or workers.redis.hlen("sb:dead"), within_s=12)
        if workers.redis.hlen("sb:dead"):
            break
        assert number < 4, "never given up"

    assert len(workers.marks("suicide")) == 2
    found = letter(workers)
    assert (found["error_type"], found["task_id"], found["deliveries"]) == ("WorkerKilled", "poison", 3)
    eventually(lambda: workers.marks("failed"))


async def test_a_retried_letter_runs_its_task_again_under_a_new_id(
    app: Celery, workers: Workers, letters: DeadLetters, publisher: Publisher
) -> None:
    workers.start()
    app.send_task("test.raise", (TURN, "permanent"))
    found = letter(workers)

    new_id = await letters.retry(found["letter_id"], publisher)
    again = await letters.retry(found["letter_id"], publisher)

    eventually(lambda: workers.redis.hlen("sb:dead") == 2)
    assert again == new_id != found["task_id"]
    assert (await letters.show(found["letter_id"])).retried_as == new_id
    assert {one.task_id for one in await letters.list()} == {found["task_id"], new_id}
    assert len(workers.marks("tried:permanent")) == 2


@pytest.mark.parametrize(
    ("garbage", "reason"),
    [
        ("not json at all", "unreadable"),
        ("5", "unreadable"),
        ("{}", "unreadable"),
        ('{"body": "e30=", "properties": {}}', "unreadable"),
        (b"\xff\xfe", "unreadable"),
        ("[" * 5_000, "unreadable"),
    ],
    ids=["text", "number", "empty object", "no delivery info", "not UTF-8", "deep"],
)
def test_garbage_on_a_queue_is_quarantined_and_the_worker_lives(
    app: Celery, workers: Workers, quarantine: Quarantine, prefix: str, garbage: str | bytes, reason: str
) -> None:
    worker = workers.start()

    workers.redis.lpush(f"{prefix}maintenance", garbage)
    app.send_task("test.sleep", ("after", 0.01))

    eventually(lambda: workers.marks("after:ended"))
    eventually(lambda: quarantine.count() == 1)
    assert quarantine.list()[0].reason == reason
    assert quarantine.list()[0].queue == "maintenance"
    assert worker.poll() is None


def test_a_body_that_is_no_tasks_is_quarantined(
    app: Celery, workers: Workers, quarantine: Quarantine, prefix: str
) -> None:
    app.send_task("test.sleep", ("x", 0.01))
    message = json.loads(workers.redis.rpop(f"{prefix}maintenance"))
    worker = workers.start()

    for body in ("NQ==", "bm90IGpzb24=", "e30=", "%%%"):  # 5, not json, {}, not base64
        workers.redis.lpush(f"{prefix}maintenance", json.dumps({**message, "body": body}))
    workers.redis.lpush(
        f"{prefix}maintenance", json.dumps({**message, "content-type": "application/x-python-serialize"})
    )
    app.send_task("test.sleep", ("after", 0.01))

    eventually(lambda: workers.marks("after:ended"))
    eventually(lambda: quarantine.count() == 5)
    assert worker.poll() is None
    assert workers.marks("x:started") == []
    eventually(lambda: workers.redis.hlen(f"{prefix}unacked") == 0)


async def test_an_unknown_task_waits_in_quarantine_and_can_be_released(
    app: Celery, workers: Workers, quarantine: Quarantine, publisher: Publisher
) -> None:
    workers.start()
    app.send_task("signalbox.of_tomorrow", (TURN,), task_id="early")
    eventually(lambda: quarantine.count() == 1)

    parked = quarantine.list()[0]
    assert (parked.reason, parked.task, parked.task_id, parked.args) == (
        "unknown_task",
        "signalbox.of_tomorrow",
        "early",
        (TURN,),
    )

    for one in quarantine.releasing():
        await publisher.send(names.CLASSIFY, one.args)  # the release that knows the task is this one's twin
    assert quarantine.count() == 0
    eventually(lambda: workers.marks("classified") == [TURN])


async def test_letters_are_paged_newest_first_dropped_and_bounded(given: Settings, clean_redis: Any) -> None:
    del clean_redis
    client = async_client(given.redis)
    bounded = DeadLetters(client, Keys(), kept=3)
    from datetime import timedelta

    from tasks.deadletters import DeadLetter, UnknownLetter
    from workers.runtime.clock import utc_now

    now = utc_now()
    for number in range(5):
        await bounded.record(
            DeadLetter(
                letter_id=f"L{number}",
                task_id=f"T{number}",
                task=names.INDEX,
                queue="indexing",
                error_type="Bug",
                error_message="",
                at=now + timedelta(seconds=number),
            )
        )

    assert [one.letter_id for one in await bounded.list()] == ["L4", "L3", "L2"]
    assert [one.letter_id for one in await bounded.list(offset=1, limit=1)] == ["L3"]
    assert await bounded.drop("L3")
    assert not await bounded.drop("L3")
    assert await bounded.count() == 2
    with pytest.raises(UnknownLetter):
        await bounded.show("L0")
    await client.aclose()
    await client.connection_pool.disconnect()


def test_the_quarantine_is_bounded(given: Settings, workers: Workers) -> None:
    small = Quarantine(workers.redis, Keys(given.redis.key_prefix), kept=2)

    for number in range(4):
        assert small.park(Parked(reason="unreadable", queue="calling", raw=str(number), error="garbage"))

    assert [one.raw for one in small.list()] == ["3", "2"]
