"""Whatever an API does, a call ends in time, with its outcome, and holds little more than the cap on answers.

The calls are made by a process of their own, so that its memory is theirs alone; caps are the shipped ones.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio as aioredis

from tests.integration.calling.bounded import DEADLINE_S, SETTINGS
from tests.integration.calling.misbehaving import Misbehaving

SLACK_S = 2.0
"""For the process to be given its turn on a busy machine."""
# An answer exists twice while it is read: as it came, and as text. The rest is what the interpreter takes at once.
MOST_KIB = 6 * SETTINGS.max_response_bytes // 1024

WAYS = [
    # path, how it ends, seconds, times the server is asked
    ("/slow-headers", "timed_out", DEADLINE_S, 3),
    ("/slow-body", "timed_out", DEADLINE_S, 3),
    ("/reset", "unreachable", DEADLINE_S, 3),
    ("/wrong-length", "unreachable", DEADLINE_S, 3),
    ("/rate-limited", "succeeded", DEADLINE_S, 2),
    ("/recovering", "succeeded", DEADLINE_S, 2),
    ("/redirect-loop", "redirected", 0.0, 1),
    ("/bomb", "too_large", 1.0, 1),
    ("/gigabyte/declared", "too_large", 1.0, 1),
    ("/gigabyte/undeclared", "too_large", 1.0, 1),
    ("/endless", "too_large", 1.0, 1),
]


@pytest.mark.parametrize(("path", "ended", "within_s", "asked"), WAYS, ids=[way[0] for way in WAYS])
async def test_a_call_ends_within_its_time_and_its_memory(  # noqa: PLR0913, PLR0917 - fixtures, and the table's columns
    clean_redis: aioredis.Redis,
    redis_url: str,
    repository: Path,
    server: Misbehaving,
    path: str,
    ended: str,
    within_s: float,
    asked: int,
) -> None:  # fmt: skip
    del clean_redis
    told = await _told_of(redis_url, server, repository, path)

    assert told["ended"] == ended
    assert told["elapsed_s"] <= within_s + SLACK_S
    assert told["grown_kib"] <= MOST_KIB
    assert server.count(path) == asked


async def test_the_memory_of_an_answer_within_the_cap_would_be_noticed(
    clean_redis: aioredis.Redis, redis_url: str, repository: Path, server: Misbehaving
) -> None:
    """What measures nothing would find nothing too large."""
    del clean_redis
    told = await _told_of(redis_url, server, repository, "/large")

    assert told["ended"] == "succeeded"
    assert told["grown_kib"] >= SETTINGS.max_response_bytes // 1024 // 2


async def _told_of(redis_url: str, server: Misbehaving, repository: Path, path: str) -> dict[str, Any]:
    """Make an ordinary call first: what the first call of a process loads is not this one's."""
    script = str(Path(__file__).with_name("bounded.py"))
    worker = await asyncio.create_subprocess_exec(
        sys.executable,
        script,
        redis_url,
        server.url(""),
        "/fine/first",
        path,
        stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(repository)},
    )
    told, _ = await asyncio.wait_for(worker.communicate(), timeout=90)
    assert worker.returncode == 0
    found: dict[str, Any] = json.loads(told.decode().splitlines()[-1])
    return found
