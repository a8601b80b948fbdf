"""A worker says which queues it serves, and takes its word back when it stops."""

from __future__ import annotations

import signal

from tests.integration.tasks.conftest import Workers, eventually


def serving(workers: Workers, queue: str) -> int:
    return int(workers.redis.zcard(f"sb:present:{queue}"))


def test_a_worker_is_listed_under_its_queues_only_while_it_takes_work(workers: Workers) -> None:
    worker = workers.start("-I", "tasks.presence", "-Q", "calling,formatting")

    eventually(lambda: serving(workers, "calling") == serving(workers, "formatting") == 1, within_s=5)
    assert serving(workers, "indexing") == 0
    first = workers.redis.zrange("sb:present:calling", 0, -1, withscores=True)
    eventually(lambda: workers.redis.zrange("sb:present:calling", 0, -1, withscores=True) != first, within_s=5)

    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=10) == 0
    assert serving(workers, "calling") == 0
