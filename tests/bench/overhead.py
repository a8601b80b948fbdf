"""Ingress → first token with instant rooms: our queues beside one starlette process and beside taskiq, in one run.

    python -m tests.bench.overhead [--turns 300] [--rounds 5]

The three take turns within a round, so that a noisy machine disturbs all alike; what counts is the ratio of medians.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.bench.lean_client import LeanClient
from tests.conftest import free_port, running_redis
from workers.runtime.settings import inherited_environment

LIMIT_ONE_PROCESS = 14.0
LIMIT_TASKIQ = 1.6
_REPOSITORY = Path(__file__).parents[2]
_QUEUES = "classification,extraction,calling,formatting"


@contextmanager
def running_process(*command: str, environment: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        env=inherited_environment() | environment,
        cwd=_REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def _uvicorn(app: str, port: int, *more: str) -> tuple[str, ...]:
    return ("uvicorn", app, "--host", "127.0.0.1", "--port", str(port), "--log-level", "warning", *more)


@contextmanager
def _peers(folder: Path) -> Iterator[dict[str, int]]:
    """Start the three systems; yield their ports by name."""
    ports = {"signalbox": free_port(), "one process": free_port(), "taskiq": free_port()}
    with ExitStack() as started:
        urls = [started.enter_context(running_redis(folder / name)) for name in ("ours", "theirs")]
        ours, theirs = ({"REDIS_URL": url, "SIGNALBOX_LOG_LEVEL": "warning"} for url in urls)
        worker = ("celery", "-A", "tests.bench.celery_app", "worker", "-Q", _QUEUES)
        started.enter_context(running_process(*worker, "--without-gossip", "--without-mingle", environment=ours))
        started.enter_context(
            running_process(*_uvicorn("api_shim.app:create_app", ports["signalbox"], "--factory"), environment=ours)
        )
        started.enter_context(
            running_process(*_uvicorn("tests.bench.one_process:app", ports["one process"]), environment={})
        )
        started.enter_context(
            running_process(
                "taskiq",
                "worker",
                "tests.bench.taskiq_app:broker",
                "--workers",
                "1",
                "--no-configure-logging",
                environment=theirs,
            )
        )
        started.enter_context(
            running_process(
                *_uvicorn("tests.bench.taskiq_shim:create_app", ports["taskiq"], "--factory"), environment=theirs
            )
        )
        yield ports


async def _warm(client: LeanClient) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            async with asyncio.timeout(20):
                for _ in range(30):
                    await client.first_token_s(f"warm-{uuid.uuid4()}")
        except (OSError, AssertionError):
            if time.monotonic() > deadline:
                raise
            client.writer = None
            await asyncio.sleep(0.3)
        else:
            return


async def _measure(ports: dict[str, int], *, turns: int, rounds: int) -> dict[str, list[float]]:
    clients = {name: LeanClient("127.0.0.1", port) for name, port in ports.items()}
    for client in clients.values():
        await _warm(client)
    seconds: dict[str, list[float]] = {name: [] for name in clients}
    for _ in range(rounds):
        for name, client in clients.items():
            for _ in range(turns // rounds):
                seconds[name].append(await client.first_token_s(f"bench-{uuid.uuid4()}"))
    for client in clients.values():
        await client.close()
    return seconds


def _report(seconds: dict[str, list[float]]) -> dict[str, float]:
    medians = {name: statistics.median(values) * 1000 for name, values in seconds.items()}
    return {
        **{f"{name} p50 ms": round(median, 3) for name, median in medians.items()},
        **{
            f"{name} p95 ms": round(statistics.quantiles(values, n=20)[-1] * 1000, 3)
            for name, values in seconds.items()
        },
        "ratio to one process": round(medians["signalbox"] / medians["one process"], 2),
        "ratio to taskiq": round(medians["signalbox"] / medians["taskiq"], 2),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _peers(Path(folder)) as ports:
        report = _report(asyncio.run(_measure(ports, turns=asked.turns, rounds=asked.rounds)))
    if asked.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name:28} {value:8.3f}")
        print(f"limits: {LIMIT_ONE_PROCESS} × one process, {LIMIT_TASKIQ} × taskiq")
    is_within = report["ratio to one process"] <= LIMIT_ONE_PROCESS and report["ratio to taskiq"] <= LIMIT_TASKIQ
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
