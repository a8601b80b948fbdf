"""The asyncio pool keeps what Celery promises: real workers, a real Redis."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import pytest
from celery import Celery

from schemas.ids import chat_key, new_turn_id
from tasks.app import build_app
from tests.integration.tasks.conftest import Workers, eventually
from workers.runtime.settings import Settings

TURN = new_turn_id(chat_key("default", "pool"))


@pytest.fixture
def app(given: Settings) -> Iterator[Celery]:
    """The sender's side: the product's app on the test's Redis."""
    sender = build_app(given)
    yield sender
    sender.close()


def unacked(workers: Workers, prefix: str) -> int:
    return int(workers.redis.hlen(f"{prefix}unacked"))


def test_two_hundred_sleeping_tasks_run_at_once(app: Celery, workers: Workers) -> None:
    workers.start()

    for _ in range(200):
        app.send_task("test.sleep", ("crowd", 1.0))
    eventually(lambda: len(workers.marks("crowd:ended")) == 200)

    started = [float(moment) for moment in workers.marks("crowd:started")]
    ended = [float(moment) for moment in workers.marks("crowd:ended")]
    assert max(started) < min(ended)


def test_finished_tasks_leave_no_key_behind(app: Celery, workers: Workers, prefix: str) -> None:
    workers.start()
    before = {key for key in workers.redis.keys("*") if "bind" not in key}

    for _ in range(20):
        app.send_task("test.sleep", ("tidy", 0.01))
    eventually(lambda: len(workers.marks("tidy:ended")) == 20)
    eventually(lambda: unacked(workers, prefix) == 0)

    after = {key for key in workers.redis.keys("*") if "bind" not in key and not key.startswith("mark:")}
    assert after - before == set()


def test_a_message_is_acknowledged_only_when_its_task_has_ended(app: Celery, workers: Workers, prefix: str) -> None:
    workers.start()

    app.send_task("test.sleep", ("late", 0.8))
    eventually(lambda: workers.marks("late:started"))
    assert unacked(workers, prefix) == 1

    eventually(lambda: workers.marks("late:ended"))
    eventually(lambda: unacked(workers, prefix) == 0, within_s=0.5)


def test_a_task_whose_worker_is_killed_runs_again(app: Celery, workers: Workers) -> None:
    first = workers.start()
    app.send_task("test.sleep", ("killed", 1.0))
    eventually(lambda: workers.marks("killed:started"))

    first.kill()
    first.wait()
    workers.start()

    eventually(lambda: workers.marks("killed:ended"), within_s=15)
    assert len(workers.marks("killed:started")) == 2
    assert len(workers.marks("killed:ended")) == 1


def test_a_warm_shutdown_lets_a_running_task_finish(app: Celery, workers: Workers, prefix: str) -> None:
    worker = workers.start()
    app.send_task("test.sleep", ("warm", 1.0))
    eventually(lambda: workers.marks("warm:started"))

    worker.send_signal(signal.SIGTERM)

    assert worker.wait(timeout=10) == 0
    assert len(workers.marks("warm:ended")) == 1
    assert unacked(workers, prefix) == 0
    assert workers.redis.llen(f"{prefix}maintenance") == 0
    assert workers.marks("closed") == [""]


@pytest.mark.parametrize(
    ("order", "pool"),
    [(signal.SIGTERM, "asyncio"), (signal.SIGQUIT, "asyncio"), (signal.SIGTERM, "threads")],
    ids=["warm", "cold", "warm, threads"],
)
def test_a_task_that_outlasts_the_grace_goes_back_to_its_queue(
    app: Celery, workers: Workers, prefix: str, order: signal.Signals, pool: str
) -> None:
    worker = workers.start(
        QUEUE_TASK_TIME_LIMIT_S=30,
        QUEUE_VISIBILITY_TIMEOUT_S=60,
        QUEUE_SHUTDOWN_GRACE_S=0.5,
        QUEUE_POOL=pool,
        QUEUE_CONCURRENCY=10,
    )
    app.send_task("test.sleep", ("long", 20.0))
    eventually(lambda: workers.marks("long:started"))

    asked_at = time.monotonic()
    worker.send_signal(order)
    worker.wait(timeout=10)

    assert time.monotonic() - asked_at < 5
    assert workers.marks("long:ended") == []
    assert workers.redis.llen(f"{prefix}maintenance") == 1
    assert unacked(workers, prefix) == 0


