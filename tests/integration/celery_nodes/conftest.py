"""pytest-celery's fixtures over processes: two Redis servers (broker, state), two workers that share the queues."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import celery
import pytest
from pytest_celery import CeleryTestBroker, CeleryTestSetup, CeleryWorkerCluster, RedisTestBackend

from ops.local import probes, server
from tests.acceptance.stack_tools import running_slow_api
from tests.conftest import free_port
from tests.integration.celery_nodes.processes import (
    NodeProcess,
    ProcessWorker,
    ProductSetup,
    WorkerProcess,
    celery_command,
    running,
)
from tests.integration.shim.running import RunningDoor, running_door
from workers.runtime.settings import inherited_environment

NODES = {"understanding": "classification,extraction,maintenance", "answering": "calling,formatting,indexing"}


def _redis_node(name: str, folder: Path) -> NodeProcess:
    port = free_port()
    url = f"redis://127.0.0.1:{port}/0"
    data = folder / name
    data.mkdir()
    return NodeProcess(
        name=name,
        command=server.server_command(server.find_server(), port=port, folder=data),
        environment=inherited_environment(),
        folder=folder,
        is_ready=partial(probes.redis_answers, url),
        celeryconfig={"url": url, "host_url": url},
    )


@pytest.fixture
def celery_broker(tmp_path: Path) -> Iterator[CeleryTestBroker]:
    node = _redis_node("broker", tmp_path)
    with running(node):
        yield CeleryTestBroker(node)


@pytest.fixture
def celery_backend(tmp_path: Path) -> Iterator[RedisTestBackend]:
    node = _redis_node("state", tmp_path)
    with running(node):
        backend = RedisTestBackend(node)
        yield backend
        backend.teardown()


@pytest.fixture
def places(celery_broker: CeleryTestBroker, celery_backend: RedisTestBackend) -> dict[str, str]:
    """The settings that tell a process of the product where the nodes are."""
    return {
        "REDIS_URL": celery_backend.config()["host_url"],
        "QUEUE_BROKER_URL": celery_broker.config()["host_url"],
    }


@pytest.fixture
def node_environment(places: dict[str, str], repository: Path) -> dict[str, str]:
    """What a node inherits: the places, the code, and leave to call an API on loopback."""
    return {
        **inherited_environment(),
        **places,
        "PYTHONPATH": str(repository),
        "PYTHONUNBUFFERED": "1",
        "CALLING_ALLOWED_HOSTS": "127.0.0.1",
    }


@pytest.fixture
def celery_worker_cluster(
    places: dict[str, str], node_environment: dict[str, str], tmp_path: Path
) -> Iterator[CeleryWorkerCluster]:
    broker = probes.BrokerAddress(redis_url=places["REDIS_URL"], broker_url=places["QUEUE_BROKER_URL"])
    nodes = [
        WorkerProcess(
            name=name,
            command=celery_command("worker", "--hostname", f"{name}@nodes", "--queues", queues, "--task-events"),
            environment=node_environment,
            folder=tmp_path,
            is_ready=lambda full=f"{name}@nodes": full in probes.consuming_workers(broker, only=full),
            queues=queues,
        )
        for name, queues in NODES.items()
    ]
    with running(*nodes):
        yield CeleryWorkerCluster(*(ProcessWorker(node, app=None) for node in nodes))


@pytest.fixture
def celery_setup_cls() -> Iterator[type[CeleryTestSetup]]:
    """The product's own app; a restarted node makes it the current one, so the one before is put back."""
    before = celery.current_app._get_current_object()
    yield ProductSetup
    before.set_current()


@pytest.fixture
def beat(node_environment: dict[str, str], tmp_path: Path) -> Iterator[NodeProcess]:
    node = NodeProcess(
        name="beat",
        command=celery_command("beat", "--pidfile="),
        environment=node_environment,
        folder=tmp_path,
        is_ready=lambda: True,
    )
    with running(node):
        yield node


@pytest.fixture
def door(places: dict[str, str], beat: NodeProcess) -> Iterator[RunningDoor]:
    del beat
    with running_door(places["REDIS_URL"], QUEUE_BROKER_URL=places["QUEUE_BROKER_URL"]) as opened:
        yield opened


@pytest.fixture
def slow_api() -> Iterator[str]:
    with running_slow_api(free_port()) as url:
        yield url
