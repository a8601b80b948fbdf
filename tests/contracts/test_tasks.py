"""The wire names of tasks: unique, registered, routed; and every queue has a consumer everywhere."""

from __future__ import annotations

import pytest
import yaml

from ops.local.parts import QUEUES
from tasks import names
from tasks.app import TASK_MODULES, app
from tasks.queues import QUEUE_OF_TASK, QueueName
from tests.contracts.sources import REPOSITORY

NAMES = {key: value for key, value in vars(names).items() if key.isupper() and isinstance(value, str)}


@pytest.fixture(scope="module")
def registered() -> set[str]:
    app.loader.import_default_modules()
    return {name for name, task in app.tasks.items() if type(task).__module__.startswith("tasks.")}


def test_task_names_are_unique() -> None:
    assert NAMES
    assert len(set(NAMES.values())) == len(NAMES)


def test_every_name_is_a_registered_task_and_every_task_has_a_name(registered: set[str]) -> None:
    assert registered == set(NAMES.values())


def test_every_task_has_a_queue() -> None:
    assert set(QUEUE_OF_TASK) == set(NAMES.values())


def test_every_task_module_is_named_once() -> None:
    assert len(set(TASK_MODULES)) == len(TASK_MODULES)


def test_the_embedded_worker_and_the_compose_file_consume_every_queue() -> None:
    compose = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text(encoding="utf-8"))
    consumed = [
        service["command"] for service in compose["services"].values() if "worker" in service.get("command", [])
    ]
    in_compose = sorted(queue for command in consumed for queue in command[command.index("--queues") + 1].split(","))

    assert set(QUEUES) == set(QueueName)
    assert in_compose == sorted(QueueName)
