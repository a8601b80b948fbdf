"""Server-sent events over raw ASGI: one task a stream and a watcher, no framework between the event and the socket.

The head and a comment leave at once. Comments keep the line alive whatever the turn does. A client that leaves frees
its reader at once, and its turn goes on. A reader that is too slow is cut; its last id says from where to resume.
"""

from __future__ import annotations

import asyncio
import time
from datetime import datetime, timedelta

import structlog
from starlette.types import Receive, Send

from api_shim import sse
from api_shim.departure import watching_client
from api_shim.door import Door
from api_shim.failures import new_error_id, sentence
from api_shim.follower import Reader
from api_shim.frames import FrameWriter
from api_shim.tail import Entry, Tail, place_of
from schemas.endpoints import Language
from schemas.events import TERMINAL_TYPES
from schemas.failures import FailureCode
from schemas.turns import TurnRequest

log = structlog.get_logger(__name__)

HEADERS = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
)
RETRY_MS = 1_000
STALLED_S = 30.0
"""A client that takes no byte for so long is gone, whatever its socket says."""

LATE = timedelta(seconds=10)
"""How far past its deadline a turn may be before we stop waiting: the sweep ends it within a few seconds."""


def patience_s(request: TurnRequest, *, now: datetime, at_most_s: float) -> float:
    """How long a reader may wait in silence: until the turn counts as late, and no longer than `at_most_s`."""
    return max(0.0, min(at_most_s, (request.deadline_at + LATE - now).total_seconds()))


class Outlet:
    """The socket's side of a stream. `patience` ends the stream when one write takes too long."""

    def __init__(self, send: Send, patience: asyncio.Timeout) -> None:
        self._send = send
        self._patience = patience
        self._last_byte = time.monotonic()

    @property
    def quiet_s(self) -> float:
        """Seconds since the last byte."""
        return time.monotonic() - self._last_byte

    async def open(self, turn_id: str, first: bytes) -> None:
        """Send the head and the first bytes."""
        headers = [*HEADERS, (b"x-turn-id", turn_id.encode())]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self.write(first)

    async def write(self, data: bytes, *, is_last: bool = False) -> None:
        """Send bytes; the socket's own buffer bounds what a slow client may leave lying."""
        self._patience.reschedule(asyncio.get_running_loop().time() + STALLED_S)
        await self._send({"type": "http.response.body", "body": data, "more_body": not is_last})
        self._patience.reschedule(None)
        self._last_byte = time.monotonic()

    def cut(self) -> None:
        """End the stream at its next wait, even in the middle of a write."""
        self._patience.reschedule(asyncio.get_running_loop().time())


class Stream:
    """One reader's view of one turn. `seen` is the number of the last event that an earlier connection brought."""

    def __init__(
        self, door: Door, request: TurnRequest, *, reader: Reader, tail: Tail, frames: FrameWriter, language: Language
    ) -> None:
        self._door = door
        self._request = request
        self._reader = reader
        self._tail = tail
        self._frames = frames
        self._language = language
        self._seen = 0
        self._is_first_look = True
        self._client_left = False
        self._must_leave = False

    async def run(self, receive: Receive, send: Send, *, first: bytes, seen: int = 0) -> None:
        """Send everything after event number `seen`; returns when the stream has ended, for whatever reason."""
        self._seen = seen
        self._is_first_look = seen == 0
        door = self._door
        door.open_streams.add(self._leave)
        door.metrics.streams.inc()
        try:
            async with watching_client(receive, self._client_leaves), asyncio.timeout(None) as patience:
                outlet = Outlet(send, patience)
                self._reader.on_overflow = outlet.cut
                await outlet.open(self._request.turn_id, first)
                await self._tell(outlet)
        except TimeoutError:
            door.metrics.cut.inc()
            log.info("stream_cut", turn_id=self._request.turn_id)
        finally:
            door.metrics.streams.dec()
            door.open_streams.discard(self._leave)

    def _leave(self) -> None:
        self._must_leave = True
        self._reader.wake()

    def _client_leaves(self) -> None:
        self._client_left = True
        self._reader.wake()

    async def _tell(self, outlet: Outlet) -> None:
        """Follow to the end; a bug of ours is told like any failure, since bytes were sent already."""
        try:
            await self._follow(outlet)
        except Exception:
            error_id = new_error_id(self._door.clock())
            log.exception("stream_failed", turn_id=self._request.turn_id, error_id=error_id)
            await outlet.write(self._failure(FailureCode.INTERNAL, error_id), is_last=True)

    async def _follow(self, outlet: Outlet) -> None:
        heartbeat_s = self._door.settings.shim.heartbeat_s
        while not self._client_left:
            if self._must_leave:
                await outlet.write(
                    sse.farewell("this instance stops; resume elsewhere", retry_ms=RETRY_MS), is_last=True
                )
                return
            silence_s = heartbeat_s - outlet.quiet_s
            entries = await self._tail.next(patience_s(self._request, now=self._door.clock(), at_most_s=silence_s))
            data, is_over = self._frames_of(entries)
            if not is_over and self._is_late():
                data, is_over = self._failure(FailureCode.DEADLINE, new_error_id(self._door.clock())), True
            if is_over:
                await outlet.write(data, is_last=True)
                return
            if data or outlet.quiet_s >= heartbeat_s:
                await outlet.write(data or sse.comment("ping"))

    def _frames_of(self, entries: list[Entry]) -> tuple[bytes, bool]:
        """Write the new events' frames; also say whether the turn is over."""
        now_ms = int(time.time() * 1000)
        written: list[bytes] = []
        for entry_id, event in entries:
            is_last = event.type in TERMINAL_TYPES
            if place_of(entry_id) > self._seen:
                written.append(self._frames.write(entry_id, event, now_ms=now_ms))
                self._measure(event.type)
            elif is_last:
                written.append(self._frames.end(entry_id, now_ms=now_ms))
            else:
                self._frames.skip(event)
            if is_last:
                self._door.metrics.turns.labels(event.type).inc()
                return b"".join(written), True
        return b"".join(written), False

    def _measure(self, event_type: str) -> None:
        if self._is_first_look and (event_type == "token" or event_type in TERMINAL_TYPES):
            self._is_first_look = False
            elapsed = self._door.clock() - self._request.accepted_at
            self._door.metrics.first_token.observe(elapsed.total_seconds())

    def _is_late(self) -> bool:
        return self._door.clock() >= self._request.deadline_at + LATE

    def _failure(self, code: FailureCode, error_id: str) -> bytes:
        told = sentence(code, self._language, error_id=error_id)
        return self._frames.failure(told, code=code, error_id=error_id, now_ms=int(time.time() * 1000))
