"""A real Redis of its own for each test here, and real workers as processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import redis
from kombu import pools

from tasks.configuration import broker_prefix
from workers.runtime.settings import RedisSettings, Settings

APP = "tests.integration.tasks.worker_app"


def eventually(claim: Callable[[], Any], *, within_s: float = 15.0, every_s: float = 0.02) -> Any:
    """Wait until the claim is true; returns what it gave, fails with its last value."""
    deadline = time.monotonic() + within_s
    while not (value := claim()):
        assert time.monotonic() < deadline, f"still {value!r} after {within_s} s"
        time.sleep(every_s)
    return value


@dataclass
class Workers:
    """Starts workers with this environment, and ends them all."""

    redis: redis.Redis
    environment: dict[str, str]
    folder: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, *arguments: str, **settings: object) -> subprocess.Popen[bytes]:
        """Start a worker and wait until it consumes. `settings` are environment variables."""
        number = len(self.started)
        command = [sys.executable, "-m", "celery", "-A", APP, "worker", "-n", f"w{number}@test"]
        with (self.folder / f"worker-{number}.log").open("wb") as log:
            worker = subprocess.Popen(
                [*command, "--without-gossip", "--without-mingle", *arguments],
                env={**self.environment, **{name: str(value) for name, value in settings.items()}},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.started.append(worker)
        eventually(lambda: "ready." in self.log(number) or worker.poll() is not None, within_s=30)
        assert "ready." in self.log(number), self.log(number)  # a poisoned queue may kill it right after
        return worker

    def log(self, number: int = 0) -> str:
        return (self.folder / f"worker-{number}.log").read_text()

    def marks(self, name: str) -> list[str]:
        return [str(one) for one in self.redis.lrange(f"mark:{name}", 0, -1)]

    def stop(self) -> None:
        for worker in self.started:
            if worker.poll() is None:
                worker.send_signal(signal.SIGKILL)
            worker.wait()


@pytest.fixture(autouse=True)
def _own_connections() -> Iterator[None]:
    """Lend no test a connection of another's: kombu keeps them for the process, and some tests cut them."""
    pools.reset()
    yield
    pools.reset()


@pytest.fixture
def environment(redis_url: str, repository: Path) -> dict[str, str]:
    """What a worker of these tests is told: short times, so that recovery can be watched."""
    return {
        **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},  # noqa: TID251
        "PYTHONPATH": str(repository),
        "REDIS_URL": redis_url,
        "QUEUE_CONCURRENCY": "400",
        "QUEUE_TASK_TIME_LIMIT_S": "2",
        "QUEUE_VISIBILITY_TIMEOUT_S": "4",
        "QUEUE_SHUTDOWN_GRACE_S": "3",
    }


@pytest.fixture
def workers(redis_url: str, environment: dict[str, str], tmp_path: Path) -> Iterator[Workers]:
    client = redis.Redis.from_url(redis_url, decode_responses=True)
    client.flushall()
    running = Workers(redis=client, environment=environment, folder=tmp_path)
    yield running
    running.stop()
    client.close()


@pytest.fixture
def given(redis_url: str) -> Settings:
    return Settings(redis=RedisSettings(url=redis_url))


@pytest.fixture
def prefix(given: Settings) -> str:
    return broker_prefix(given.redis)
