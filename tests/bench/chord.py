"""What a chord of three calls adds to `asyncio.gather` of the same calls, and what a thousand chords leave behind.

    python -m tests.bench.chord [--pairs 300] [--chords 1000]

A worker process times both in turn, on one loop, with the same caller, Redis and API; what counts is the difference of
medians. Then chords run twenty at a time, and the server is asked for its subscriptions before and after.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from celery import Celery

from tasks.app import build_app
from tests.acceptance.stack_tools import running_slow_api
from tests.bench.overhead import running_process
from tests.conftest import free_port, running_redis
from workers.runtime.settings import RedisSettings, Settings

LIMIT_MS = 12.0
_DELAY_MS = 20
_AT_ONCE = 20
_WARM_UP = 30
_PATIENCE_S = 60
_QUEUES = "calling,formatting,maintenance"


@dataclass(frozen=True)
class Subscriptions:
    """What a Redis server says of its subscriptions: channels, patterns, and subscribers of all channels."""

    channels: int
    patterns: int
    subscribers: int

    @classmethod
    def of(cls, client: Any) -> Subscriptions:
        channels = client.pubsub_channels()
        counted = client.pubsub_numsub(*channels) if channels else []
        return cls(len(channels), client.pubsub_numpat(), sum(count for _, count in counted))


@dataclass(frozen=True)
class Bench:
    """A worker that times fan-outs, and the wire to it."""

    app: Celery
    client: Any
    url: str

    def pairs(self, count: int) -> list[tuple[float, float]]:
        """Time so many gathers and chords, one after the other; milliseconds."""
        return [tuple(json.loads(self._run("bench.pair", "bench:pairs"))) for _ in range(count)]

    def chords(self, count: int) -> None:
        """Run so many chords, several at a time."""
        for number in range(count + _AT_ONCE):
            if number < count:
                self._send("bench.chord")
            if number >= _AT_ONCE:
                self._next("bench:chords")

    def _run(self, task: str, answers: str) -> str:
        self._send(task)
        return self._next(answers)

    def _send(self, task: str) -> None:
        self.app.send_task(task, (self.url,), queue="maintenance")

    def _next(self, answers: str) -> str:
        told = self.client.blpop([answers], timeout=_PATIENCE_S)
        assert told, f"nothing on {answers} for {_PATIENCE_S} s"
        return str(told[1])


@contextmanager
def running_bench(folder: Path) -> Iterator[Bench]:
    """Start a Redis, an API that takes 20 ms, and one worker with the product's queues."""
    with ExitStack() as started:
        redis_url = started.enter_context(running_redis(folder))
        api = started.enter_context(running_slow_api(free_port()))
        environment = {
            "REDIS_URL": redis_url,
            "CALLING_ALLOWED_HOSTS": "127.0.0.1",
            "SIGNALBOX_LOG_LEVEL": "warning",
        }
        worker = ("celery", "-A", "tests.bench.chord_app", "worker", "-Q", _QUEUES)
        started.enter_context(running_process(*worker, "--without-gossip", "--without-mingle", environment=environment))
        app = build_app(Settings(redis=RedisSettings(url=redis_url)))
        client = redis.Redis.from_url(redis_url, decode_responses=True, socket_timeout=_PATIENCE_S + 5)
        started.callback(client.close)
        started.callback(app.close)
        bench = Bench(app, client, f"{api}/tickets?delay_ms={_DELAY_MS}")
        bench.pairs(_WARM_UP)
        yield bench


def _report(pairs: list[tuple[float, float]], before: Subscriptions, after: Subscriptions) -> dict[str, float | str]:
    gathers, chords = zip(*pairs, strict=True)
    median = {"gather": statistics.median(gathers), "chord": statistics.median(chords)}
    return {
        **{f"{name} p50 ms": round(value, 2) for name, value in median.items()},
        "gather p95 ms": round(statistics.quantiles(gathers, n=20)[-1], 2),
        "chord p95 ms": round(statistics.quantiles(chords, n=20)[-1], 2),
        "added p50 ms": round(median["chord"] - median["gather"], 2),
        "subscriptions before": str(before),
        "subscriptions after": str(after),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--chords", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_bench(Path(folder)) as bench:
        before = Subscriptions.of(bench.client)
        pairs = bench.pairs(asked.pairs)
        bench.chords(asked.chords)
        after = Subscriptions.of(bench.client)
    report = _report(pairs, before, after)
    if asked.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name:22} {value}")
        print(f"limits: {LIMIT_MS} ms added, and as many subscriptions after {asked.chords} chords as before")
    return 0 if float(report["added p50 ms"]) <= LIMIT_MS and before == after else 1


if __name__ == "__main__":
    sys.exit(main())
