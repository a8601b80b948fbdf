"""Flower as compose runs it, with the shipped options, against real nodes: it shows them, to operators only."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pytest_celery import CeleryTestSetup

from ops.local import probes
from tasks import names
from tests.conftest import free_port
from tests.integration.celery_nodes.conftest import NODES
from tests.integration.celery_nodes.processes import NodeProcess, celery_command, running

pytestmark = pytest.mark.stack

OPERATOR = ("operator", "a-long-password")
GUARDED = ("/", "/workers", "/tasks", "/broker", "/api/workers", "/api/tasks", "/api/task/types")


@pytest.fixture
def flower(node_environment: dict[str, str], repository: Path, tmp_path: Path) -> Iterator[str]:
    """The compose service's command and environment; only the address and the port are this machine's."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    options = (f"--conf={repository / 'ops/flower/flowerconfig.py'}", "--address=127.0.0.1", f"--port={port}")
    secured = {"FLOWER_BASIC_AUTH": ":".join(OPERATOR), "FLOWER_UNAUTHENTICATED_API": "false"}
    node = NodeProcess(
        name="flower",
        command=celery_command("flower", *options),
        environment=node_environment | secured,
        folder=tmp_path,
        is_ready=lambda: probes.http_status(f"{url}/healthcheck") == httpx.codes.OK,
    )
    with running(node):
        yield url


def _until_task_is_shown(client: httpx.Client, task_id: str) -> dict[str, object]:
    deadline = time.monotonic() + 20
    while task_id not in (shown := client.get("/api/tasks").json()):
        assert time.monotonic() < deadline, shown
        time.sleep(0.1)
    found: dict[str, object] = shown[task_id]
    return found


def test_flower_shows_workers_and_tasks_to_operators_and_nothing_to_others(
    celery_setup: CeleryTestSetup, flower: str
) -> None:
    stranger = {path: httpx.get(f"{flower}{path}", trust_env=False).status_code for path in GUARDED}
    wrong = httpx.get(f"{flower}/api/workers", auth=("operator", "guessed"), trust_env=False).status_code
    shutdown = httpx.post(f"{flower}/api/worker/shutdown/answering@nodes", trust_env=False).status_code

    assert stranger == dict.fromkeys(GUARDED, 401)
    assert (wrong, shutdown) == (401, 401)
    assert all(worker.container.status == "running" for worker in celery_setup.worker_cluster)

    with httpx.Client(base_url=flower, auth=OPERATOR, timeout=20, trust_env=False) as operator:
        sent = celery_setup.app.send_task(names.SWEEP)
        shown = _until_task_is_shown(operator, sent.id)
        workers = operator.get("/api/workers", params={"refresh": "true"}).json()
        broker = operator.get("/broker")

        assert shown["name"] == names.SWEEP
        assert operator.get("/workers").status_code == 200
        assert broker.status_code == 200
        assert all(queue in broker.text for listed in NODES.values() for queue in listed.split(","))
        queues = {name: {queue["name"] for queue in told["active_queues"]} for name, told in workers.items()}
        assert queues == {f"{name}@nodes": set(listed.split(",")) for name, listed in NODES.items()}
