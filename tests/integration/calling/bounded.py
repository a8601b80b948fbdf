"""A worker that makes one call after another and tells, for each, how it ended, how long it took and what it held.

Arguments: Redis URL, API URL, then paths. Prints one JSON object a line.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from schemas.calls import ApiCall, CallFailed
from schemas.endpoints import Endpoint
from schemas.ids import call_id, chat_key, new_turn_id
from workers.calling.caller import Caller
from workers.calling.outcomes import OutcomeStore
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import CallingSettings, RedisSettings

DEADLINE_S = 5.0
SETTINGS = CallingSettings(timeout_s=1.0, allowed_hosts="127.0.0.1", breaker_failures_to_open=1_000)
_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


def forget_peak() -> None:
    """Let the kernel count the peak of our memory anew (man 5 proc, clear_refs)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_kib() -> int:
    found = _PEAK.search(Path("/proc/self/status").read_text(encoding="ascii"))
    assert found
    return int(found[1])


async def ended(caller: Caller, url: str) -> dict[str, object]:
    turn_id = new_turn_id(chat_key("default", url))
    endpoint = Endpoint(endpoint_id="bounded", name="bounded", description="Bounded.", url=url)
    call = ApiCall(call_id=call_id(turn_id, 0), index=0, endpoint=endpoint)
    forget_peak()
    before_kib, began = peak_kib(), time.monotonic()
    outcome = await caller.call(call, turn_id=turn_id, deadline=datetime.now(UTC) + timedelta(seconds=DEADLINE_S))
    return {
        "ended": str(outcome.reason) if isinstance(outcome, CallFailed) else "succeeded",
        "elapsed_s": round(time.monotonic() - began, 2),
        "grown_kib": peak_kib() - before_kib,
    }


async def main(redis_url: str, url: str, *paths: str) -> None:
    redis = async_client(RedisSettings(url=redis_url))
    caller = Caller.open(redis=redis, keys=Keys(), settings=SETTINGS, outcomes=OutcomeStore(redis, Keys()))
    for path in paths:
        sys.stdout.write(json.dumps({"path": path, **await ended(caller, f"{url}{path}")}) + "\n")
    await caller.close()
    await redis.aclose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
