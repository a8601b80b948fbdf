"""How any process puts work on a queue, without blocking its event loop and without loading a room."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Self
from uuid import uuid4

from celery import Celery
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from schemas.commands import Command
from tasks import names
from tasks.configuration import broker_prefix, broker_url, is_redis
from tasks.envelope import PUBLISHED_AT, TaskMessage, Trace, envelope
from tasks.queues import TASK_OF_STAGE, QueueName, queue_of
from workers.errors import StoreUnavailable
from workers.runtime.clock import utc_now
from workers.runtime.redis import async_client
from workers.runtime.settings import Settings


class Publisher:
    """Writes task messages. Belongs to one event loop; every method raises StoreUnavailable without a broker."""

    def __init__(self, settings: Settings, *, app: Celery | None = None) -> None:
        self._app = app
        self._expires_s = settings.queue.message_expires_s
        self._prefix = broker_prefix(settings.redis)
        url = broker_url(settings)
        broker = settings.redis.model_copy(update={"url": url})
        self._redis = async_client(broker) if is_redis(url) else None

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Build a publisher; it connects when it first has something to send."""
        return cls(settings)

    async def stage(self, command: Command, *, trace: Trace | None = None) -> int:
        """Ask for a turn's stage. Returns the depth of its queue after the push, 0 when the broker does not tell.

        Raises ValueError for a fan-out, which only a worker's `dispatch` can start.
        """
        if command.fan_out > 1:
            raise ValueError("a fan-out is a chord; dispatch it")
        return await self.send(TASK_OF_STAGE[command.stage], (command.turn_id,), trace=trace)

    async def index(self, endpoint_id: str, *, trace: Trace | None = None) -> int:
        """Ask for an endpoint to be indexed. Returns the depth of the queue as `stage` does."""
        return await self.send(names.INDEX, (endpoint_id,), trace=trace)

    async def send(
        self, task: str, args: Sequence[str | int], *, trace: Trace | None = None, task_id: str | None = None
    ) -> int:
        """Publish any task by its wire name; returns only when the broker has it."""
        message = TaskMessage(
            task=task,
            args=args,
            task_id=task_id or str(uuid4()),
            queue=str(queue_of(task)),
            now=utc_now(),
            expires_s=self._expires_s,
            trace=trace,
        )
        if self._redis is None:
            await asyncio.to_thread(_send_through_celery, self._celery(), message)
            return 0
        return await self._ask("LPUSH", self._prefix + message.queue, envelope(message))

    async def depth(self) -> dict[str, int]:
        """Count the waiting messages of each queue."""
        if self._redis is None:
            return await asyncio.to_thread(_depth_through_celery, self._celery())
        counts = await asyncio.gather(*(self._ask("LLEN", self._prefix + queue) for queue in QueueName))
        return {str(queue): count for queue, count in zip(QueueName, counts, strict=True)}

    async def _ask(self, *command: str | bytes) -> int:
        """Send one command of a list. A lost one is sent again: a message may arrive twice, but never less."""
        if self._redis is None:
            raise TypeError("this broker has no lists")
        try:
            return int(await self._redis.execute_command(*command))  # type: ignore[no-untyped-call] # half typed
        except (RedisError, OSError) as error:
            raise StoreUnavailable(f"the broker refused: {error}") from error

    def _celery(self) -> Celery:
        """Return the app through which a broker that is not Redis is asked: the process's, unless one was given."""
        if self._app is None:
            from tasks.app import app

            self._app = app
        return self._app

    async def close(self) -> None:
        """Close the connection; what was sent before has its answer already."""
        if self._redis is not None:
            await self._redis.aclose()
            await self._redis.connection_pool.disconnect()


def _send_through_celery(app: Celery, message: TaskMessage) -> None:
    """Publish to a broker that is not Redis; blocks, so only in a thread."""
    trace = message.trace
    try:
        app.send_task(
            message.task,
            args=list(message.args),
            task_id=message.task_id,
            queue=message.queue,
            expires=message.expires_s,
            ignore_result=True,
            root_id=trace.root_id if trace else None,
            parent_id=trace.parent_id if trace else None,
            headers={PUBLISHED_AT: message.now.timestamp()},
        )
    except (OperationalError, OSError) as error:
        raise StoreUnavailable("the broker did not take the message") from error


def _depth_through_celery(app: Celery) -> dict[str, int]:
    try:
        with app.connection_for_read() as connection, connection.channel() as channel:
            queues = app.amqp.queues
            return {
                str(name): int(queues[str(name)].bind(channel).queue_declare(passive=True).message_count)
                for name in QueueName
            }
    except (OperationalError, OSError) as error:
        raise StoreUnavailable("the broker did not count its queues") from error
