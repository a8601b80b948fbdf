"""The order of guards: stored outcome → breaker → egress → client → outcome. Read it from top to bottom.

A call's failure is a value. What is raised is a bug, or StoreUnavailable.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import ssl
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Self

import redis.asyncio as aioredis
import structlog
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    retry_if_result,
    stop_after_attempt,
    wait_random_exponential,
)

from schemas.calls import ApiCall, CallFailed, CallOutcome, FailureReason
from workers.calling.breaker import BreakerRules, Pass, Verdict, verdict_on
from workers.calling.breaker_store import BreakerStore
from workers.calling.client import ApiClient
from workers.calling.egress import AllowList, EgressGuard, EgressRefused, check_url
from workers.calling.outcomes import Claim, ClaimState, OutcomeStore
from workers.calling.plan import CannotPlace, PreparedRequest, endpoint_address, place
from workers.calling.retries import is_worth_retrying, wait_s
from workers.errors import StoreUnavailable
from workers.runtime.clock import Clock, utc_now
from workers.runtime.keys import Keys
from workers.runtime.settings import CallingSettings

log = structlog.get_logger(__name__)

# A worker's death is noticed when its lease runs out; a living one renews it, however long its call takes.
LEASE_S = 4.0
RENEW_S = 1.0
# A breaker's probe outlives the attempt it stands for by this much: time to report what came of it.
PROBE_MARGIN_S = 2.0
POLL_S = 0.1
# Less time than this share of its own limit says nothing about the endpoint when it runs out.
FAIR_SHARE = 0.5
_RECORD_TRIES = 4


class _LeaseLost(Exception):
    """Another worker took the call over, or somebody ended it."""


@dataclass(frozen=True, kw_only=True)
class _Assignment:
    """One call that is ours to make."""

    call: ApiCall
    claim: Claim
    request: PreparedRequest
    address: str
    limit_s: float
    deadline: datetime


class Caller:
    """Makes calls. One per process; hundreds of calls may be under way at once."""

    def __init__(
        self,
        *,
        client: ApiClient,
        outcomes: OutcomeStore,
        breakers: BreakerStore,
        settings: CallingSettings,
        clock: Clock = utc_now,
    ) -> None:
        self._client = client
        self._outcomes = outcomes
        self.breakers = breakers
        self._settings = settings
        self._clock = clock

    @classmethod
    def open(
        cls,
        *,
        redis: aioredis.Redis,
        keys: Keys,
        settings: CallingSettings,
        outcomes: OutcomeStore,
        tls: ssl.SSLContext | None = None,
    ) -> Self:
        """Build the caller and its client. Raises ValueError when CALLING_ALLOWED_HOSTS can't be read."""
        guard = EgressGuard(AllowList.parse(settings.allowed_hosts))
        rules = BreakerRules(
            failures_to_open=settings.breaker_failures_to_open,
            cooldown_ms=round(settings.breaker_cooldown_s * 1000),
        )
        return cls(
            client=ApiClient(settings, guard, tls=tls),
            outcomes=outcomes,
            breakers=BreakerStore(redis, keys, rules),
            settings=settings,
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def call(self, call: ApiCall, *, turn_id: str, deadline: datetime) -> CallOutcome:
        """Make the call, unless it has its outcome; wait for whoever is making it; return by the deadline.

        The outcome returned is the one recorded: the first. Raises StoreUnavailable.
        """
        started = time.monotonic()
        limit_s = call.endpoint.timeout_s or self._settings.timeout_s
        while True:
            claim = await self._take(call, turn_id, deadline=deadline)
            if claim.outcome is not None:
                return claim.outcome
            if claim.state is ClaimState.SOMEBODY_ELSE_IS_SENDING:
                return await self._outcomes.give_up(turn_id, call)
            try:
                async with self._kept(claim):
                    outcome = await self._make(call, claim, limit_s=limit_s, deadline=deadline)
            except _LeaseLost:
                continue
            except BaseException:
                await self._let_go(claim)
                raise
            outcome = outcome.model_copy(update={"elapsed_ms": round((time.monotonic() - started) * 1000, 2)})
            held = await self._record(turn_id, outcome)
            _tell(call, held)
            return held

    async def _take(self, call: ApiCall, turn_id: str, *, deadline: datetime) -> Claim:
        """Claim the call; while somebody else is at it, look again until the deadline."""
        while True:
            claim = await self._outcomes.claim(turn_id, call.call_id, LEASE_S)
            if claim.state is not ClaimState.SOMEBODY_ELSE_IS_SENDING or self._left_s(deadline) <= 0:
                return claim
            await asyncio.sleep(min(POLL_S, max(0.0, self._left_s(deadline))))

    @contextlib.asynccontextmanager
    async def _kept(self, claim: Claim) -> AsyncIterator[None]:
        """Renew the lease for as long as we are at it."""
        keeper = asyncio.get_running_loop().create_task(self._renew(claim))
        try:
            yield
        finally:
            keeper.cancel()

    async def _renew(self, claim: Claim) -> None:
        is_ours = True
        while is_ours:
            await asyncio.sleep(RENEW_S)
            with contextlib.suppress(StoreUnavailable):  # the next round tries again, and the lease outlives a few
                is_ours = await self._outcomes.prolong(claim, LEASE_S)

    async def _make(self, call: ApiCall, claim: Claim, *, limit_s: float, deadline: datetime) -> CallOutcome:
        if claim.state is ClaimState.ABANDONED_AFTER_SENDING and not call.endpoint.is_repeatable():
            return _failed(call, FailureReason.UNKNOWN)
        try:
            request = place(call)
            check_url(request.url)
        except CannotPlace as error:
            log.warning("call_not_placed", endpoint=call.endpoint.endpoint_id, param=error.param, why=error.why)
            return _failed(call, FailureReason.REFUSED)
        except EgressRefused as error:
            log.warning("call_refused", endpoint=call.endpoint.endpoint_id, host=error.host, why=error.why)
            return _failed(call, FailureReason.REFUSED)
        return await self._try(
            _Assignment(
                call=call,
                claim=claim,
                request=request,
                address=endpoint_address(call.endpoint.url),
                limit_s=limit_s,
                deadline=deadline,
            )
        )

    async def _try(self, job: _Assignment) -> CallOutcome:
        """Attempt once, and again where that is harmless and there is time."""
        if not job.call.endpoint.is_repeatable():
            return await self._attempt(job)
        seen: list[CallOutcome] = []

        async def attempt() -> CallOutcome:
            seen.append(await self._attempt(job))
            return seen[-1]

        async def keep_lease(_: RetryCallState) -> None:
            if not await self._outcomes.prolong(job.claim, LEASE_S):
                raise _LeaseLost

        retrying = AsyncRetrying(
            retry=retry_if_result(is_worth_retrying),
            stop=lambda state: self._is_over(state, job),
            wait=_wait,
            before_sleep=keep_lease,
            retry_error_callback=_last_outcome,
        )
        outcome: CallOutcome = await retrying(attempt)
        is_stopped = isinstance(outcome, CallFailed) and outcome.reason is FailureReason.BREAKER_OPEN
        # Stopped by the breaker between two tries: what the API did before is the better answer.
        return seen[-2] if is_stopped and len(seen) > 1 else outcome

    def _is_over(self, state: RetryCallState, job: _Assignment) -> bool:
        """Stop when the tries are used up, or when the next one would begin after the deadline."""
        return state.attempt_number > self._settings.retries or state.upcoming_sleep >= self._left_s(job.deadline)

    async def _attempt(self, job: _Assignment) -> CallOutcome:
        """One try, under the breaker: every way out reports to it, so that a probe never hangs."""
        budget_s = min(job.limit_s, self._left_s(job.deadline))
        if budget_s <= 0:
            return _failed(job.call, FailureReason.TIMED_OUT)
        admission = await self.breakers.admit(job.address, owner=job.claim.token, probe_s=budget_s + PROBE_MARGIN_S)
        if admission.verdict is Pass.NO:
            return _failed(job.call, FailureReason.BREAKER_OPEN, retry_after_s=admission.retry_after_s)
        verdict = Verdict.NOTHING
        try:
            outcome = await self._send(job, budget_s)
            verdict = verdict_on(outcome, had_fair_time=budget_s >= job.limit_s * FAIR_SHARE)
            return outcome
        finally:
            await asyncio.shield(self.breakers.report(job.address, admission, verdict))

    async def _send(self, job: _Assignment, budget_s: float) -> CallOutcome:
        async def before_leaving() -> None:
            if job.call.endpoint.is_repeatable():
                return
            if not await self._outcomes.mark_sending(job.claim, LEASE_S):
                raise _LeaseLost

        return await self._client.send(job.call, job.request, timeout_s=budget_s, before_leaving=before_leaving)

    async def _record(self, turn_id: str, outcome: CallOutcome) -> CallOutcome:
        """Keep trying a little: after a call that must not be repeated, this is all anybody will ever know."""
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(StoreUnavailable),
            stop=stop_after_attempt(_RECORD_TRIES),
            wait=wait_random_exponential(multiplier=0.1, max=2),
            reraise=True,
        )
        return await retrying(self._outcomes.record, turn_id, outcome)

    async def _let_go(self, claim: Claim) -> None:
        """Give the lease back on the way out of a cancelled or broken call; if that fails it runs out by itself."""
        with contextlib.suppress(StoreUnavailable):
            await asyncio.shield(self._outcomes.release(claim))

    def _left_s(self, deadline: datetime) -> float:
        return (deadline - self._clock()).total_seconds()


def _failed(call: ApiCall, reason: FailureReason, *, retry_after_s: float | None = None) -> CallFailed:
    return CallFailed(call_id=call.call_id, reason=reason, retry_after_s=retry_after_s)


def _wait(state: RetryCallState) -> float:
    return wait_s(_last_outcome(state), attempt=state.attempt_number, chance=random.random())  # noqa: S311 - jitter


def _last_outcome(state: RetryCallState) -> CallOutcome:
    if state.outcome is None:
        raise RuntimeError("tenacity asked before the first try")
    outcome: CallOutcome = state.outcome.result()
    return outcome


def _tell(call: ApiCall, outcome: CallOutcome) -> None:
    """Log the ending: names and numbers, never values or bodies."""
    is_failed = isinstance(outcome, CallFailed)
    tell = log.warning if is_failed else log.info
    tell(
        "call_finished",
        endpoint=call.endpoint.endpoint_id,
        outcome=str(outcome.reason) if isinstance(outcome, CallFailed) else "succeeded",
        status=outcome.status,
        elapsed_ms=outcome.elapsed_ms,
    )
