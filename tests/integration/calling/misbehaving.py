"""An HTTP/1.1 server that misbehaves on order (see behaviours). It logs every request that it has read completely."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

from tests.integration.calling.behaviours import BEHAVIOURS


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Misbehaving:
    """A running server; `seen` is its log, in order of arrival."""

    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    sent_blocks: int = 0
    at_once: int = 0
    most_at_once: int = 0
    redirect_to: str = "http://127.0.0.1:9/elsewhere"

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def count(self, path: str) -> int:
        return sum(1 for request in self.seen if request.target.partition("?")[0] == path)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer.transport), contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while request := await _read_request(reader):
                self.seen.append(request)
                self.arrived.set()
                self.at_once += 1
                self.most_at_once = max(self.most_at_once, self.at_once)
                try:
                    await BEHAVIOURS[request.target.partition("?")[0].split("/")[1]](self, request, writer)
                finally:
                    self.at_once -= 1
                if writer.is_closing():
                    break
            await writer.drain()


@contextlib.asynccontextmanager
async def running() -> AsyncIterator[Misbehaving]:
    server = Misbehaving()
    handlers: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(server.serve(reader, writer))
        handlers.add(task)
        task.add_done_callback(handlers.discard)

    listener = await asyncio.start_server(accept, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()
        for task in tuple(handlers):
            task.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)
        await asyncio.sleep(0)  # transports close on the loop's next round


@contextlib.contextmanager
def running_beside() -> Iterator[Misbehaving]:
    """Run the server on a loop and a thread of its own, for tests that wait for whole turns."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    serving = running()
    try:
        yield asyncio.run_coroutine_threadsafe(serving.__aenter__(), loop).result(timeout=10)
    finally:
        asyncio.run_coroutine_threadsafe(serving.__aexit__(None, None, None), loop).result(timeout=10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)
        loop.close()


async def _read_request(reader: asyncio.StreamReader) -> Seen | None:
    line = await reader.readline()
    if not line:
        return None
    method, target, _ = line.decode().split()
    headers: dict[str, str] = {}
    while (line := await reader.readline()) not in (b"\r\n", b""):
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Seen(method, target, headers, body)
