"""How any process puts work on a queue, without blocking its event loop and without loading a room."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Self
from uuid import uuid4

from celery import Celery
from kombu.exceptions import KombuError, OperationalError
from redis.asyncio import Redis
from redis.exceptions import RedisError

from schemas.commands import Command, Stage
from tasks import names
from tasks.chords import Chord, chord_of
from tasks.configuration import broker_prefix, broker_url, is_redis, result_prefix
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
        self._results_prefix = result_prefix(settings.redis)
        self._results_expire_s = settings.queue.result_expires_s
        self._counts_chords = self._redis is not None and url == settings.redis.url

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Build a publisher; it connects when it first has something to send."""
        return cls(settings)

    async def stage(self, command: Command, *, trace: Trace | None = None) -> int:
        """Ask for a turn's stage: one message, or a chord for several calls.

        A chord's header is one `call_part` for each call, its body the turn's `format`. The body is also its own
        errback: however the header ends, it ends in the answer, which says what is missing. Returns the depth of the
        queue after the push, 0 when the broker does not tell.
        """
        if command.stage is not Stage.CALLING or command.fan_out == 1:
            return await self.send(TASK_OF_STAGE[command.stage], (command.turn_id,), trace=trace)
        numbers = range(command.fan_out)
        parts = [self._message(names.CALL_PART, (command.turn_id, index), trace=trace) for index in numbers]
        chord = chord_of(parts, self._message(names.FORMAT, (command.turn_id,), trace=trace))
        if self._redis is None or not self._counts_chords:
            await asyncio.to_thread(_start_through_celery, self._celery(), chord)
            return 0
        return await self._start(self._redis, chord)

    async def _start(self, redis: Redis, chord: Chord) -> int:
        """Send all parts and their count in one packet; when that is sent again, each part still counts once."""
        queue = self._prefix + chord.parts[0].queue
        try:
            async with redis.pipeline(transaction=True) as packet:
                packet.set(self._results_prefix + chord.size_key, len(chord.parts), ex=self._results_expire_s)
                packet.lpush(queue, *(envelope(part) for part in chord.parts))
                _, depth = await packet.execute()
        except (RedisError, OSError) as error:
            raise StoreUnavailable(f"the broker refused: {error}") from error
        return int(depth)

    async def index(self, endpoint_id: str, *, trace: Trace | None = None) -> int:
        """Ask for an endpoint to be indexed. Returns the depth of the queue as `stage` does."""
        return await self.send(names.INDEX, (endpoint_id,), trace=trace)

    async def send(
        self, task: str, args: Sequence[str | int], *, trace: Trace | None = None, task_id: str | None = None
    ) -> int:
        """Publish any task by its wire name; returns only when the broker has it."""
        message = self._message(task, args, trace=trace, task_id=task_id)
        if self._redis is None:
            await asyncio.to_thread(_send_through_celery, self._celery(), message)
            return 0
        return await self._ask("LPUSH", self._prefix + message.queue, envelope(message))

    def _message(
        self, task: str, args: Sequence[str | int], *, trace: Trace | None, task_id: str | None = None
    ) -> TaskMessage:
        return TaskMessage(
            task=task,
            args=args,
            task_id=task_id or str(uuid4()),
            queue=str(queue_of(task)),
            now=utc_now(),
            expires_s=self._expires_s,
            trace=trace,
        )

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


def _start_through_celery(app: Celery, chord: Chord) -> None:
    """Publish a fan-out to any broker, a few milliseconds long; blocks, so only in a thread."""
    from celery import chord as celery_chord

    header = [
        _signature(app, part, ignore_result=False, headers={PUBLISHED_AT: part.now.timestamp()}) for part in chord.parts
    ]
    body = _signature(app, chord.body, ignore_result=True)
    body.on_error(body.clone())
    trace = chord.body.trace
    family = {"root_id": trace.root_id, "parent_id": trace.parent_id} if trace else {}
    try:
        celery_chord(header, body, app=app).apply_async(add_to_parent=False, **family)
    except (KombuError, RedisError, OSError) as error:
        raise StoreUnavailable("the broker did not take the calls") from error


def _signature(app: Celery, message: TaskMessage, **options: object) -> Any:
    return app.signature(
        message.task, args=message.args, immutable=True, queue=message.queue, expires=message.expires_s, **options
    )


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
