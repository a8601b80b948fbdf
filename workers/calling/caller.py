"""Who makes a call, and what is kept of it: stored outcome → lease → sending → first outcome wins.

A call's failure is a value. What is raised is a bug, or StoreUnavailable.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Self
from urllib.parse import urlsplit

import redis.asyncio as aioredis
import structlog
from pydantic import SecretStr
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from schemas.calls import ApiCall, CallFailed, CallOutcome
from workers.calling.breaker import BreakerRules
from workers.calling.breaker_store import BreakerStore
from workers.calling.bulkhead import Bulkhead
from workers.calling.client import ApiClient
from workers.calling.egress import AllowList, EgressGuard
from workers.calling.outcomes import Claim, ClaimState, OutcomeStore
from workers.calling.sending import LEASE_S, PROBE_MARGIN_S, Job, LeaseLost, Sender
from workers.calling.signing import Signer
from workers.calling.token_sharing import SharedTokens
from workers.calling.tokens import TokenStore
from workers.calling.vault import Vault
from workers.errors import StoreUnavailable
from workers.runtime import telemetry, tracing
from workers.runtime.clock import Clock, utc_now
from workers.runtime.keys import Keys
from workers.runtime.settings import CallingSettings

log = structlog.get_logger(__name__)

RENEW_S = 1.0
POLL_S = 0.1
_RECORD_TRIES = 4


class Caller:
    """Makes calls. One per process; hundreds of calls may be under way at once."""

    def __init__(
        self, *, sender: Sender, outcomes: OutcomeStore, settings: CallingSettings, clock: Clock = utc_now
    ) -> None:
        self._sender = sender
        self._outcomes = outcomes
        self.breakers = sender.breakers
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
        """Build the caller and its client. Raises ValueError when a list of hosts in the settings can't be read."""
        rules = BreakerRules(
            failures_to_open=settings.breaker_failures_to_open,
            cooldown_ms=round(settings.breaker_cooldown_s * 1000),
        )
        client = ApiClient(settings, EgressGuard(AllowList.parse(settings.allowed_hosts)), tls=tls)
        breakers = BreakerStore(redis, keys, rules)
        vault = Vault.open(settings)
        shared = SharedTokens(redis, keys, lease_s=settings.timeout_s + PROBE_MARGIN_S)
        signer = Signer(
            vault=vault,
            tokens=TokenStore(client, breakers, vault, timeout_s=settings.timeout_s, shared=shared),
            user_token_hosts=AllowList.parse(settings.user_token_hosts),
        )
        sender = Sender(
            client=client,
            outcomes=outcomes,
            breakers=breakers,
            signer=signer,
            bulkhead=Bulkhead(settings.max_per_host),
            settings=settings,
            clock=utc_now,
        )
        return cls(sender=sender, outcomes=outcomes, settings=settings)

    async def close(self) -> None:
        await self._sender.client.aclose()

    async def call(
        self, call: ApiCall, *, turn_id: str, deadline: datetime, user_token: SecretStr | None = None
    ) -> CallOutcome:
        """Make the call, unless it has its outcome; wait for whoever is making it; return by the deadline.

        `user_token` is the person's own, for endpoints that pass it on. The outcome returned is the one recorded: the
        first. Raises StoreUnavailable.
        """
        started = time.monotonic()
        # No call has more time than all of a turn's together: one that hangs that long counts against its endpoint.
        limit_s = min(call.endpoint.timeout_s or self._settings.timeout_s, self._settings.batch_timeout_s)
        while True:
            claim = await self._take(call, turn_id, deadline=deadline)
            if claim.outcome is not None:
                return claim.outcome
            if claim.state is ClaimState.SOMEBODY_ELSE_IS_SENDING:
                return await self._outcomes.give_up(turn_id, call)
            job = Job(call=call, claim=claim, limit_s=limit_s, deadline=deadline, user_token=user_token)
            try:
                async with self._kept(claim):
                    outcome = await self._traced(job, turn_id)
            except LeaseLost:
                continue
            except BaseException:
                await self._let_go(claim)
                raise
            outcome = outcome.model_copy(update={"elapsed_ms": round((time.monotonic() - started) * 1000, 2)})
            held = await self._record(turn_id, outcome)
            _tell(call, held)
            return held

    async def _traced(self, job: Job, turn_id: str) -> CallOutcome:
        """Make the call as a span of its turn's trace: the endpoint, the host and the ending, nothing that was sent."""
        endpoint = job.call.endpoint
        facts = {"endpoint": endpoint.endpoint_id, "method": endpoint.method, "host": _host(endpoint.url)}
        with tracing.span("api_call", turn_id=turn_id, is_call=True, **facts) as mark:
            outcome = await self._sender.make(job)
            mark.note(outcome=_ending(outcome), status=outcome.status)
            return outcome

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


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _ending(outcome: CallOutcome) -> str:
    return str(outcome.reason) if isinstance(outcome, CallFailed) else "succeeded"


def _tell(call: ApiCall, outcome: CallOutcome) -> None:
    """Count and log the ending: names and numbers, never values or bodies."""
    host = _host(call.endpoint.url)
    telemetry.API_CALLS.labels(host, _ending(outcome)).inc()
    telemetry.API_CALL_SECONDS.labels(host).observe(outcome.elapsed_ms / 1000)
    is_failed = isinstance(outcome, CallFailed)
    tell = log.warning if is_failed else log.info
    tell(
        "call_finished",
        endpoint=call.endpoint.endpoint_id,
        outcome=_ending(outcome),
        status=outcome.status,
        elapsed_ms=outcome.elapsed_ms,
    )
