"""Turns a command into messages. The only file that knows Celery's chord.

One call, or any other stage: one message. Several calls at once: a chord, whose header is one `call_part` for each
call and whose body is the turn's `format`. The body is also its own errback: however the header ends, it ends in the
answer, which says what is missing. Nothing reads the parts' results; they only count.
"""

from __future__ import annotations

import asyncio
import time

from celery import chord
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from schemas.commands import Command, Stage
from tasks import names
from tasks.app import app
from tasks.current import current_request
from tasks.envelope import PUBLISHED_AT, Trace
from tasks.job import trace_of
from tasks.process import process
from tasks.queues import QueueName
from workers.errors import StoreUnavailable


async def dispatch(command: Command | None) -> None:
    """Send what the turn asks for; None asks for nothing. Raises StoreUnavailable without a broker."""
    if command is None:
        return
    trace = trace_of(current_request.get())
    if command.stage is Stage.CALLING and command.fan_out > 1:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(process().runner.executor, _start_chord, command, trace)
    else:
        await process().publisher.stage(command, trace=trace)


def _start_chord(command: Command, trace: Trace | None) -> None:
    """Publish a fan-out; blocks for a few milliseconds."""
    expires_s = process().settings.queue.message_expires_s
    family = {"root_id": trace.root_id, "parent_id": trace.parent_id} if trace else {}
    header = [
        app.signature(
            names.CALL_PART,
            args=(command.turn_id, index),
            immutable=True,
            queue=str(QueueName.CALLING),
            expires=expires_s,
            ignore_result=False,
            headers={PUBLISHED_AT: time.time()},
        )
        for index in range(command.fan_out)
    ]
    body = app.signature(
        names.FORMAT,
        args=(command.turn_id,),
        immutable=True,
        queue=str(QueueName.FORMATTING),
        expires=expires_s,
        ignore_result=True,
    )
    body.on_error(body.clone())
    try:
        chord(header, body, app=app).apply_async(add_to_parent=False, **family)
    except (KombuError, RedisError, OSError) as error:
        raise StoreUnavailable("the broker did not take the calls") from error
