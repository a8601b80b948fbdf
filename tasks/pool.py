"""A Celery pool whose tasks are coroutines on one event loop.

    celery -A tasks.app worker                               (worker_pool is set by QUEUE_POOL=asyncio)
    CELERY_CUSTOM_WORKER_POOL=tasks.pool:AsyncioPool celery -A tasks.app worker --pool custom

Celery's consumer stays in the main thread and hands requests over; the loop runs `StageTask.perform`; then Celery's own
tracer finishes the request: results of chord parts, signals, acknowledgement or rejection. Kept of Celery's promises:
late acknowledgement, revoking before and after the start, warm shutdown that waits, soft and cold shutdown that give
back what did not end, `self.request`, chords. Plain functions (Celery's own tasks) run in threads.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import structlog
from celery.concurrency.base import BasePool, apply_target
from kombu.serialization import loads

from tasks.base import StageTask
from tasks.outcome import Outcome, settled
from tasks.process import process
from tasks.runner import Runner

log = structlog.get_logger(__name__)

Target = Callable[..., Any]
Callback = Callable[..., object]

_LAST_WORDS_S = 5.0
_SWITCH_INTERVAL_S = 0.0005
_JSON = frozenset({"application/json"})


class AsyncioPool(BasePool):  # type: ignore[misc] # Celery ships no types
    """Runs up to `limit` coroutines at once (the consumer's prefetch count holds the rest back)."""

    body_can_be_buffer = True
    # Stopping waits for coroutines, which a signal handler must not do.
    signal_safe = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._running: set[Run] = set()
        self._changed = threading.Condition()
        self._runner: Runner | None = None

    def on_start(self) -> None:
        """Use the loop that the worker's start has opened."""
        # Two busy threads share the interpreter: at the default of 5 ms each would wait that long for the other.
        sys.setswitchinterval(_SWITCH_INTERVAL_S)
        self._runner = process().runner

    def on_apply(
        self,
        target: Target,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        callback: Callback | None = None,
        accept_callback: Callback | None = None,
        **_: Any,
    ) -> Run | Threaded:
        """Take up one request; called by the consumer's thread, which this must not keep."""
        runner = process().runner
        task = self.app.tasks[args[0]]
        if not isinstance(task, StageTask):
            future = runner.executor.submit(apply_target, target, args, kwargs, callback, accept_callback)
            return Threaded(future)
        run = Run(runner, task, target, decoded(args), callback, self._left)
        with self._changed:
            self._running.add(run)
        if accept_callback is not None:
            accept_callback(os.getpid(), time.monotonic())
        runner.loop.call_soon_threadsafe(run.start)
        return run

    def on_stop(self) -> None:
        """Wait for what runs, within the grace; then cancel the rest, which goes back to its queue."""
        self._finish(process().settings.queue.shutdown_grace_s)

    def on_terminate(self) -> None:
        """Give everything back at once."""
        self._finish(0.0)

    def terminate_job(self, pid: int, signal: object = None) -> None:
        """Do nothing: Celery terminates the request's own handle right after this."""

    def _finish(self, grace_s: float) -> None:
        if self._runner is None or self._wait_for_all(grace_s):
            return
        self._runner.is_stopping = True
        log.warning("tasks_cut_short", count=len(self._running), grace_s=grace_s)
        for run in list(self._running):
            run.cancel()
        self._wait_for_all(_LAST_WORDS_S)

    def _wait_for_all(self, timeout_s: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, timeout_s)

    def _left(self, run: Run) -> None:
        with self._changed:
            self._running.discard(run)
            self._changed.notify_all()

    def _get_info(self) -> dict[str, Any]:
        return {**super()._get_info(), "running": len(self._running)}


def decoded(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Decode a body once, for us and for the tracer: (name, id, request, (args, kwargs, embed), None, None)."""
    name, task_id, request, body, content_type, encoding = args
    if content_type:
        body = loads(body, content_type, encoding, accept=_JSON)  # type: ignore[no-untyped-call] # half typed
    return name, task_id, request, tuple(body), None, None


class Threaded:
    """The handle of a plain function; a thread cannot be stopped."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def terminate(self, signal: object = None) -> None:
        del signal
        self._future.cancel()


class Run:
    """One request on the loop, and the handle by which Celery may end it."""

    def __init__(
        self,
        runner: Runner,
        task: StageTask,
        target: Target,
        args: tuple[Any, ...],
        callback: Callback | None,
        left: Callable[[Run], None],
    ) -> None:
        self._runner = runner
        self._task = task
        self._target = target
        self._args = args
        self._callback = callback
        self._left = left
        self._coroutine: asyncio.Task[None] | None = None
        self._is_terminated = False

    def start(self) -> None:
        """Begin; called on the loop."""
        if self._is_terminated:
            self._left(self)
            return
        self._coroutine = self._runner.loop.create_task(self._go())
        self._coroutine.add_done_callback(self._ended)

    def terminate(self, signal: object = None) -> None:
        """End the task for good: Celery has announced and acknowledged it already, so nothing is left to finish."""
        del signal
        self._is_terminated = True
        self.cancel()

    def cancel(self) -> None:
        """Interrupt the coroutine at its next await."""
        self._runner.loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._coroutine is not None:
            self._coroutine.cancel()

    async def _go(self) -> None:
        from celery.app.task import Context

        _name, _task_id, request, (args, kwargs, embed), *_ = self._args
        outcome = await self._task.perform(Context({**request, **(embed or {})}), tuple(args), kwargs)
        if self._is_terminated:
            return
        if self._needs_io(request, embed or {}):
            # Past this point the work is done: a cancellation must not come between it and its acknowledgement.
            finishing = self._runner.loop.run_in_executor(self._runner.executor, self._finish, outcome)
            await asyncio.shield(finishing)
        else:
            self._finish(outcome)

    def _finish(self, outcome: Outcome) -> None:
        """Let Celery's tracer finish the request with what the coroutine came to."""
        token = settled.set(outcome)
        try:
            apply_target(self._target, self._args, {}, self._callback)
        finally:
            settled.reset(token)

    def _needs_io(self, request: dict[str, Any], embed: dict[str, Any]) -> bool:
        """Whether finishing talks to a server: a stored result, a chord, callbacks, or events."""
        keeps_result = request.get("ignore_result") is False
        eventer = getattr(getattr(self._callback, "__self__", None), "eventer", None)
        # A worker's heartbeat enables the eventer too, but then for its own group only: no event tells of a task.
        sends_events = eventer is not None and eventer.enabled and (not eventer.groups or "task" in eventer.groups)
        return keeps_result or sends_events or any(embed.values())

    def _ended(self, coroutine: asyncio.Task[None]) -> None:
        self._left(self)
        if not coroutine.cancelled() and (error := coroutine.exception()) is not None:
            # The message stays unacknowledged and comes back after the visibility timeout.
            log.error("task_not_finished", task=self._args[0], task_id=self._args[1], exc_info=error)
