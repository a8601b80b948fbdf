"""The breakers of all endpoints, shared by all workers in Redis. State lives there only; every new process reads it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from typing import cast

import redis.asyncio as aioredis
import structlog

from workers.calling.breaker import Breaker, BreakerRules, BreakerState, Pass, Verdict, state_of, wait_ms
from workers.errors import StoreUnavailable
from workers.runtime.keys import Keys
from workers.runtime.redis import REDIS_AWAY

log = structlog.get_logger(__name__)

Entries = list[tuple[str, dict[str, str]]]

_FORGOTTEN_AFTER_MS = 3_600_000
_CHANGES_KEPT = 1_000


_EVENTS = {
    BreakerState.CLOSED: "breaker_closed",
    BreakerState.OPEN: "breaker_opened",
    BreakerState.HALF_OPEN: "breaker_probed",
    BreakerState.FORCED_OPEN: "breaker_opened",
}


@dataclass(frozen=True, kw_only=True)
class Admission:
    """Whether a call may go out. `owner` is handed back with the report; `failures` counts the row so far."""

    owner: str
    verdict: Pass
    failures: int = 0
    retry_after_s: float | None = None


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
    """Asks and tells the shared breakers. When Redis blinks, calls go out, and the log says so."""

    def __init__(self, redis: aioredis.Redis, keys: Keys, rules: BreakerRules) -> None:
        self._redis = redis
        self._keys = keys
        self._rules = rules
        script = resources.files(__package__) / "scripts" / "breaker.lua"
        self._script = redis.register_script(script.read_text(encoding="utf-8"))

    async def admit(self, endpoint: str, *, owner: str, probe_s: float) -> Admission:
        """Ask whether a call to the endpoint (see `plan.endpoint_address`) may go out.

        As a probe it keeps everybody else away until its report, for `probe_s` at most.
        """
        try:
            what, wait, failures = await self._run("admit", endpoint, owner=owner, probe_ms=round(probe_s * 1000))
        except REDIS_AWAY as error:
            log.warning("breaker_unreachable", asked="admit", error=type(error).__name__)
            # A failure count of one makes the report go out whatever the ending.
            return Admission(owner=owner, verdict=Pass.GO, failures=1)
        verdict = Pass(what)
        if verdict is Pass.PROBE:
            await self._tell(endpoint, BreakerState.HALF_OPEN, failures=failures)
        return Admission(
            owner=owner,
            verdict=verdict,
            failures=failures,
            retry_after_s=wait / 1000 if verdict is Pass.NO and wait else None,
        )

    async def report(self, endpoint: str, admission: Admission, verdict: Verdict) -> None:
        """Tell how the call ended. Good news about an endpoint in good standing is no news and costs nothing."""
        if admission.verdict is Pass.GO and not (verdict is Verdict.FAILING or admission.failures):
            return
        try:
            what, _, failures = await self._run("report", endpoint, owner=admission.owner, verdict=verdict)
        except REDIS_AWAY as error:
            log.warning("breaker_unreachable", asked="report", error=type(error).__name__)
            return
        if what in ("opened", "closed"):
            state = BreakerState.OPEN if what == "opened" else BreakerState.CLOSED
            await self._tell(endpoint, state, failures=failures)

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
        tell = log.info if state in (BreakerState.CLOSED, BreakerState.HALF_OPEN) else log.warning
        tell(_EVENTS[state], endpoint=endpoint, failures=failures, by=by)
        try:
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


def _change(entry_id: str, fields: Mapping[str, str]) -> BreakerChange:
    return BreakerChange(
        at=datetime.fromtimestamp(int(entry_id.partition("-")[0]) / 1000, UTC),
        endpoint=str(fields["endpoint"]),
        state=BreakerState(fields["state"]),
        failures=int(fields["failures"]),
        by=str(fields["by"]),
    )
