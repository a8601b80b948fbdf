"""Ways to leave: the client closes its connection, or the process is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType

from starlette.types import Receive


@asynccontextmanager
async def watching_client(receive: Receive, on_leave: Callable[[], None]) -> AsyncIterator[None]:
    """Call `on_leave` once when the client has closed its connection. The body must have been read before."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        on_leave()

    watcher = asyncio.get_running_loop().create_task(watch())
    try:
        yield
    finally:
        watcher.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watcher


@contextmanager
def farewell_on_signal(say_farewell: Callable[[], None]) -> Iterator[None]:
    """Call `say_farewell` on the running loop when SIGTERM or SIGINT comes, before the server's own handler.

    The server closes the lifespan only after every connection has ended, which is too late for open streams: they
    must hear of it from the signal. Off the main thread (tests) there are no signals to hear.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def leave(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(say_farewell)
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)

    for number in before:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is leave:
                signal.signal(number, handler)
