"""A Redis client whose ordinary commands share one connection.

redis-py lends each command a connection of its own and waits on it with a stream reader, a timeout and a retry object;
that costs more than the command. Here the commands of one loop turn leave in one write, and replies are matched in
order. Connecting (TLS, AUTH, HELLO, SELECT) is redis-py's own work; blocking commands, pipelines and pub/sub go its
way.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
from typing import Any

import hiredis
import redis.asyncio as aioredis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import InvalidResponse, ReadOnlyError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

_READ_BYTES = 65_536
_TRIES = 3
_PAUSE_S = 0.02
_MAY_BLOCK = frozenset({"XREAD", "XREADGROUP", "BLPOP", "BRPOP", "BLMOVE", "BZPOPMIN", "BZPOPMAX", "WAIT"})
_NOT_ENOUGH = object()
_NO_WRITES = ("MISCONF", "NOREPLICAS")
"""A full disk, too few replicas: redis-py has no class for a server that takes no writes for such a reason."""


class PipelinedRedis(aioredis.Redis):
    """Belongs to one event loop. Raises what redis-py raises; ReadOnlyError for any server that takes no writes."""

    _shared: SharedConnection | None = None

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        """Run one command; after a lost connection again, as redis-py's retry does: a script may then run twice."""
        name = args[0]
        if name in _MAY_BLOCK:
            return await super().execute_command(*args, **options)  # type: ignore[no-untyped-call] # half typed
        reply = await self._ask((*name.split(), *args[1:]) if " " in name else args)
        options.pop("keys", None)
        callback = self.response_callbacks.get(name)
        return callback(reply, **options) if callback else reply

    async def _ask(self, args: tuple[Any, ...]) -> Any:
        if self._shared is None:
            pool = self.connection_pool
            self._shared = SharedConnection(pool.connection_class(**pool.connection_kwargs))
        for tried in range(1, _TRIES):
            try:
                return await self._shared.ask(args)
            except RedisConnectionError:
                await asyncio.sleep(_PAUSE_S * tried)
        return await self._shared.ask(args)

    async def aclose(self, close_connection_pool: bool | None = None) -> None:  # noqa: FBT001 - redis-py's signature
        """Close the shared connection and whatever redis-py holds."""
        if self._shared is not None:
            await self._shared.close()
        await super().aclose(close_connection_pool)


class SharedConnection:
    """Commands in, replies out, in order. Connects when first asked, and again after a loss."""

    def __init__(self, connection: AbstractConnection) -> None:
        self._connection = connection
        self._timeout_s = float(connection.socket_timeout or 5.0)
        self._asked: collections.deque[tuple[float, asyncio.Future[Any]]] = collections.deque()
        self._unsent: list[bytes] = []
        self._reading: asyncio.Task[None] | None = None
        self._connecting = asyncio.Lock()

    async def ask(self, args: tuple[Any, ...]) -> Any:
        """Send a command and await its reply. Raises the reply's error, ConnectionError or TimeoutError (redis's)."""
        if self._reading is None:
            await self._connect()
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[Any] = loop.create_future()
        if not self._unsent:
            loop.call_soon(self._flush)
        self._unsent.append(hiredis.pack_command(args))
        self._asked.append((loop.time(), reply))
        return await reply

    async def close(self) -> None:
        reading, self._reading = self._reading, None
        if reading is not None:
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await reading
        await self._connection.disconnect()

    async def _connect(self) -> None:
        async with self._connecting:
            if self._reading is not None:
                return
            await self._connection.connect()  # type: ignore[no-untyped-call] # half typed
            self._reading = asyncio.get_running_loop().create_task(self._read())

    def _flush(self) -> None:
        unsent, self._unsent = self._unsent, []
        writer = self._connection._writer  # noqa: SLF001 - redis-py has no public way to its stream
        if writer is not None:
            writer.write(b"".join(unsent))

    async def _read(self) -> None:
        """Hand out replies until the connection ends, then tell everybody who still waits."""
        parser: Any = self._connection._parser  # noqa: SLF001 - it knows which error a reply means
        replies = hiredis.Reader(
            protocolError=InvalidResponse,
            replyError=parser.parse_error,
            notEnoughData=_NOT_ENOUGH,
            encoding="utf-8" if self._connection.encoder.decode_responses else None,
        )
        watch = asyncio.get_running_loop().create_task(self._watch())
        reason: Exception = RedisConnectionError("Redis closed the connection")
        try:
            stream: Any = self._connection._reader  # noqa: SLF001 - see above
            while data := await stream.read(_READ_BYTES):
                replies.feed(data)
                while (reply := replies.gets()) is not _NOT_ENOUGH:
                    self._hand_out(reply)
        except (OSError, InvalidResponse) as error:
            reason = RedisConnectionError(str(error))
        finally:
            watch.cancel()
            await self._lose(reason)

    def _hand_out(self, reply: Any) -> None:
        if isinstance(reply, hiredis.PushNotification):
            return
        _, waiting = self._asked.popleft()
        if waiting.done():  # who asked has gone away
            return
        if isinstance(reply, Exception):
            waiting.set_exception(_by_cause(reply))
        else:
            waiting.set_result(reply)

    async def _watch(self) -> None:
        """Cut a connection on which the oldest command waits too long: a silent network looks like this."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._timeout_s / 4)
            if self._asked and loop.time() - self._asked[0][0] > self._timeout_s:
                self._fail(RedisTimeoutError("Redis did not answer in time"))
                writer = self._connection._writer  # noqa: SLF001 - see above
                if writer is not None:
                    writer.transport.abort()

    async def _lose(self, reason: Exception) -> None:
        self._reading = None
        self._unsent.clear()
        self._fail(reason)
        await self._connection.disconnect(nowait=True)

    def _fail(self, reason: Exception) -> None:
        asked, self._asked = self._asked, collections.deque()
        for _, waiting in asked:
            if not waiting.done():
                waiting.set_exception(reason)


def _by_cause(error: Exception) -> Exception:
    refuses = isinstance(error, ResponseError) and str(error).startswith(_NO_WRITES)
    return ReadOnlyError(str(error)) if refuses else error
