"""A thousand calls to a dead host, from four worker processes at once: what the host itself counted."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import sys
import time
from collections import Counter
from pathlib import Path

import redis.asyncio as aioredis

from tests.integration.calling.dead_host import COOLDOWN_S, SETTINGS, THRESHOLD
from tests.integration.calling.misbehaving import Misbehaving
from workers.calling.breaker import BreakerRules, BreakerState
from workers.calling.breaker_store import BreakerStore
from workers.runtime.keys import Keys

WORKERS = 4
CALLS = 1_000


async def _worker(redis_url: str, url: str, repository: Path) -> Counter[str]:
    script = str(Path(__file__).with_name("dead_host.py"))
    worker = await asyncio.create_subprocess_exec(
        sys.executable,
        script,
        redis_url,
        url,
        str(CALLS // WORKERS),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={"PYTHONPATH": str(repository)},
    )
    told, _ = await asyncio.wait_for(worker.communicate(), timeout=60)
    assert worker.returncode == 0
    return Counter(json.loads(told.decode().splitlines()[-1]))


async def test_a_dead_host_is_called_the_threshold_and_then_once_a_cooldown(
    clean_redis: aioredis.Redis, redis_url: str, repository: Path, server: Misbehaving
) -> None:
    started = time.monotonic()
    ends = sum(
        await asyncio.gather(*(_worker(redis_url, server.url("/hang-up"), repository) for _ in range(WORKERS))),
        Counter(),
    )
    elapsed_s = time.monotonic() - started
    rules = BreakerRules(failures_to_open=SETTINGS.breaker_failures_to_open)
    changes = list(reversed(await BreakerStore(clean_redis, Keys(), rules).changes(limit=1_000)))

    assert ends.total() == CALLS
    assert set(ends) == {"unreachable", "breaker_open"}
    first = changes[0]
    assert (first.state, first.failures) == (BreakerState.OPEN, THRESHOLD), "exactly the threshold"
    probes = [change.at for change in changes if change.state is BreakerState.HALF_OPEN]
    gaps_s = [(later - earlier).total_seconds() for earlier, later in itertools.pairwise(probes)]
    assert probes
    assert all(gap_s >= COOLDOWN_S - 0.05 for gap_s in gaps_s), "at most one probe a cooldown, among all workers"
    assert len(probes) <= math.ceil(elapsed_s / COOLDOWN_S)
    # What was on its way when the fifth failure was told may still arrive: at most one call of each other worker.
    assert THRESHOLD <= len(server.seen) - len(probes) <= THRESHOLD + WORKERS - 1
