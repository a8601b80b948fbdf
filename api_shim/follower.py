"""One pub/sub connection per process, shared by all streams.

A reader subscribes to its turn's channel and is confirmed before it replays the log, so it misses nothing. Messages
are handed on as bytes. What pub/sub loses (a broken connection) is not repaired here: every reader is told to read
the log again. Silence is tested with PING; a server that does not answer in time is left and sought anew.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import redis.asyncio as aioredis
import structlog
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from workers.errors import StoreUnavailable
from workers.runtime.settings import RedisSettings

log = structlog.get_logger(__name__)

_RECONNECT_S = (0.05, 0.1, 0.25, 0.5, 1.0)


class Reader:
    """One stream's inbox. It holds at most `limit` messages; then it drops them all and says so."""

    def __init__(self, limit: int, confirmed: asyncio.Event, confirm_s: float) -> None:
        self._limit = limit
        self._confirmed = confirmed
        self._confirm_s = confirm_s
        self.on_overflow: Callable[[], None] | None = None
        self._messages: deque[bytes] = deque()
        self._woken = asyncio.Event()
        self.must_reread = False
        self.has_overflowed = False

    def push(self, message: bytes) -> None:
        if self.has_overflowed:
            return
        if len(self._messages) >= self._limit:
            self._messages.clear()
            self.has_overflowed = True
            if self.on_overflow is not None:
                self.on_overflow()
        else:
            self._messages.append(message)
        self._woken.set()

    def wake(self, *, reread: bool = False) -> None:
        self.must_reread = self.must_reread or reread
        self._woken.set()

    async def confirmed(self) -> None:
        """Wait until Redis delivers this channel to us; raises StoreUnavailable when it does not say so in time."""
        try:
            async with asyncio.timeout(self._confirm_s):
                await self._confirmed.wait()
        except TimeoutError as error:
            raise StoreUnavailable("Redis did not confirm a subscription") from error

    async def wait(self, timeout_s: float) -> bool:
        """Wait for something to do; false when the time passed in silence."""
        if not self._woken.is_set():
            try:
                async with asyncio.timeout(timeout_s):
                    await self._woken.wait()
            except TimeoutError:
                return False
        self._woken.clear()
        return True

    def take(self) -> list[bytes]:
        """Return what came in, oldest first."""
        taken = list(self._messages)
        self._messages.clear()
        return taken


@dataclass
class _Channel:
    """Who reads a channel, whether Redis delivers it now, and whether it failed to for a while."""

    readers: list[Reader] = field(default_factory=list)
    confirmed: asyncio.Event = field(default_factory=asyncio.Event)
    has_lost: bool = False


class Follower:
    """The process's ear. `silence_s`: after so long without a byte a PING is sent; after as long again we reconnect."""

    def __init__(self, settings: RedisSettings, *, silence_s: float = 5.0) -> None:
        self._confirm_s = settings.socket_timeout_s
        self._silence_s = silence_s
        # RESP2: one shape of reply for messages, confirmations and PONG.
        self._pool = aioredis.ConnectionPool.from_url(
            settings.url,
            protocol=2,
            socket_timeout=settings.socket_timeout_s,
            socket_connect_timeout=settings.socket_timeout_s,
            socket_keepalive=True,
            health_check_interval=0,
        )
        self._channels: dict[bytes, _Channel] = {}
        # A channel left and joined again at once is confirmed twice; only the last one counts.
        self._unconfirmed: dict[bytes, int] = {}
        self._connection: AbstractConnection | None = None
        self._listening: asyncio.Task[None] | None = None

    @property
    def followed(self) -> int:
        """How many channels are followed now."""
        return len(self._channels)

    def start(self) -> None:
        """Start listening on the running loop."""
        self._listening = asyncio.get_running_loop().create_task(self._keep_listening())

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listening
        await self._hang_up()
        await self._pool.disconnect()

    @asynccontextmanager
    async def follow(self, channel: str, *, limit: int) -> AsyncIterator[Reader]:
        """Ask for a channel; what is published after `reader.confirmed()` reaches the reader."""
        name = channel.encode()
        is_first = name not in self._channels
        joined = self._channels.setdefault(name, _Channel())
        reader = Reader(limit, joined.confirmed, self._confirm_s)
        joined.readers.append(reader)
        try:
            if is_first:
                await self._subscribe(name)
            yield reader
        finally:
            joined.readers.remove(reader)
            if not joined.readers:
                del self._channels[name]
                await self._send("UNSUBSCRIBE", name)

    async def _subscribe(self, *names: bytes) -> None:
        if self._connection is None:  # the next connection begins by subscribing to everything
            return
        for name in names:
            self._unconfirmed[name] = self._unconfirmed.get(name, 0) + 1
        await self._send("SUBSCRIBE", *names)

    async def _send(self, *command: Any) -> None:
        if self._connection is None:
            return
        with contextlib.suppress(RedisError, OSError):
            await self._connection.send_command(*command, check_health=False)

    async def _keep_listening(self) -> None:
        failures = 0
        while True:
            try:
                await self._listen()
            except (RedisError, OSError) as error:
                pause_s = _RECONNECT_S[min(failures, len(_RECONNECT_S) - 1)]
                log.warning("follower_disconnected", error=type(error).__name__, pause_s=pause_s)
                failures = 0 if self._connection is not None else failures + 1
                await self._hang_up()
                await asyncio.sleep(pause_s)

    async def _hang_up(self) -> None:
        connection, self._connection = self._connection, None
        self._unconfirmed.clear()
        for channel in self._channels.values():
            channel.confirmed.clear()
            channel.has_lost = True
        if connection is not None:
            with contextlib.suppress(RedisError, OSError):
                await connection.disconnect(nowait=True)

    async def _listen(self) -> None:
        """Connect, subscribe to all that is followed, hand messages on until the connection breaks."""
        connection: AbstractConnection = self._pool.make_connection()  # type: ignore[no-untyped-call] # untyped there
        await connection.connect()  # type: ignore[no-untyped-call] # the same
        self._connection = connection
        if self._channels:
            await self._subscribe(*self._channels)
        is_waiting_for_pong = False
        while True:
            reply = await connection.read_response(timeout=self._silence_s, disconnect_on_error=False)
            if reply is not None:
                is_waiting_for_pong = False
                self._hand_on(reply)
            elif is_waiting_for_pong:
                raise ConnectionError("no PONG in time")
            else:
                is_waiting_for_pong = True
                await connection.send_command("PING", check_health=False)

    def _hand_on(self, reply: Any) -> None:
        match reply:
            case [b"message", name, message]:
                channel = self._channels.get(name)
                for reader in channel.readers if channel else ():
                    reader.push(message)
            case [b"subscribe", name, _]:
                self._confirm(name)
            case _:  # confirmations of UNSUBSCRIBE, and PONG
                pass

    def _confirm(self, name: bytes) -> None:
        """Let those who joined go on; after a reconnect, tell everybody to read what was missed meanwhile."""
        left = self._unconfirmed.pop(name, 1) - 1
        if left > 0:
            self._unconfirmed[name] = left
            return
        channel = self._channels.get(name)
        if channel is None:
            return
        channel.confirmed.set()
        if channel.has_lost:
            channel.has_lost = False
            for reader in channel.readers:
                reader.wake(reread=True)