def test_a_task_is_stopped_at_its_time_limit(app: Celery, workers: Workers) -> None:
    workers.start()

    app.send_task("test.sleep", ("slow", 3.5))
    letter = eventually(lambda: workers.redis.hvals("sb:dead"))[0]

    assert '"error_type":"TimeLimitReached"' in letter
    assert workers.marks("slow:ended") == []


def test_a_revoked_task_does_not_start(app: Celery, workers: Workers) -> None:
    workers.start()

    app.control.revoke("to-be-revoked", reply=True, timeout=2)
    app.send_task("test.sleep", ("revoked", 0.1), task_id="to-be-revoked")
    app.send_task("test.sleep", ("after", 0.1))
    eventually(lambda: workers.marks("after:ended"))

    assert workers.marks("revoked:started") == []


def test_a_running_task_is_cancelled_by_a_revoke_that_terminates(app: Celery, workers: Workers, prefix: str) -> None:
    workers.start()
    sent = app.send_task("test.sleep", ("stopped", 1.5))
    eventually(lambda: workers.marks("stopped:started"))

    app.control.revoke(sent.id, terminate=True)
    eventually(lambda: unacked(workers, prefix) == 0, within_s=1.0)
    time.sleep(1.7)

    assert workers.marks("stopped:ended") == []
    assert workers.redis.hlen("sb:dead") == 0


def test_each_coroutine_sees_its_own_request(app: Celery, workers: Workers) -> None:
    workers.start()

    sent = {name: app.send_task("test.request", (name,)).id for name in "abcdef"}
    eventually(lambda: all(workers.marks(f"request:{name}") for name in sent))

    assert {name: workers.marks(f"request:{name}") for name in sent} == {name: [id_] for name, id_ in sent.items()}


def test_plain_celery_tasks_run_in_threads_beside_the_coroutines(app: Celery, workers: Workers) -> None:
    workers.start()

    app.send_task("test.plain", ("plain",))

    eventually(lambda: workers.marks("plain"))


def test_inspect_reaches_a_worker_behind_its_prefix(app: Celery, workers: Workers) -> None:
    workers.start()
    app.send_task("test.sleep", ("seen", 1.5))
    eventually(lambda: workers.marks("seen:started"))

    active = app.control.inspect(timeout=3, limit=1).active()

    assert [task["name"] for task in active["w0@test"]] == ["test.sleep"]


def test_the_threads_pool_runs_the_same_coroutines(app: Celery, workers: Workers, prefix: str) -> None:
    workers.start(QUEUE_POOL="threads", QUEUE_CONCURRENCY="30")

    for _ in range(30):
        app.send_task("test.sleep", ("threads", 0.5))
    sent = app.send_task("test.request", ("thread",))
    eventually(lambda: len(workers.marks("threads:ended")) == 30)
    eventually(lambda: workers.marks("request:thread") == [sent.id])

    started = [float(moment) for moment in workers.marks("threads:started")]
    ended = [float(moment) for moment in workers.marks("threads:ended")]
    assert max(started) < min(ended) + 0.5
    eventually(lambda: unacked(workers, prefix) == 0)


def test_the_pool_may_also_be_named_as_celerys_custom_pool(app: Celery, workers: Workers) -> None:
    workers.start("--pool", "custom", CELERY_CUSTOM_WORKER_POOL="tasks.pool:AsyncioPool", QUEUE_POOL="threads")

    app.send_task("test.sleep", ("custom", 0.1))

    eventually(lambda: workers.marks("custom:ended"))
