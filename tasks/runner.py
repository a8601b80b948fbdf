"""One event loop per worker process, in a thread of its own, with the threads that blocking calls may use."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from workers.runtime.telemetry import LOOP_LAG_SECONDS

T = TypeVar("T")

_LAG_PROBE_S = 0.25
_BLOCKING_THREADS = 8


def _new_loop() -> asyncio.AbstractEventLoop:
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    import uvloop

    return uvloop.new_event_loop()


class Runner:
    """Runs coroutines for code that lives in other threads."""

    def __init__(self) -> None:
        self.loop = _new_loop()
        self.executor = ThreadPoolExecutor(_BLOCKING_THREADS, thread_name_prefix="blocking")
        self.is_stopping = False
        self.running: set[asyncio.Task[object]] = set()
        self._thread = threading.Thread(target=self._run, name="event-loop", daemon=True)
        self._lag: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the loop; returns once it turns."""
        self._thread.start()
        self.call(self._begin(), timeout_s=10)

    def call(self, coroutine: Coroutine[object, object, T], *, timeout_s: float | None = None) -> T:
        """Run a coroutine on the loop and wait for it here. Not for the loop's own thread."""
        return self.submit(coroutine).result(timeout_s)

    def submit(self, coroutine: Coroutine[object, object, T]) -> Future[T]:
        """Start a coroutine on the loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    def cut_short_after(self, grace_s: float) -> None:
        """Cancel, after the grace, the tasks that still run then; each gives its message back."""
        self.loop.call_soon_threadsafe(self.loop.call_later, grace_s, self._cut_short)

    def _cut_short(self) -> None:
        self.is_stopping = True
        for task in tuple(self.running):
            task.cancel()

    def stop(self) -> None:
        """Stop the loop and its threads; what still runs is cancelled."""
        if not self._thread.is_alive():
            return
        self.call(self._end(), timeout_s=10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=10)
        self.executor.shutdown(wait=False, cancel_futures=True)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.set_default_executor(self.executor)
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()

    async def _begin(self) -> None:
        self._lag = asyncio.get_running_loop().create_task(_measure_lag())

    async def _end(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


async def _measure_lag() -> None:
    """Observe how much longer than asked a sleep takes: something blocked the loop for about that long."""
    while True:
        asleep_at = time.perf_counter()
        await asyncio.sleep(_LAG_PROBE_S)
        LOOP_LAG_SECONDS.observe(max(0.0, time.perf_counter() - asleep_at - _LAG_PROBE_S))
