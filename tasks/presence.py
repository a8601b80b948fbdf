"""Says, every second, which queues this worker serves; the door's readiness reads it."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any

import structlog
from celery import signals

from tasks.process import process
from workers.errors import StoreUnavailable
from workers.runtime.keys import Keys
from workers.runtime.presence import ANNOUNCE_EVERY_S, Presence

log = structlog.get_logger(__name__)

_announcing: list[Future[None]] = []


@signals.worker_ready.connect  # type: ignore[untyped-decorator] # Celery ships no types
def begin(sender: Any, **_: Any) -> None:
    """Announce the worker once it consumes; the loop that stops with the process ends this too."""
    queues = tuple(str(queue) for queue in sender.app.amqp.queues.consume_from)
    _announcing[:] = [process().runner.submit(_keep_announcing(str(sender.hostname), queues))]


@signals.worker_shutting_down.connect  # type: ignore[untyped-decorator] # Celery ships no types
def end(**_: Any) -> None:
    """Leave the lists as soon as nothing new is taken, though running tasks may go on for a while."""
    for announcing in _announcing:
        announcing.cancel()


async def _keep_announcing(worker: str, queues: tuple[str, ...]) -> None:
    opened = process()
    presence = Presence(opened.redis, Keys(opened.settings.redis.key_prefix))
    try:
        while True:
            try:
                await presence.announce(worker, queues)
            except StoreUnavailable as error:
                log.warning("worker_not_announced", error=str(error))
            await asyncio.sleep(ANNOUNCE_EVERY_S)
    except asyncio.CancelledError:
        await presence.leave(worker, queues)
        raise
