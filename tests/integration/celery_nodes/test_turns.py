"""A turn over HTTP through nodes that share its queues, with the broker apart from the state."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from pytest_celery import CeleryTestSetup

from tests.acceptance.client import Chat
from tests.acceptance.stack_tools import index_slow_endpoint
from tests.integration.celery_nodes.conftest import NODES
from tests.integration.shim.running import RunningDoor

pytestmark = pytest.mark.stack


def _calls(slow_api: str) -> list[str]:
    found: list[str] = httpx.get(f"{slow_api}/log", trust_env=False).json()
    return found


def test_a_turn_crosses_two_workers_and_ends_with_the_apis_answer(
    celery_setup: CeleryTestSetup, door: RunningDoor, slow_api: str
) -> None:
    assert celery_setup.ready(control=True, docker=True)
    assert {worker.hostname() for worker in celery_setup.worker_cluster} == {f"{name}@nodes" for name in NODES}
    index_slow_endpoint(door, slow_api, delay_ms=50)

    reply = Chat(door.url).say("ticket price for ticket T7")

    assert "T7" in reply.text
    assert len(_calls(slow_api)) == 1
    assert httpx.get(f"{door.url}/turns/{reply.turn_id}", trust_env=False).json()["phase"] == "done"


def test_a_turn_whose_worker_dies_in_the_call_is_answered_when_the_worker_is_back(
    celery_setup: CeleryTestSetup, door: RunningDoor, slow_api: str
) -> None:
    index_slow_endpoint(door, slow_api, delay_ms=1500)
    answering = next(worker for worker in celery_setup.worker_cluster if worker.worker_name == "answering")

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(Chat(door.url).say, "ticket price for ticket T8")
        deadline = time.monotonic() + 20
        while not _calls(slow_api):
            assert time.monotonic() < deadline, "the API was never called"
            time.sleep(0.02)
        answering.kill()
        assert answering.container.status == "exited"
        answering.restart()
        reply = asked.result(timeout=90)

    assert "T8" in reply.text
    assert reply.text.count("T8") == 1, "the answer was told twice"
