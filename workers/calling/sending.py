"""One call that is ours to make: place → sign → bulkhead → breaker → client, again where that is harmless.

Every failure is a value; what is raised is LeaseLost, a bug, or StoreUnavailable.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field, replace
from datetime import datetime
from http import HTTPStatus

import structlog
from pydantic import SecretStr
from tenacity import AsyncRetrying, RetryCallState, retry_if_result

from schemas.calls import ApiCall, CallFailed, CallOutcome, CallSucceeded, FailureReason
from workers.calling.breaker import Pass, Verdict, verdict_on
from workers.calling.breaker_store import BreakerStore
from workers.calling.bulkhead import Bulkhead
from workers.calling.client import ApiClient
from workers.calling.egress import EgressRefused, check_url
from workers.calling.outcomes import Claim, ClaimState, OutcomeStore
from workers.calling.plan import check_call, endpoint_address, place
from workers.calling.prepared import CannotPlace, PreparedRequest
from workers.calling.retries import is_worth_retrying, wait_s
from workers.calling.signing import Signer
from workers.calling.tokens import TokenUnavailable
from workers.calling.vault import SecretMissing
from workers.runtime.clock import Clock
from workers.runtime.settings import CallingSettings

log = structlog.get_logger(__name__)

# A worker's death is noticed when its lease runs out; a living one renews it, however long its call takes.
LEASE_S = 4.0
# A breaker's probe outlives the attempt it stands for by this much: time to report what came of it.
PROBE_MARGIN_S = 2.0
# Less time than this share of its own limit says nothing about the endpoint when it runs out.
FAIR_SHARE = 0.5
# A call that broke off may still be at work over there: "not found" counts once it was said this often, this far apart.
CHECK_PAUSES_S = (0.0, 1.0, 2.0)
_NOT_THERE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})


class LeaseLost(Exception):
    """Another worker took the call over, or somebody ended it."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """One call that is ours to make."""

    call: ApiCall
    claim: Claim
    limit_s: float
    deadline: datetime
    user_token: SecretStr | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Sender:
    """Makes one call at a time of many; its parts are shared by all calls of the process."""

    client: ApiClient
    outcomes: OutcomeStore
    breakers: BreakerStore
    signer: Signer
    bulkhead: Bulkhead
    settings: CallingSettings
    clock: Clock

    async def make(self, job: Job) -> CallOutcome:
        """Make the call; one that may have been obeyed is never sent twice, but asked after where the API allows."""
        if job.claim.state is ClaimState.ABANDONED_AFTER_SENDING and not job.call.endpoint.is_repeatable():
            return await self._ask_after(job)
        outcome = await self._once(job)
        if isinstance(outcome, CallFailed) and outcome.reason is FailureReason.UNKNOWN:
            return await self._ask_after(job)
        return outcome

    async def _once(self, job: Job) -> CallOutcome:
        """Prepare and send; a token that the API no longer takes is renewed once."""
        request = await self._prepare(job)
        if isinstance(request, CallFailed):
            return request
        outcome = await self._try(job, request)
        is_denied = isinstance(outcome, CallFailed) and outcome.status == HTTPStatus.UNAUTHORIZED
        if not is_denied or not await self.signer.forget(job.call.endpoint, request):
            return outcome
        renewed = await self._prepare(job)
        return renewed if isinstance(renewed, CallFailed) else await self._try(job, renewed)

    async def _prepare(self, job: Job) -> PreparedRequest | CallFailed:
        """Place the values and sign; what can't be is an outcome."""
        call, name = job.call, job.call.endpoint.endpoint_id
        try:
            request = place(call)
            check_url(request.url)
            async with asyncio.timeout(max(0.0, min(job.limit_s, self._left_s(job)))):
                return await self.signer.sign(request, call.endpoint, user_token=job.user_token)
        except CannotPlace as error:
            log.warning("call_not_placed", endpoint=name, param=error.param, why=error.why)
            return failed(call, FailureReason.REFUSED)
        except EgressRefused as error:
            log.warning("call_refused", endpoint=name, host=error.host, why=error.why)
            return failed(call, FailureReason.REFUSED)
        except SecretMissing as error:
            log.error("call_not_signed", endpoint=name, reference=error.reference, why=error.why)  # noqa: TRY400 - no trace
            return failed(call, FailureReason.AUTH_MISSING)
        except TokenUnavailable as error:
            return failed(call, error.reason)
        except TimeoutError:
            return failed(call, FailureReason.TIMED_OUT)

    async def _ask_after(self, job: Job) -> CallOutcome:
        """Ask the API whether a call went through; without an answer it stays unknown."""
        unknown = failed(job.call, FailureReason.UNKNOWN)
        check = check_call(job.call)
        if check is None:
            return unknown
        for pause_s in CHECK_PAUSES_S:
            if pause_s >= self._left_s(job):
                return unknown
            await asyncio.sleep(pause_s)
            found = await self._once(replace(job, call=check))
            if isinstance(found, CallSucceeded):
                log.info("call_found", endpoint=job.call.endpoint.endpoint_id)
                return found
            if found.status not in _NOT_THERE:
                return unknown
        # The API says, again and again, that it knows nothing of it.
        return failed(job.call, FailureReason.TIMED_OUT)

    async def _try(self, job: Job, request: PreparedRequest) -> CallOutcome:
        """Attempt once, and again where that is harmless and there is time."""
        if not job.call.endpoint.is_repeatable():
            return await self._attempt(job, request)
        seen: list[CallOutcome] = []

        async def attempt() -> CallOutcome:
            seen.append(await self._attempt(job, request))
            return seen[-1]

        async def keep_lease(_: RetryCallState) -> None:
            if not await self.outcomes.prolong(job.claim, LEASE_S):
                raise LeaseLost

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

    def _is_over(self, state: RetryCallState, job: Job) -> bool:
        """Stop when the tries are used up, or when the next one would begin after the deadline."""
        return state.attempt_number > self.settings.retries or state.upcoming_sleep >= self._left_s(job)

    async def _attempt(self, job: Job, request: PreparedRequest) -> CallOutcome:
        """One try, once the host has a place for it."""
        left_s = self._left_s(job)
        if left_s <= 0:
            return failed(job.call, FailureReason.TIMED_OUT)
        try:
            async with self.bulkhead.place(request.url, wait_s=left_s):
                return await self._guarded(job, request)
        except TimeoutError:
            log.warning("call_found_no_place", endpoint=job.call.endpoint.endpoint_id)
            return failed(job.call, FailureReason.TIMED_OUT)

    async def _guarded(self, job: Job, request: PreparedRequest) -> CallOutcome:
        """One try, under the breaker: every way out reports to it, so that a probe never hangs."""
        budget_s = min(job.limit_s, self._left_s(job))
        if budget_s <= 0:
            return failed(job.call, FailureReason.TIMED_OUT)
        address = endpoint_address(job.call.endpoint.url)
        admission = await self.breakers.admit(address, owner=job.claim.token, probe_s=budget_s + PROBE_MARGIN_S)
        if admission.verdict is Pass.NO:
            return failed(job.call, FailureReason.BREAKER_OPEN, retry_after_s=admission.retry_after_s)
        verdict = Verdict.NOTHING
        try:
            # Asking took time when Redis was slow to answer.
            budget_s = min(job.limit_s, self._left_s(job))
            if budget_s <= 0:
                return failed(job.call, FailureReason.TIMED_OUT)
            outcome = await self._send(job, request, budget_s)
            verdict = verdict_on(outcome, had_fair_time=budget_s >= job.limit_s * FAIR_SHARE)
            return outcome
        finally:
            await asyncio.shield(self.breakers.report(address, admission, verdict))

    async def _send(self, job: Job, request: PreparedRequest, budget_s: float) -> CallOutcome:
        async def before_leaving() -> None:
            if job.call.endpoint.is_repeatable():
                return
            if not await self.outcomes.mark_sending(job.claim, LEASE_S):
                raise LeaseLost

        return await self.client.send(job.call, request, timeout_s=budget_s, before_leaving=before_leaving)

    def _left_s(self, job: Job) -> float:
        return (job.deadline - self.clock()).total_seconds()


def failed(call: ApiCall, reason: FailureReason, *, retry_after_s: float | None = None) -> CallFailed:
    """End a call for which no answer came."""
    return CallFailed(call_id=call.call_id, reason=reason, retry_after_s=retry_after_s)


def _wait(state: RetryCallState) -> float:
    return wait_s(_last_outcome(state), attempt=state.attempt_number, chance=random.random())  # noqa: S311 - jitter


def _last_outcome(state: RetryCallState) -> CallOutcome:
    if state.outcome is None:
        raise RuntimeError("tenacity asked before the first try")
    outcome: CallOutcome = state.outcome.result()
    return outcome
