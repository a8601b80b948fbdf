"""How any process puts work on a queue, without blocking its event loop and without loading a room."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Self
from uuid import uuid4

import redis.asyncio as aioredis
from celery import Celery
from kombu.exceptions import OperationalError
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff
from redis.exceptions import RedisError

from schemas.commands import Command
from tasks import names
from tasks.configuration import broker_prefix, broker_url, is_redis
from tasks.envelope import PUBLISHED_AT, TaskMessage, Trace, envelope
from tasks.queues import TASK_OF_STAGE, QueueName, queue_of
from workers.errors import StoreUnavailable
from workers.runtime.clock import utc_now
from workers.runtime.settings import Settings

# A broken connection is made anew within about a second; longer outages are for the caller to bear.
_TRIES_AGAIN = 3

_Sent = tuple[tuple[str, ...] | tuple[str, str, bytes], "asyncio.Future[Any]"]


class Publisher:
    """Writes task messages. Belongs to one event loop; every method raises StoreUnavailable without a broker."""

    def __init__(self, settings: Settings, *, app: Celery | None = None) -> None:
        self._app = app
        self._expires_s = settings.queue.message_expires_s
        self._prefix = broker_prefix(settings.redis)
        url = broker_url(settings)
        self._pipe = _Pipe(url, timeout_s=settings.redis.socket_timeout_s) if is_redis(url) else None

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
        if self._pipe is None:
            await asyncio.to_thread(_send_through_celery, self._celery(), message)
            return 0
        return int(await self._pipe.run("LPUSH", self._prefix + message.queue, envelope(message)))

    async def depth(self) -> dict[str, int]:
        """Count the waiting messages of each queue."""
        if self._pipe is None:
            return await asyncio.to_thread(_depth_through_celery, self._celery())
        pipe = self._pipe
        counts = await asyncio.gather(*(pipe.run("LLEN", self._prefix + queue) for queue in QueueName))
        return {str(queue): int(count) for queue, count in zip(QueueName, counts, strict=True)}

    def _celery(self) -> Celery:
        """Return the app through which a broker that is not Redis is asked: the process's, unless one was given."""
        if self._app is None:
            from tasks.app import app

            self._app = app
        return self._app

    async def close(self) -> None:
        """Close the connection; what was sent before has its answer already."""
        if self._pipe is not None:
            await self._pipe.close()


class _Pipe:
    """One connection to Redis. Commands asked for while a reply is under way travel together in the next batch."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        # redis-py tries a lost command again: a message may then arrive twice, which changes nothing, but never less.
        self._redis = aioredis.Redis.from_url(
            url,
            max_connections=1,
            retry=Retry(ExponentialWithJitterBackoff(base=0.02, cap=0.5), _TRIES_AGAIN),
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            socket_keepalive=True,
            health_check_interval=15,
        )
        self._waiting: list[_Sent] = []
        self._writer: asyncio.Task[None] | None = None

    async def run(self, *command: str | bytes) -> Any:
        """Send one command and await its reply. Raises StoreUnavailable for a lost connection and for -ERR."""
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[Any] = loop.create_future()
        self._waiting.append((command, reply))  # type: ignore[arg-type] # both shapes are tuples of str and bytes
        if self._writer is None:
            self._writer = loop.create_task(self._write())
        return await reply

    async def close(self) -> None:
        if self._writer is not None:
            await self._writer
        await self._redis.aclose()

    async def _write(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting, []
                await self._write_batch(batch)
        finally:
            self._writer = None

    async def _write_batch(self, batch: list[_Sent]) -> None:
        pipeline = self._redis.pipeline(transaction=False)
        for command, _reply in batch:
            pipeline.execute_command(*command)
        try:
            answers: list[Any] = await pipeline.execute(raise_on_error=False)
        except (RedisError, OSError) as error:
            answers = [error] * len(batch)
        except asyncio.CancelledError:
            for _command, reply in batch:
                reply.cancel()
            raise
        for (_command, reply), answer in zip(batch, answers, strict=True):
            _settle(reply, answer)


def _settle(reply: asyncio.Future[Any], answer: object) -> None:
    if reply.done():  # who asked has gone away; the message is sent all the same
        return
    if isinstance(answer, Exception):
        failure = StoreUnavailable(f"the broker refused: {answer}")
        failure.__cause__ = answer
        reply.set_exception(failure)
    else:
        reply.set_result(answer)


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
