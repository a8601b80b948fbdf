"""The events of one turn, each once and in order: what the log holds first, then what happens.

Ids are dense, so a repeated event and a hole are seen at once; a hole is filled from the log.
"""

from __future__ import annotations

import asyncio

import structlog
from pydantic import TypeAdapter

from api_shim.follower import Reader
from schemas.base import Frozen
from schemas.events import TurnEvent
from workers.errors import StoreUnavailable
from workers.eventlog.log import EventLog

log = structlog.get_logger(__name__)

Entry = tuple[str, TurnEvent]

_RETRY_READ_S = 0.5


class _Published(Frozen):
    id: str
    event: TurnEvent


_PUBLISHED = TypeAdapter(_Published)


def place_of(entry_id: str) -> int:
    """Return the event's number, from 1: ids are `<number>-0`."""
    return int(entry_id.partition("-")[0])


class Tail:
    """Follows one turn from the event after `after`. With `is_replaying` it begins with the log."""

    def __init__(self, reader: Reader, log: EventLog, turn_id: str, *, after: int = 0, is_replaying: bool) -> None:
        self._reader = reader
        self._log = log
        self._turn_id = turn_id
        self._after = after
        reader.must_reread = is_replaying

    async def next(self, timeout_s: float) -> list[Entry]:
        """Return what came since; empty after that many seconds of silence, or when somebody woke the reader.

        Silence also looks into the log once, so that nothing that pub/sub lost stays lost.
        """
        if not self._reader.must_reread and not await self._reader.wait(timeout_s):
            self._reader.must_reread = True
        if self._reader.must_reread:
            return await self._reread()
        return await self._accept(self._reader.take())

    async def _accept(self, messages: list[bytes]) -> list[Entry]:
        accepted: list[Entry] = []
        for message in messages:
            published = _PUBLISHED.validate_json(message)
            place = place_of(published.id)
            if place > self._after + 1:
                return accepted + await self._reread()
            if place == self._after + 1:
                self._after = place
                accepted.append((published.id, published.event))
        return accepted

    async def _reread(self) -> list[Entry]:
        """Read the log; what waits in the inbox is dropped by its id later, or read here already."""
        self._reader.must_reread = False
        try:
            entries = await self._log.read(self._turn_id, after=f"{self._after}-0")
        except StoreUnavailable:
            log.warning("log_not_read", turn_id=self._turn_id)
            self._reader.must_reread = True
            await asyncio.sleep(_RETRY_READ_S)
            return []
        if entries:
            self._after = place_of(entries[-1][0])
        return entries
