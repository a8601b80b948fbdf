"""The breakers of all endpoints, shared by all workers in Redis; every new process reads what stands there.

While Redis is away, breakers of this process decide (see breaker_local), starting from what Redis said last; what they
saw is told to Redis when it answers again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from typing import cast

import redis.asyncio as aioredis
import structlog
from redis.exceptions import TimeoutError as RedisTimeoutError

from workers.calling.breaker import Breaker, BreakerRules, BreakerState, Pass, Verdict, state_of, wait_ms
from workers.calling.breaker_local import LocalBreakers
from workers.errors import StoreUnavailable
from workers.runtime import telemetry
from workers.runtime.keys import Keys
from workers.runtime.redis import REDIS_AWAY

log = structlog.get_logger(__name__)

Entries = list[tuple[str, dict[str, str]]]

_FORGOTTEN_AFTER_MS = 3_600_000
_CHANGES_KEPT = 1_000
# A call has seconds, and Redis answers within milliseconds or is away.
_PATIENCE_S = 1.0
_CATCHING_UP = "after Redis was away"

_EVENTS = {
    BreakerState.CLOSED: "breaker_closed",
    BreakerState.OPEN: "breaker_opened",
    BreakerState.HALF_OPEN: "breaker_probed",
    BreakerState.FORCED_OPEN: "breaker_opened",
}


@dataclass(frozen=True, kw_only=True)
class Admission:
    """Whether a call may go out. `owner` is handed back with the report; `failures` counts the row so far.

    `is_local` says that Redis was away and this process decided alone.
    """

    owner: str
    verdict: Pass
    failures: int = 0
    retry_after_s: float | None = None
    is_local: bool = False


@dataclass(frozen=True, kw_only=True)
class BreakerView:
    """One breaker as operators see it. Healthy endpoints have none."""

    endpoint: str
    state: BreakerState
    failures: int
    retry_after_s: float


@dataclass(frozen=True, kw_only=True)
class BreakerChange:
    """A breaker entered a state; `by` is `calls` or `operator`."""

    at: datetime
    endpoint: str
    state: BreakerState
    failures: int
    by: str


class BreakerStore:
    """Asks and tells the shared breakers; while Redis is away, those of this process, and the log says so."""

    def __init__(self, redis: aioredis.Redis, keys: Keys, rules: BreakerRules) -> None:
        self._redis = redis
        self._keys = keys
        self._rules = rules
        self._local = LocalBreakers(rules)
        script = resources.files(__package__) / "scripts" / "breaker.lua"
        self._script = redis.register_script(script.read_text(encoding="utf-8"))

    async def admit(self, endpoint: str, *, owner: str, probe_s: float) -> Admission:
        """Ask whether a call to the endpoint (see `plan.endpoint_address`) may go out.

        As a probe it keeps everybody else away until its report, for `probe_s` at most.
        """
        probe_ms = round(probe_s * 1000)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._catch_up(endpoint)
                what, rest_ms, failures = await self._run("admit", endpoint, owner=owner, probe_ms=probe_ms)
        except REDIS_AWAY as error:
            log.warning("breaker_unreachable", asked="admit", error=type(error).__name__)
            verdict, rest_ms, failures = self._local.admit(endpoint, owner=owner, probe_ms=probe_ms)
            return _admission(owner, verdict, rest_ms, failures, is_local=True)
        verdict = Pass(what)
        self._local.learn(endpoint, verdict, failures=failures, rest_ms=rest_ms)
        if verdict is Pass.PROBE:
            self._local.admit(endpoint, owner=owner, probe_ms=probe_ms)
            await self._tell(endpoint, BreakerState.HALF_OPEN, failures=failures)
        return _admission(owner, verdict, rest_ms, failures)

    async def report(self, endpoint: str, admission: Admission, verdict: Verdict) -> None:
        """Tell how the call ended. Good news about an endpoint in good standing is no news and costs nothing."""
        is_news = verdict is Verdict.FAILING or admission.failures or admission.is_local
        if admission.verdict is Pass.GO and not is_news:
            return
        try:
            async with asyncio.timeout(_PATIENCE_S):
                what, _, failures = await self._run("report", endpoint, owner=admission.owner, verdict=verdict)
        except REDIS_AWAY as error:
            log.warning("breaker_unreachable", asked="report", error=type(error).__name__)
            self._report_alone(endpoint, admission, verdict, error)
            return
        await self._changed(endpoint, what, failures)

    def _report_alone(self, endpoint: str, admission: Admission, verdict: Verdict, error: Exception) -> None:
        # A server that is merely slow has the report already and will carry it out.
        if not isinstance(error, TimeoutError | RedisTimeoutError):
            self._local.tell_later(endpoint, verdict)
        failures = self._local.report(endpoint, verdict, owner=admission.owner)
        if failures is not None:
            log.warning("breaker_opened", endpoint=endpoint, failures=failures, by="calls", shared=False)

    async def _catch_up(self, endpoint: str) -> None:
        """Tell Redis what became of the calls that it missed; the others' breakers then know it too."""
        left = list(self._local.untold(endpoint))
        try:
            while left:
                what, _, failures = await self._run("report", endpoint, owner=_CATCHING_UP, verdict=left[0])
                del left[0]
                await self._changed(endpoint, what, failures)
        finally:
            for verdict in left:
                self._local.tell_later(endpoint, verdict)

    async def _changed(self, endpoint: str, what: str, failures: int) -> None:
        """Note a change that a report brought about."""
        if what == "opened":
            self._local.learn(endpoint, Pass.NO, failures=failures, rest_ms=self._rules.cooldown_ms)
            await self._tell(endpoint, BreakerState.OPEN, failures=failures)
        elif what == "closed":
            self._local.learn(endpoint, Pass.GO, failures=0)
            await self._tell(endpoint, BreakerState.CLOSED, failures=failures)

    async def states(self) -> list[BreakerView]:
        """List the breakers that are not in good standing, by endpoint. Raises StoreUnavailable."""
        try:
            seconds, microseconds = await self._redis.time()
            now_ms = int(seconds) * 1000 + int(microseconds) // 1000
            found = [key async for key in self._redis.scan_iter(match=self._keys.breaker("*"), count=1000)]
            views = [self._view(await self._fields(key), now_ms=now_ms) for key in found]
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not answer") from error
        return sorted((view for view in views if view.endpoint), key=lambda view: view.endpoint)

    async def open(self, endpoint: str) -> None:
        """Keep everybody away from the endpoint until `close`. Raises StoreUnavailable."""
        try:
            await self._run("open", endpoint)
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not answer") from error
        await self._tell(endpoint, BreakerState.FORCED_OPEN, by="operator")

    async def close(self, endpoint: str) -> None:
        """Let calls through again, with a clean record. Raises StoreUnavailable."""
        try:
            await self._redis.delete(self._key(endpoint))
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not answer") from error
        await self._tell(endpoint, BreakerState.CLOSED, by="operator")

    async def changes(self, *, limit: int = 100) -> list[BreakerChange]:
        """List what became of the breakers, the newest first. Raises StoreUnavailable."""
        try:
            found = await self._redis.xrevrange(self._keys.breaker_changes(), count=limit)
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not answer") from error
        return [_change(str(entry_id), fields) for entry_id, fields in cast("Entries", found)]

    async def _tell(self, endpoint: str, state: BreakerState, *, failures: int = 0, by: str = "calls") -> None:
        """Log a change, and write it where operators and dashboards read; losing the note loses nothing else."""
        telemetry.BREAKER_CHANGES.labels(str(state), by).inc()
        tell = log.info if state in (BreakerState.CLOSED, BreakerState.HALF_OPEN) else log.warning
        tell(_EVENTS[state], endpoint=endpoint, failures=failures, by=by)
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._redis.xadd(
                    self._keys.breaker_changes(),
                    {"endpoint": endpoint, "state": str(state), "failures": failures, "by": by},
                    maxlen=_CHANGES_KEPT,
                    approximate=True,
                )
        except REDIS_AWAY as error:
            log.warning("breaker_unreachable", asked="tell", error=type(error).__name__)

    async def _fields(self, key: str) -> dict[str, str]:
        return {str(name): str(value) for name, value in (await self._redis.hgetall(key)).items()}

    def _key(self, endpoint: str) -> str:
        return self._keys.breaker(hashlib.sha256(endpoint.encode()).hexdigest()[:32])

    async def _run(
        self, operation: str, endpoint: str, *, owner: str = "", verdict: str = "", probe_ms: int = 0
    ) -> tuple[str, int, int]:
        rules = self._rules
        what, wait, failures = await self._script(
            keys=[self._key(endpoint)],
            args=[
                operation,
                owner,
                verdict,
                rules.failures_to_open,
                rules.cooldown_ms,
                probe_ms,
                endpoint,
                max(_FORGOTTEN_AFTER_MS, 10 * rules.cooldown_ms),
            ],
        )
        return str(what), int(wait), int(failures)

    def _view(self, fields: dict[str, str], *, now_ms: int) -> BreakerView:
        breaker = Breaker(
            failures=int(fields.get("failures") or 0),
            opened_at_ms=int(fields["opened_at"]) if fields.get("opened_at") else None,
            prober=fields.get("prober", ""),
            probe_until_ms=int(fields.get("probe_until") or 0),
            is_forced=fields.get("forced") == "1",
        )
        return BreakerView(
            endpoint=fields.get("endpoint", ""),
            state=state_of(breaker, now_ms=now_ms, rules=self._rules),
            failures=breaker.failures,
            # One that an operator opened waits for an operator.
            retry_after_s=0.0 if breaker.is_forced else wait_ms(breaker, now_ms=now_ms, rules=self._rules) / 1000,
        )


def _admission(owner: str, verdict: Pass, rest_ms: int, failures: int, *, is_local: bool = False) -> Admission:
    return Admission(
        owner=owner,
        verdict=verdict,
        failures=failures,
        retry_after_s=rest_ms / 1000 if verdict is Pass.NO and rest_ms else None,
        is_local=is_local,
    )


def _change(entry_id: str, fields: Mapping[str, str]) -> BreakerChange:
    return BreakerChange(
        at=datetime.fromtimestamp(int(entry_id.partition("-")[0]) / 1000, UTC),
        endpoint=str(fields["endpoint"]),
        state=BreakerState(fields["state"]),
        failures=int(fields["failures"]),
        by=str(fields["by"]),
    )
