"""From a task that a real worker gives up, over the operator's commands, to its success."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import redis
from pytest_celery import CeleryTestSetup

from tasks import names
from tests.acceptance.stack_tools import SLOW_ENDPOINT_ID, index_slow_endpoint
from tests.integration.shim.running import RunningDoor
from workers.runtime.keys import Keys

pytestmark = pytest.mark.stack


def _eventually(claim: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not claim():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def test_a_task_that_failed_is_listed_shown_retried_with_success_and_dropped(
    celery_setup: CeleryTestSetup,
    door: RunningDoor,
    slow_api: str,
    places: dict[str, str],
    node_environment: dict[str, str],
    repository: Path,
) -> None:
    def cli(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "ops.cli.main", "failed", *words]
        return subprocess.run(
            command, cwd=repository, env=node_environment, capture_output=True, text=True, timeout=60, check=False
        )

    def letters() -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads(cli("list", "--json").stdout)["items"]
        return found

    # An endpoint whose record was lost between its registration and its indexing.
    index_slow_endpoint(door, slow_api, delay_ms=10)
    state = redis.Redis.from_url(places["REDIS_URL"], decode_responses=True)
    kept = state.hget(Keys().registry(), SLOW_ENDPOINT_ID)
    assert kept is not None
    state.hdel(Keys().registry(), SLOW_ENDPOINT_ID)
    celery_setup.app.send_task(names.INDEX, [SLOW_ENDPOINT_ID])
    _eventually(lambda: bool(letters()))
    (letter,) = letters()
    shown = cli("show", letter["letter_id"])

    assert (letter["task"], letter["error_type"]) == (names.INDEX, "EndpointUnknown")
    assert "Traceback" in shown.stdout
    assert SLOW_ENDPOINT_ID in shown.stdout

    restored = json.dumps(json.loads(kept) | {"state": "pending"})
    state.hset(Keys().registry(), SLOW_ENDPOINT_ID, restored)
    retried = cli("retry", letter["letter_id"], "--json")
    url = f"{door.url}/api-tools/{SLOW_ENDPOINT_ID}"

    assert retried.returncode == 0, retried.stderr
    _eventually(lambda: httpx.get(url, trust_env=False).json()["state"] == "indexed")
    assert len(letters()) == 1, "the retry failed again"
    assert cli("drop", letter["letter_id"]).returncode == 0
    assert letters() == []
    state.close()
