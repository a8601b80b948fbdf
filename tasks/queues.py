"""The queues, and which task goes to which.

    queue           tasks                                    one message is
    classification  signalbox.classify, signalbox.search     a turn to route, a text to search for
    extraction      signalbox.extract                        a turn whose slots are to be filled
    calling         signalbox.call, signalbox.call_part      one API call (a chord's header has several)
    formatting      signalbox.format                         a turn to answer (a chord's body)
    indexing        signalbox.index                          an endpoint to index
                    signalbox.look_at_sources                a round over the scheduled sources
                    signalbox.refresh_source                 a run of one source
    maintenance     signalbox.sweep, Celery's own tasks      a round of housekeeping

A queue's name is also its routing key: without one of its own, every queue would be bound by the default key.
"""

from __future__ import annotations

from enum import StrEnum

from kombu.entity import Exchange, Queue

from schemas.commands import Stage
from tasks import names


class QueueName(StrEnum):
    """The queues of the house; the first four are the stages of a turn."""

    CLASSIFICATION = "classification"
    EXTRACTION = "extraction"
    CALLING = "calling"
    FORMATTING = "formatting"
    INDEXING = "indexing"
    MAINTENANCE = "maintenance"


QUEUE_OF_TASK: dict[str, QueueName] = {
    names.CLASSIFY: QueueName.CLASSIFICATION,
    names.EXTRACT: QueueName.EXTRACTION,
    names.CALL: QueueName.CALLING,
    names.CALL_PART: QueueName.CALLING,
    names.FORMAT: QueueName.FORMATTING,
    names.INDEX: QueueName.INDEXING,
    names.LOOK_AT_SOURCES: QueueName.INDEXING,
    names.REFRESH_SOURCE: QueueName.INDEXING,
    names.SEARCH: QueueName.CLASSIFICATION,
    names.SWEEP: QueueName.MAINTENANCE,
}

TASK_OF_STAGE: dict[Stage, str] = {
    Stage.CLASSIFICATION: names.CLASSIFY,
    Stage.EXTRACTION: names.EXTRACT,
    Stage.CALLING: names.CALL,
    Stage.FORMATTING: names.FORMAT,
}

_EXCHANGE = Exchange("signalbox", type="direct")  # type: ignore[no-untyped-call] # kombu is half typed


def queue_of(task: str) -> QueueName:
    """Return the queue of a task; one we do not know goes to maintenance."""
    return QUEUE_OF_TASK.get(task, QueueName.MAINTENANCE)


def declared_queues(*, quorum: bool) -> tuple[Queue, ...]:
    """Build the queue objects. `quorum` asks RabbitMQ for replicated ones; Redis has no such thing."""
    return tuple(_queue(str(name), {"x-queue-type": "quorum"} if quorum else None) for name in QueueName)


def _queue(name: str, arguments: dict[str, str] | None) -> Queue:
    return Queue(name, _EXCHANGE, routing_key=name, queue_arguments=arguments)  # type: ignore[no-untyped-call]


def routes() -> dict[str, dict[str, str]]:
    """Return Celery's routing table: every task by name, and Celery's own to maintenance."""
    table = {task: {"queue": str(queue)} for task, queue in QUEUE_OF_TASK.items()}
    return {**table, "celery.*": {"queue": str(QueueName.MAINTENANCE)}}
