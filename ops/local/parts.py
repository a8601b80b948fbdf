"""The parts of the embedded stack, in the order they start: server; then demo API, workers, beat, shim."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path

from ops.local import probes, server
from ops.local.process import Part

QUEUES = ("classification", "extraction", "calling", "formatting", "indexing", "maintenance")
_STEADY = ("--without-gossip", "--without-mingle")


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where the parts of one stack listen."""

    data_dir: Path
    redis_url: str
    broker: probes.BrokerAddress
    shim_host: str
    shim_port: int
    demo_port: int

    @property
    def url(self) -> str:
        """Where a client on this machine finds the shim."""
        host = "127.0.0.1" if self.shim_host in ("0.0.0.0", "::") else self.shim_host  # noqa: S104 - compared, not bound
        return f"http://{host}:{self.shim_port}"

    @property
    def demo_url(self) -> str:
        """Where the demo API listens."""
        return f"http://127.0.0.1:{self.demo_port}"


def redis_part(places: Places, port: int, environment: Mapping[str, str]) -> Part:
    """The embedded server. It gets SIGTERM, not SIGKILL, when we die: then it still writes its last second down."""
    folder = places.data_dir / "redis"
    folder.mkdir(parents=True, exist_ok=True)
    return Part(
        name="redis",
        command=server.server_command(server.find_server(), port=port, folder=folder),
        where=places.redis_url,
        is_ready=partial(probes.redis_answers, places.redis_url),
        environment=environment,
        orphan_signal=signal.SIGTERM,
    )


def demo_part(places: Places, environment: Mapping[str, str]) -> Part:
    """The demo API: believable data on loopback."""
    return Part(
        name="demo-api",
        command=(sys.executable, "-m", "ops.demo.api", "--port", str(places.demo_port)),
        where=places.demo_url,
        is_ready=lambda: probes.http_status(f"{places.demo_url}/healthz") == HTTPStatus.OK,
        environment=environment,
    )


def worker_part(name: str, places: Places, environment: Mapping[str, str]) -> Part:
    """One worker process that consumes every queue. It is ready when it answers a ping over the broker."""
    node = f"{name}@signalbox"
    celery = (sys.executable, "-m", "celery", "--app", "tasks.app", "worker", "--hostname", node)
    return Part(
        name=name,
        command=(*celery, "--queues", ",".join(QUEUES), "--loglevel", "INFO", *_STEADY),
        where=f"queues {', '.join(QUEUES)}",
        is_ready=lambda: node in probes.consuming_workers(places.broker, only=node),
        environment={**environment, "OMP_NUM_THREADS": "1"},
        stop_within_s=30.0,
    )


def beat_part(environment: Mapping[str, str]) -> Part:
    """The clock that sends the periodic tasks; running is all that can be asked of it. It would log each second."""
    level = environment.get("SIGNALBOX_LOG_LEVEL", "info")
    return Part(
        name="beat",
        command=(sys.executable, "-m", "celery", "--app", "tasks.app", "beat", "--pidfile="),
        where="sends the periodic tasks",
        is_ready=lambda: True,
        environment={**environment, "SIGNALBOX_LOG_LEVEL": "warning" if level == "info" else level},
    )


def shim_part(places: Places, environment: Mapping[str, str]) -> Part:
    """The street door. Open streams get three seconds to end when it stops."""
    uvicorn = (sys.executable, "-m", "uvicorn", "--factory", "api_shim.app:create_app", "--no-access-log")
    listening = ("--host", places.shim_host, "--port", str(places.shim_port), "--timeout-graceful-shutdown", "3")
    return Part(
        name="shim",
        command=(*uvicorn, *listening),
        where=places.url,
        is_ready=lambda: probes.http_status(f"{places.url}/healthz") == HTTPStatus.OK,
        environment=environment,
    )
