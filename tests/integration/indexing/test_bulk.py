"""Thousands of endpoints at once, with a worker killed in the middle: nothing is lost, nothing is done twice."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import redis

from ops.local.stack import Stack
from tests.integration.indexing.conftest import StartStack
from workers.runtime.keys import Keys
from workers.runtime.settings import inherited_environment

BAD = (
    {"name": "no_url", "description": "An endpoint without an address."},
    {"name": "odd_method", "description": "An odd one.", "url": "https://api.example.ee/odd", "method": "TRACE"},
)
# A message of a dead worker comes back after the visibility timeout; seconds here, two minutes by default.
TIMES = {"QUEUE_TASK_TIME_LIMIT_S": "20", "QUEUE_VISIBILITY_TIMEOUT_S": "25"}


def entries(count: int) -> list[dict[str, Any]]:
    subjects = ("ferry", "library", "dentist", "passport", "parking", "pension", "playground", "harbour")
    return [
        {
            "name": f"get_{subjects[n % 8]}_{n}",
            "description": f"Tell what the {subjects[n % 8]} office number {n} offers on a day.",
            "url": f"https://api.example.ee/{subjects[n % 8]}/{n}",
            "params": [{"name": "day", "type": "date", "required": True, "description": "The day"}],
        }
        for n in range(count)
    ]


def signalbox(stack: Stack, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "ops.cli.main", *words, "--json"],
        cwd=Path(__file__).parents[3],
        env=inherited_environment() | {"SIGNALBOX_DATA_DIR": str(stack.data_dir)},
        stdout=subprocess.PIPE,
        text=True,
    )


def wait_until(is_so: Any, what: str, within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("count", "embedder"),
    [
        pytest.param(600, "letters"),
        pytest.param(10_000, "letters", marks=pytest.mark.soak),
        pytest.param(1_000, "multilingual-e5-small", marks=pytest.mark.soak),
    ],
)
def test_a_bulk_survives_a_killed_worker_and_is_resumed(
    start_stack: StartStack, tmp_path: Path, count: int, embedder: str
) -> None:
    stack = start_stack(RETRIEVAL_EMBEDDER=embedder, **TIMES)
    file = tmp_path / "many.json"
    file.write_text(json.dumps([*BAD, *entries(count)]), encoding="utf-8")
    keys = Keys()
    began = time.monotonic()
    with redis.Redis.from_url(stack.redis_url, decode_responses=True) as client:

        def indexed() -> int:
            return int(str(client.hlen(keys.registry_vectors())))

        # Registering is under way, and a part is indexed, when the only worker dies.
        registering = signalbox(stack, "index", str(file))
        wait_until(lambda: indexed() > count // 10, "indexing has begun", 240)
        at_kill = indexed()
        stack.kill("worker")
        told = json.loads(registering.communicate(timeout=600)[0])

        # What the operator does next; what waits on the queue anyway may then come twice.
        resumed = json.loads(signalbox(stack, "reindex", "--wait").communicate(timeout=1200)[0])
        wait_until(lambda: indexed() == count, "all are indexed", 600)
        states = {json.loads(raw)["state"] for raw in client.hvals(keys.registry())}
        took_s = time.monotonic() - began

        assert sorted(one["name"] for one in told if not one["ok"]) == ["no_url", "odd_method"]
        assert all(one["reason"] for one in told if not one["ok"])
        assert resumed["failed"] == {}
        assert states == {"indexed"}
        assert client.hlen(keys.registry()) == count
        # Each publishing is one entry of the log: none of them happened twice, before or after the kill.
        assert client.hget(keys.registry_head(), "seq") == str(count)
        assert client.hlen(keys.dead()) == 0
    print(f"\n{count} endpoints ({embedder}) in {took_s:.0f} s, worker killed at {at_kill}")
