"""Says no early: when the queues are so deep that a new turn could not be served in time."""

from __future__ import annotations

import asyncio
import contextlib

import structlog

from api_shim.failures import TooManyQueued
from tasks.publish import Publisher
from workers.errors import StoreUnavailable

log = structlog.get_logger(__name__)

_LOOK_EVERY_S = 0.5
_TURN_QUEUES = ("classification", "extraction", "calling", "formatting")


class Backlog:
    """How many messages wait, looked up twice a second off the hot path; admission only compares two numbers."""

    def __init__(self, publisher: Publisher, *, limit: int) -> None:
        self._publisher = publisher
        self._limit = limit
        self._looking: asyncio.Task[None] | None = None
        self.queued = 0

    def start(self) -> None:
        self._looking = asyncio.get_running_loop().create_task(self._keep_looking())

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._looking

    def require_room(self) -> None:
        """Raise TooManyQueued when the queues are full."""
        if self.queued >= self._limit:
            raise TooManyQueued

    def note(self, depth: int) -> None:
        """Take in the depth that publishing returned, which is fresher than the last look."""
        self.queued = max(self.queued, depth)

    async def _keep_looking(self) -> None:
        while True:
            try:
                depths = await self._publisher.depth()
                self.queued = sum(depths.get(queue, 0) for queue in _TURN_QUEUES)
            except StoreUnavailable:
                log.warning("backlog_unknown")
            await asyncio.sleep(_LOOK_EVERY_S)
