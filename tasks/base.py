"""StageTask: what every task of ours has around it, so that a task file is three lines long.

    log context      turn_id, task, task_id, queue, attempt
    metrics          started, finished, failed, retried, returned, seconds, queue wait
    time limit       settings.queue.task_time_limit_s for all tries together
    retries          the table in retry.py, in place
    late tasks       where the table says so, given back at the time limit, as often as messages may come back
    dead letter      on the last failure, at once for a PermanentError, and for a task that keeps killing its worker
                     and is not done
    end of the turn  a turn whose task is given up is failed, so that it still ends

A task is a coroutine function. The pool runs `perform` on the loop, then lets Celery's tracer finish the request; the
tracer calls the task object, which hands out what `perform` came to. Under the threads pool nobody has run it yet, and
the call itself does so, on the same loop.
"""

from __future__ import annotations

import asyncio
import random
from time import perf_counter
from typing import Any, cast

import structlog
from celery import Task
from celery.app.task import Context
from celery.exceptions import Ignore, Reject

from tasks.current import current_request
from tasks.deadletters import DeadLetter, describe, new_error_id
from tasks.dispatch import dispatch
from tasks.job import Job
from tasks.outcome import Outcome, Raised, Returned, settled, unwrap
from tasks.process import house, process
from tasks.retry import TABLE, pause_s
from workers.errors import Overloaded, PermanentError, StaleTurn, StoreUnavailable
from workers.runtime import telemetry, tracing
from workers.runtime.clock import utc_now

log = structlog.get_logger(__name__)

# When not even a dead letter can be written, the message goes back; not faster than this.
_PAUSE_BEFORE_RETURN_S = 1.0


class TimeLimitReached(Exception):
    """A task did not end within its time limit."""


class WorkerKilled(Exception):
    """A message came back too often: whoever takes it up does not live to acknowledge it."""

    def __init__(self, deliveries: int, allowed: int) -> None:
        super().__init__(f"delivered {deliveries} times, {allowed} allowed")
        self.deliveries = deliveries


class AlreadyDone(Exception):
    """A message came back too often, but its work was done before its workers died."""


