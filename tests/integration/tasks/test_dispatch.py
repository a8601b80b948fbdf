"""Commands become messages and chords: real workers, a real Redis."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from celery import Celery

from schemas.ids import chat_key, new_turn_id
from tasks import names
from tasks.app import build_app
from tests.integration.tasks.conftest import Workers, eventually
from workers.runtime.settings import Settings


@pytest.fixture
def app(given: Settings) -> Iterator[Celery]:
    sender = build_app(given)
    yield sender
    sender.close()


@pytest.fixture
def turn() -> str:
    return new_turn_id(chat_key("default", "dispatch"))


def test_a_fan_out_runs_its_parts_and_then_one_answer(app: Celery, workers: Workers, turn: str) -> None:
    workers.start()

    app.send_task(names.EXTRACT, (turn,))

    eventually(lambda: workers.marks(f"formatted:{turn}") == ["3"])
    assert sorted(workers.marks(f"part:{turn}")) == ["0", "1", "2"]


@pytest.mark.parametrize("pool", ["asyncio", "threads"])
def test_a_part_that_fails_still_leads_to_one_answer_after_its_sisters(
    app: Celery, workers: Workers, turn: str, pool: str
) -> None:
    workers.start(QUEUE_POOL=pool, QUEUE_CONCURRENCY=20)
    workers.redis.set(f"broken:{turn}", 1)

    app.send_task(names.EXTRACT, (turn,))
    eventually(lambda: workers.marks(f"formatted:{turn}") == ["2"])
    time.sleep(0.5)

    assert len(workers.marks(f"formatted:{turn}")) == 1
    assert workers.redis.hlen("sb:dead") == 1
    assert workers.marks("failed") == []


def test_a_header_that_fails_in_celerys_eyes_still_leads_to_one_answer(
    app: Celery, workers: Workers, turn: str
) -> None:
    workers.start()

    app.send_task("test.raw_chord", (turn,))
    eventually(lambda: workers.marks(f"formatted:{turn}"))
    time.sleep(0.5)

    assert workers.marks(f"formatted:{turn}") == ["1"]


def test_a_hundred_chords_leave_no_subscription_and_no_lasting_key(app: Celery, workers: Workers) -> None:
    workers.start()
    turns = [new_turn_id(chat_key("default", f"chat {number}")) for number in range(100)]
    app.send_task(names.EXTRACT, (turns[0],))
    eventually(lambda: workers.marks(f"formatted:{turns[0]}"))
    before = len(workers.redis.pubsub_channels())

    for turn in turns[1:]:
        app.send_task(names.EXTRACT, (turn,))
    eventually(lambda: all(workers.marks(f"formatted:{turn}") for turn in turns), within_s=30)

    assert len(workers.redis.pubsub_channels()) == before == 0
    results = list(workers.redis.keys("sb:result:*"))
    assert results
    assert all(0 < workers.redis.ttl(key) <= 600 for key in results)
