from __future__ import annotations

from schemas.commands import Stage
from tasks import names
from tasks.queues import QUEUE_OF_TASK, TASK_OF_STAGE, QueueName, declared_queues, queue_of, routes

NAMES = {value for name, value in vars(names).items() if name.isupper()}


def test_task_names_are_plain_strings() -> None:
    assert all(type(name) is str for name in NAMES)


def test_every_task_has_a_queue_and_a_route() -> None:
    assert set(QUEUE_OF_TASK) == NAMES
    assert {task: route["queue"] for task, route in routes().items() if task in NAMES} == QUEUE_OF_TASK


def test_every_stage_has_a_task_on_the_queue_of_its_name() -> None:
    assert {stage: str(queue_of(TASK_OF_STAGE[stage])) for stage in Stage} == {stage: stage.value for stage in Stage}


def test_every_queue_is_bound_by_its_own_key() -> None:
    queues = declared_queues(quorum=False)

    assert [queue.name for queue in queues] == [str(name) for name in QueueName]
    assert [queue.routing_key for queue in queues] == [str(name) for name in QueueName]


def test_rabbitmq_gets_quorum_queues() -> None:
    assert {queue.queue_arguments["x-queue-type"] for queue in declared_queues(quorum=True)} == {"quorum"}