class StageTask(Task):  # type: ignore[misc] # Celery ships no types
    """Base of every task of the house."""

    abstract = True
    # A letter and a log line tell of each failure already; Celery's own traceback would say it again.
    throws = (Exception,)

    @property
    def request(self) -> Any:
        """The request of the coroutine that asks, or, in Celery's own code, of the thread."""
        return current_request.get() or self._get_request()

    async def is_done(self, *args: Any) -> bool:
        """Whether nothing is left to do for a message that came back too often: its worker died after the work."""
        del args
        return False

    def __call__(self, *args: Any, **kwargs: Any) -> object:
        """Hand Celery's tracer the outcome of `perform`."""
        outcome = settled.get()
        if outcome is None:
            coroutine = self.perform(self._get_request(), args, kwargs)
            outcome = process().runner.submit(coroutine).result()
        return unwrap(outcome)

    async def perform(self, request: Context, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Outcome:
        """Run the task with all that stands above. Raises nothing but CancelledError (the task was revoked)."""
        current_request.set(request)
        job = Job.of(self.name, request, args, kwargs)
        structlog.contextvars.bind_contextvars(
            turn_id=job.turn_id, task=job.task, task_id=job.task_id, queue=str(job.queue), attempt=1
        )
        running = process().runner.running
        running.add(me := cast("asyncio.Task[object]", asyncio.current_task()))
        began = perf_counter()
        telemetry.TASKS_STARTED.labels(job.task, job.queue).inc()
        telemetry.TASKS_RUNNING.inc()
        if job.waited_s is not None:
            telemetry.QUEUE_WAIT_SECONDS.labels(job.queue).observe(job.waited_s)
        try:
            with tracing.span(job.task, turn_id=job.turn_id, queue=str(job.queue), waited_s=job.waited_s or 0.0):
                return await self._settle(job)
        except asyncio.CancelledError:
            if not process().runner.is_stopping:
                raise
            return await self._give_back(job, reason="worker_stopping")
        finally:
            running.discard(me)
            telemetry.TASKS_RUNNING.dec()
            telemetry.TASK_SECONDS.labels(job.task, job.queue).observe(perf_counter() - began)

    async def _settle(self, job: Job) -> Outcome:
        """Turn whatever the task does into an outcome. The one place where every error is caught."""
        deliveries = 1
        try:
            if job.is_redelivered:
                deliveries = await self._count_delivery(job)
            value = await self._within_limit(job)
        except (StaleTurn, AlreadyDone) as passed:
            log.info("task_stale" if isinstance(passed, StaleTurn) else "task_done_already")
            value = None
        except Overloaded:
            return await self._give_back(job, reason="overloaded")
        except (Ignore, Reject) as verdict:
            return Raised(verdict)
        except Exception as error:  # noqa: BLE001 - here, and only here: a task's errors end in a letter
            return await self._end_badly(job, error, deliveries=deliveries)
        if job.is_redelivered:
            await self._forget_deliveries(job)
        telemetry.TASKS_FINISHED.labels(job.task, job.queue).inc()
        return Returned(value)

    async def _end_badly(self, job: Job, error: Exception, *, deliveries: int) -> Outcome:
        """Give a late task back, where its queue's rule says so and it may come once more; give up every other."""
        if isinstance(error, WorkerKilled):
            return await self._give_up(job, error, deliveries=error.deliveries)
        is_late = isinstance(error, TimeLimitReached) and TABLE[job.queue].is_given_back_late
        if is_late and deliveries < process().settings.queue.max_deliveries:
            return await self._give_back(job, reason="late", is_counted=True)
        return await self._give_up(job, error, deliveries=deliveries)

    async def _within_limit(self, job: Job) -> object:
        limit_s = process().settings.queue.task_time_limit_s
        limit = asyncio.timeout(limit_s)
        try:
            async with limit:
                return await self._try_until_done(job)
        except TimeoutError as error:
            if limit.expired():
                raise TimeLimitReached(f"{limit_s:g} s") from error
            raise

    async def _try_until_done(self, job: Job) -> object:
        rule = TABLE[job.queue]
        for tried in range(1, rule.tries):
            try:
                return await self.run(*job.args, **job.kwargs)
            except rule.errors as error:
                wait_s = pause_s(rule, after_try=tried, chance=random.random())  # noqa: S311 - spreads, hides nothing
                telemetry.TASKS_RETRIED.labels(job.task, job.queue, type(error).__name__).inc()
                log.info("task_retried", error=type(error).__name__, pause_s=round(wait_s, 3))
                await asyncio.sleep(wait_s)
                structlog.contextvars.bind_contextvars(attempt=tried + 1)
        return await self.run(*job.args, **job.kwargs)

    async def _count_delivery(self, job: Job) -> int:
        """Count a redelivery. Raises WorkerKilled when there were too many."""
        count = await process().deliveries.count(job.task_id)
        most = process().settings.queue.max_deliveries
        log.warning("task_redelivered", deliveries=count)
        if count > most:
            if await self.is_done(*job.args):
                raise AlreadyDone
            raise WorkerKilled(count, most)
        return count

    async def _forget_deliveries(self, job: Job) -> None:
        try:
            await process().deliveries.forget(job.task_id)
        except StoreUnavailable:
            log.info("deliveries_not_forgotten")  # the counter expires by itself

    async def _give_back(self, job: Job, *, reason: str, is_counted: bool = False) -> Outcome:
        """Return the message to its queue: the worker is stopping, or has too much to do to begin with it in time.

        Once it has begun and comes back late, that counts as a delivery: it may never end in time.
        """
        telemetry.TASKS_RETURNED.labels(job.task, job.queue).inc()
        log.info("task_returned", reason=reason)
        try:
            if not is_counted:
                await process().deliveries.forgive(job.task_id)
        except StoreUnavailable:
            log.info("deliveries_not_forgiven")
        return Raised(Reject(reason, requeue=True))

    async def _give_up(self, job: Job, error: Exception, *, deliveries: int) -> Outcome:
        """Write the dead letter and end the turn; with the store away, give the message back instead."""
        try:
            letter = await self._write_letter(job, error, deliveries=deliveries)
            await self._end_turn(job, letter.letter_id)
        except StoreUnavailable:
            log.exception("task_not_settled", error=type(error).__name__)
            await asyncio.sleep(_PAUSE_BEFORE_RETURN_S)
            return Raised(Reject(error, requeue=True))
        # A chord waits for all its parts; one that raised would start the errback while its sisters still call.
        return Returned(None) if job.is_chord_part else Raised(error)

    async def _write_letter(self, job: Job, error: Exception, *, deliveries: int) -> DeadLetter:
        kind, message, lines = describe(error)
        now = utc_now()
        letter = await process().letters.record(
            DeadLetter(
                letter_id=new_error_id(now),
                task_id=job.task_id,
                task=job.task,
                queue=str(job.queue),
                args=job.args,
                turn_id=job.turn_id,
                error_type=kind,
                error_message=message,
                traceback=lines,
                deliveries=deliveries,
                at=now,
            )
        )
        reason = "permanent" if isinstance(error, PermanentError) else kind
        telemetry.TASKS_FAILED.labels(job.task, job.queue, kind).inc()
        telemetry.DEAD_LETTERS.labels(job.task, reason).inc()
        log.error("task_dead_lettered", error_id=letter.letter_id, error=kind, exc_info=error)
        return letter

    async def _end_turn(self, job: Job, error_id: str) -> None:
        rooms = house()
        if rooms is None or job.turn_id is None or job.is_chord_part:
            return
        try:
            await dispatch(await rooms.fail_turn(job.turn_id, error_id))
        except (StaleTurn, PermanentError) as passed:
            log.info("turn_not_failed", reason=type(passed).__name__)  # it ended otherwise, or is forgotten
