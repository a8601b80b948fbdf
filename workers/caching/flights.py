"""One flight per key: of all who ask the same at the same time, over all workers, one calls and the others hear.

A leader renews its lease; one that dies loses it within seconds, and the waiting contend for the lead. A failure is
told to those who waited for it and kept for nobody else. Without a cache everybody calls for himself.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

import structlog

from schemas.calls import ApiCall, Cached, CallFailed, CallOutcome, CallSucceeded
from workers.caching.freshness import keeping, kept_for_s
from workers.caching.responses import CacheAway, Kept, Landed, Look, ResponseStore
from workers.runtime.clock import Clock
from workers.runtime.resting import Resting
from workers.runtime.settings import CacheSettings

log = structlog.get_logger(__name__)

LEASE_S = 3.0
RENEW_S = 1.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.01, 0.1

Make = Callable[[], Awaitable[CallOutcome]]


@dataclass(kw_only=True)
class Flights:
    """Finds responses that are kept, or has them made once. Shared by all turns of a process."""

    store: ResponseStore
    settings: CacheSettings
    clock: Clock
    resting: Resting

    async def fetch(
        self, call: ApiCall, key: str, make: Make, *, deadline: datetime, afresh: bool = False
    ) -> CallOutcome:
        """Return the call's outcome: kept, heard from a flight, or made. Raises what `make` raises, nothing else."""
        token = secrets.token_hex(8)
        while self._left_s(deadline) > 0 and self.resting.may_ask():
            try:
                look = await self.store.look(key, token, lease_s=LEASE_S, afresh=afresh)
            except CacheAway as error:
                self._rest(error)
                break
            self.resting.answered()
            if look.kept is not None:
                return served(look.kept, call, now_ms=self._now_ms())
            if look.state == "lead":
                outcome = await self._lead(call, key, make, token, look)
                return outcome if afresh else await self._or_kept(outcome, call, key)
            landed = await self._wait(key, look.leader, deadline=deadline)
            if landed is not None:
                return await make() if landed.outcome is None else _heard(landed.outcome, call)
        return await make()

    async def find(self, call: ApiCall, key: str, *, at_its_age: bool = False) -> CallOutcome | None:
        """Return what is kept for the call, or None; None too when it is due to be renewed and nobody does.

        With `at_its_age` what is kept counts as it is: a question about it is not one about the newest.
        """
        if not self.resting.may_ask():
            return None
        try:
            kept = await (self.store.peek(key) if at_its_age else self.store.find(key))
        except CacheAway as error:
            self._rest(error)
            return None
        self.resting.answered()
        return served(kept, call, now_ms=self._now_ms()) if kept else None

    async def _lead(self, call: ApiCall, key: str, make: Make, token: str, look: Look) -> CallOutcome:
        try:
            async with self._renewed(key, token):
                outcome = await make()
        except BaseException:
            with contextlib.suppress(CacheAway):
                await asyncio.shield(self.store.renew(key, token, lease_s=0))
            raise
        given = self.settings
        kept_s = kept_for_s(call, outcome, default_s=float(given.cache_default_ttl_seconds))
        chance = random.random()  # noqa: S311 - it only spreads the ends
        kept = keeping(kept_s, outcome, grace_s=given.cache_grace_s, jitter=given.cache_ttl_jitter, chance=chance)
        try:
            await self.store.land(
                key,
                token,
                called_at_ms=look.called_at_ms,
                outcome=outcome,
                kept=kept,
                shared=kept_s > 0 or isinstance(outcome, CallFailed),
            )
            if kept_s == 0 and isinstance(outcome, CallSucceeded):
                await self.store.drop([key])  # what was kept before is older than an answer that may not be kept
        except CacheAway as error:
            self._rest(error)
        return outcome

    async def _or_kept(self, outcome: CallOutcome, call: ApiCall, key: str) -> CallOutcome:
        """Go back to what is kept, and still has its time, where renewing it failed."""
        if isinstance(outcome, CallSucceeded):
            return outcome
        return await self.find(call, key, at_its_age=True) or outcome

    async def _wait(self, key: str, leader: str, *, deadline: datetime) -> Landed | None:
        """Wait for a flight to land; None when it is lost, the deadline is here or the cache is away."""
        pause_s = _FIRST_PAUSE_S
        while self._left_s(deadline) > 0:
            await asyncio.sleep(min(pause_s * (0.5 + random.random()), self._left_s(deadline)))  # noqa: S311 - jitter
            pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)
            try:
                landed = await self.store.landed(key, leader)
            except CacheAway as error:
                self._rest(error)
                return None
            if isinstance(landed, Landed):
                return landed
            if landed == "lost":
                return None
        return None

    @contextlib.asynccontextmanager
    async def _renewed(self, key: str, token: str) -> AsyncIterator[None]:
        keeper = asyncio.get_running_loop().create_task(self._renew(key, token))
        try:
            yield
        finally:
            keeper.cancel()

    async def _renew(self, key: str, token: str) -> None:
        is_ours = True
        while is_ours:
            await asyncio.sleep(RENEW_S)
            with contextlib.suppress(CacheAway):
                is_ours = await self.store.renew(key, token, lease_s=LEASE_S)

    def _rest(self, error: CacheAway) -> None:
        self.resting.failed()
        log.warning("cache_away", error=str(error))

    def _left_s(self, deadline: datetime) -> float:
        return (deadline - self.clock()).total_seconds()

    def _now_ms(self) -> int:
        return round(self.clock().timestamp() * 1000)


def served(kept: Kept, call: ApiCall, *, now_ms: int) -> CallOutcome:
    """Make a kept response this call's outcome, and mark it as such."""
    age_s = max(0.0, (now_ms - kept.called_at_ms) / 1000)
    mark = Cached(source="L1", age_s=round(age_s, 1))
    return kept.outcome.model_copy(update={"call_id": call.call_id, "elapsed_ms": 0.0, "cached": mark})


def _heard(outcome: CallOutcome, call: ApiCall) -> CallOutcome:
    """Make another's outcome ours: it was asked for at the same time, so its age is none."""
    change: dict[str, object] = {"call_id": call.call_id}
    if not isinstance(outcome, CallFailed):
        change["cached"] = Cached(source="L1")
    return outcome.model_copy(update=change)
