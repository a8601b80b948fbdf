"""Who only waited is not dead, and who is done is not poison: tasks of a bulk whose workers are slow, or killed."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from celery import Celery

from tasks import names
from tasks.app import build_app
from tests.integration.tasks.conftest import Workers, eventually
from workers.runtime.settings import Settings


@pytest.fixture
def app(given: Settings) -> Iterator[Celery]:
    sender = build_app(given)
    yield sender
    sender.close()


def test_an_indexing_that_ran_out_of_time_is_given_back_and_done_when_it_comes_again(
    app: Celery, workers: Workers, prefix: str
) -> None:
    workers.start(QUEUE_TASK_TIME_LIMIT_S=1.5)

    app.send_task(names.INDEX, ("slow once",))
    eventually(lambda: workers.marks("indexed") == ["slow once"])
    eventually(lambda: workers.redis.hlen(f"{prefix}unacked") == 0)

    assert workers.redis.hlen("sb:dead") == 0
    assert workers.redis.keys("sb:deliveries:*") == []


def test_an_indexing_that_never_ends_in_time_is_given_up_after_its_deliveries(app: Celery, workers: Workers) -> None:
    workers.start(QUEUE_TASK_TIME_LIMIT_S=1, QUEUE_MAX_DELIVERIES=2)

    app.send_task(names.INDEX, ("always slow",))
    eventually(lambda: workers.redis.hlen("sb:dead") == 1)
    letter = json.loads(workers.redis.hvals("sb:dead")[0])

    assert (letter["error_type"], letter["deliveries"]) == ("TimeLimitReached", 2)
    assert int(str(workers.redis.get("tries:always slow"))) == 2


def test_a_task_that_was_done_before_its_worker_died_is_no_poison(app: Celery, workers: Workers, prefix: str) -> None:
    app.send_task("test.done_and_dead", ("published",), task_id="innocent")

    for _ in range(2):
        dying = workers.start(QUEUE_MAX_DELIVERIES=2, QUEUE_VISIBILITY_TIMEOUT_S=2, QUEUE_TASK_TIME_LIMIT_S=1)
        eventually(lambda w=dying: w.poll() is not None, within_s=12)
    workers.start(QUEUE_MAX_DELIVERIES=2, QUEUE_VISIBILITY_TIMEOUT_S=2, QUEUE_TASK_TIME_LIMIT_S=1)
    eventually(lambda: workers.redis.hlen(f"{prefix}unacked") + workers.redis.llen(f"{prefix}maintenance") == 0)

    assert workers.marks("published") == ["", ""]
    assert workers.redis.hlen("sb:dead") == 0
