"""The same stages, store and shim over taskiq (Redis list) in the place of Celery: the peer among queues."""

from __future__ import annotations

import logging
from typing import Any

from taskiq import TaskiqEvents, TaskiqState
from taskiq_redis import ListQueueBroker

from schemas.commands import Command, Stage
from tests.bench.instant import instant_steps
from workers.runtime.redis import async_client
from workers.runtime.settings import settings
from workers.turn.steps import Steps

logging.disable(logging.INFO)
broker = ListQueueBroker(settings().redis.url, queue_name="bench-taskiq")
_steps: list[Steps] = []


@broker.on_event(TaskiqEvents.WORKER_STARTUP)
async def open_steps(_: TaskiqState) -> None:
    _steps.append(instant_steps(async_client(settings().redis), settings())[1])


async def send(command: Command | None) -> None:
    """Put the command's stage on the queue."""
    if command is not None:
        await TASKS[command.stage].kiq(command.turn_id)


@broker.task
async def classify(turn_id: str) -> None:
    await send(await _steps[0].classify(turn_id))


@broker.task
async def extract(turn_id: str) -> None:
    await send(await _steps[0].extract(turn_id))


@broker.task
async def call(turn_id: str) -> None:
    await send(await _steps[0].call(turn_id))


@broker.task(task_name="format")
async def format_(turn_id: str) -> None:
    await send(await _steps[0].format(turn_id))


TASKS: dict[Stage, Any] = {
    Stage.CLASSIFICATION: classify,
    Stage.EXTRACTION: extract,
    Stage.CALLING: call,
    Stage.FORMATTING: format_,
}
