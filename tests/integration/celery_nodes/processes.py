"""What pytest-celery's nodes ask of their containers, answered by processes of this machine: no Docker is needed.

A node keeps its address over kills and restarts, as a container behind its name does.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from celery import Celery
from pytest_celery import CeleryTestSetup, CeleryTestWorker

from tasks.app import build_app
from workers.runtime.settings import QueueSettings, RedisSettings, Settings


@dataclass
class NodeProcess:
    """Stands where a CeleryTestContainer stands. `is_ready` looks from outside, as a client would."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    is_ready: Callable[[], bool]
    celeryconfig: dict[str, str] = field(default_factory=dict)
    ready_within_s: float = 60.0
    _process: subprocess.Popen[bytes] | None = None

    @property
    def id(self) -> str:
        return self.name

    @property
    def status(self) -> str:
        return "running" if self._process is not None and self._process.poll() is None else "exited"

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command, env=dict(self.environment), stdout=log, stderr=subprocess.STDOUT
            )

    def ready(self) -> bool:
        deadline = time.monotonic() + self.ready_within_s
        while not self.is_ready():
            assert self.status == "running", f"{self.name} ended while starting: {self.logs()}"
            assert time.monotonic() < deadline, f"{self.name} did not get ready: {self.logs()}"
            time.sleep(0.05)
        return True

    def logs(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def kill(self, signal: str | int = "SIGKILL") -> None:
        assert self._process is not None
        self._process.send_signal(_number(signal))
        self._process.wait(timeout=30)

    def reload(self) -> None:
        """A container's state is asked of its engine; ours is known."""

    def restart(self, timeout: float = 30) -> None:
        if self.status == "running":
            self.kill("SIGTERM")
        self.ready_within_s = timeout
        self.start()
        self.ready()

    def teardown(self) -> None:
        if self.status == "running":
            self.kill("SIGTERM")


def _number(wanted: str | int) -> int:
    return int(signal.Signals[wanted]) if isinstance(wanted, str) else wanted


@dataclass
class WorkerProcess(NodeProcess):
    """A worker node's process also knows the queue it was started for."""

    queues: str = ""

    @classmethod
    def version(cls) -> str:
        import celery

        return str(celery.__version__)

    def worker_name(self) -> str:
        return self.name

    def worker_queue(self) -> str:
        return self.queues


class ProcessWorker(CeleryTestWorker):
    """A worker node under the name that it carries on the broker."""

    def hostname(self) -> str:
        return f"{self.worker_name}@nodes"


class ProductSetup(CeleryTestSetup):
    """The setup speaks through the product's own app: its queues, key prefix and transport options."""

    @classmethod
    def create_setup_app(cls, celery_setup_config: dict[str, str], celery_setup_app_name: str) -> Celery:
        del celery_setup_app_name
        return build_app(
            Settings(
                redis=RedisSettings(url=celery_setup_config["result_backend"]),
                queue=QueueSettings(broker_url=celery_setup_config["broker_url"]),
            )
        )


@contextmanager
def running(*nodes: NodeProcess) -> Iterator[None]:
    """Start the nodes, wait for all of them, and end them, also when one does not get ready."""
    try:
        for node in nodes:
            node.start()
        for node in nodes:
            node.ready()
        yield
    finally:
        for node in nodes:
            node.teardown()


def celery_command(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "celery", "--app", "tasks.app", *words)
