"""What a hit of the response cache adds to a turn, beside the same turn with an API that answers at once.

    python -m tests.bench.caching [--turns 500] [--rounds 5]

All run in one process over one Redis, in turns within a round, so that a noisy machine disturbs all alike. `lookup` is
what a hit adds to its turn: key, look, record. A turn that hits and one whose API takes no time are timed whole beside
each other: from admission to its end, stage by stage, without queues.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from schemas.calls import ApiCall, CallSucceeded
from schemas.ids import TurnId, call_id, chat_key, new_turn_id
from schemas.turns import TurnRequest
from tests.bench.instant import ENDPOINT, instant_steps
from tests.conftest import running_redis
from workers.caching.cache import ResponseCache
from workers.calling.outcomes import OutcomeStore
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import CacheSettings, Settings
from workers.sessions.turns import TurnStore
from workers.turn.steps import Steps

LIMIT_MS = 3.0
_ROWS = 40
BODY: Any = [{"date": f"2026-01-{n % 28 + 1:02}", "name": f"day {n}", "nationwide": True} for n in range(_ROWS)]
LARGE: Any = [{"date": f"2026-01-{n % 28 + 1:02}", "name": f"day {n}", "text": "x" * 40} for n in range(1_500)]


def a_request() -> TurnRequest:
    now, chat = utc_now(), f"bench-{uuid.uuid4()}"
    return TurnRequest(
        turn_id=new_turn_id(chat_key("default", chat)),
        tenant="default",
        chat_id=chat,
        message="what is the answer",
        accepted_at=now,
        deadline_at=now + timedelta(seconds=60),
    )


async def whole_turn(turns: TurnStore, steps: Steps) -> None:
    """Carry one turn from admission to its end, as the queues would."""
    request = a_request()
    await turns.admit(request, on_busy="enqueue")
    stages: dict[str, Callable[[str], Awaitable[Any]]] = {
        "classification": steps.classify,
        "extraction": steps.extract,
        "calling": steps.call,
        "formatting": steps.format,
    }
    stage: str | None = "classification"
    while stage is not None:
        command = await stages[stage](request.turn_id)
        stage = str(command.stage) if command else None


class Lookup:
    """Finds a kept response and records it for a turn, as a stage does."""

    def __init__(self, redis: Any, keys: Keys, *, body: Any, name: str) -> None:
        self._cache = ResponseCache.open(redis, keys, CacheSettings(cache_timeout_s=5.0), utc_now)
        self._outcomes = OutcomeStore(redis, keys)
        self._endpoint = ENDPOINT.model_copy(update={"endpoint_id": name})
        self._body = body

    async def keep(self) -> None:
        async def answered() -> CallSucceeded:
            return CallSucceeded(call_id="api", status=200, body=self._body)

        call = ApiCall(call_id="c", index=0, endpoint=self._endpoint)
        await self._cache.fetch(call, a_request(), answered, deadline=utc_now() + timedelta(seconds=30))

    async def __call__(self) -> None:
        request = a_request()
        call = ApiCall(call_id=call_id(TurnId(request.turn_id), 0), index=0, endpoint=self._endpoint)
        found = await self._cache.find(call, request)
        assert isinstance(found, CallSucceeded), "nothing was kept, so no hit is measured"
        assert found.cached is not None
        await self._outcomes.record(request.turn_id, found)


async def _measure(url: str, *, turns: int, rounds: int) -> dict[str, list[float]]:
    settings = Settings()
    redis = async_client(settings.redis.model_copy(update={"url": url}))
    keys = Keys(settings.redis.key_prefix)
    plain, hit = instant_steps(redis, settings), instant_steps(redis, settings, cached=True)
    lookup, large = (Lookup(redis, keys, body=body, name=name) for body, name in ((BODY, "small"), (LARGE, "large")))
    await lookup.keep()
    await large.keep()
    works: dict[str, Callable[[], Awaitable[None]]] = {
        "turn, instant API": lambda: whole_turn(*plain),
        "turn, hit": lambda: whole_turn(*hit),
        "lookup": lookup,
        "lookup, large body": large,
    }
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(20):
        for work in works.values():
            await work()
    for _ in range(turns // rounds * rounds):
        for name, work in works.items():
            began = time.perf_counter()
            await work()
            seconds[name].append(time.perf_counter() - began)
    await redis.aclose()
    await redis.connection_pool.disconnect()
    return seconds


def _report(seconds: dict[str, list[float]]) -> dict[str, float]:
    medians = {name: statistics.median(values) * 1000 for name, values in seconds.items()}
    return {
        **{f"{name} p50 ms": round(median, 3) for name, median in medians.items()},
        **{f"{n} p95 ms": round(statistics.quantiles(v, n=20)[-1] * 1000, 3) for n, v in seconds.items()},
        "a hit adds ms": round(medians["lookup"], 3),
        "turn with a hit minus turn with an instant API ms": round(
            medians["turn, hit"] - medians["turn, instant API"], 3
        ),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--turns", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_redis(Path(folder)) as url:
        report = _report(asyncio.run(_measure(url, turns=asked.turns, rounds=asked.rounds)))
    if asked.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name:50} {value:8.3f}")
        print(f"limit: a hit adds {LIMIT_MS} ms")
    added = max(report["a hit adds ms"], report["turn with a hit minus turn with an instant API ms"])
    return 0 if added <= LIMIT_MS else 1


if __name__ == "__main__":
    sys.exit(main())
