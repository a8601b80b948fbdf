"""When an endpoint is left alone for a while. Pure; scripts/breaker.lua keeps the same rules for all workers at once.

closed    → open       after `failures_to_open` failures in a row
open      → half-open  once the cooldown has passed: one probe may go, until its own time is over
half-open → closed     the probe was answered
half-open → open       the probe failed; the cooldown starts again
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from schemas.calls import CallFailed, CallOutcome, FailureReason


class Verdict(StrEnum):
    """What a call says about its endpoint's health. NOTHING still gives the probe back."""

    HEALTHY = "healthy"
    FAILING = "failing"
    NOTHING = "nothing"


class Pass(StrEnum):
    """Whether a call may go out."""

    GO = "go"
    PROBE = "probe"
    NO = "no"


class BreakerState(StrEnum):
    """As operators see it."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"
    FORCED_OPEN = "forced_open"


@dataclass(frozen=True, kw_only=True)
class BreakerRules:
    """After how many failures in a row to open, and for how long."""

    failures_to_open: int = 5
    cooldown_ms: int = 30_000


@dataclass(frozen=True, kw_only=True)
class Breaker:
    """Moments are milliseconds of the store's clock. `prober` holds the probe until `probe_until_ms`."""

    failures: int = 0
    opened_at_ms: int | None = None
    prober: str = ""
    probe_until_ms: int = 0
    is_forced: bool = False


_FAILING = frozenset(
    {
        FailureReason.SERVER_ERROR,
        FailureReason.TIMED_OUT,
        FailureReason.UNREACHABLE,
        FailureReason.RATE_LIMITED,
        FailureReason.UNKNOWN,
    }
)
_OURS = frozenset({FailureReason.REFUSED, FailureReason.BREAKER_OPEN})


def verdict_on(outcome: CallOutcome, *, had_fair_time: bool = True) -> Verdict:
    """Judge the endpoint by an outcome: timeouts, broken connections, 5xx and 429 count against it.

    Any other answer shows that it is alive: a 4xx is the caller's fault, and interrupts a row of failures. Our own
    refusals say nothing, nor does a timeout when the turn's deadline left the call less than its fair time.
    """
    if not isinstance(outcome, CallFailed):
        return Verdict.HEALTHY
    if outcome.reason in _OURS:
        return Verdict.NOTHING
    is_cut_short = outcome.status == 0 and outcome.reason in (FailureReason.TIMED_OUT, FailureReason.UNKNOWN)
    if is_cut_short and not had_fair_time:
        return Verdict.NOTHING
    return Verdict.FAILING if outcome.reason in _FAILING else Verdict.HEALTHY


def admit(breaker: Breaker, *, owner: str, now_ms: int, probe_ms: int, rules: BreakerRules) -> tuple[Breaker, Pass]:
    """Decide whether a call may go out, and note it when it is the probe.

    A probe whose report does not come within `probe_ms` is taken for dead, and another may try.
    """
    if breaker.is_forced:
        return breaker, Pass.NO
    if breaker.opened_at_ms is None:
        return breaker, Pass.GO
    if wait_ms(breaker, now_ms=now_ms, rules=rules) > 0 and breaker.prober != owner:
        return breaker, Pass.NO
    return replace(breaker, prober=owner, probe_until_ms=now_ms + probe_ms), Pass.PROBE


def report(breaker: Breaker, verdict: Verdict, *, owner: str, now_ms: int, rules: BreakerRules) -> Breaker:
    """Note how a call ended. Late news of calls that went out before the breaker opened changes nothing."""
    if breaker.opened_at_ms is None:
        return _report_closed(breaker, verdict, now_ms=now_ms, rules=rules)
    if breaker.prober != owner or breaker.is_forced:
        return breaker
    match verdict:
        case Verdict.HEALTHY:
            return Breaker()
        case Verdict.FAILING:
            return replace(breaker, opened_at_ms=now_ms, prober="", probe_until_ms=0)
        case Verdict.NOTHING:
            return replace(breaker, prober="", probe_until_ms=0)


def _report_closed(breaker: Breaker, verdict: Verdict, *, now_ms: int, rules: BreakerRules) -> Breaker:
    match verdict:
        case Verdict.HEALTHY:
            return Breaker()
        case Verdict.FAILING:
            failures = breaker.failures + 1
            opened_at_ms = now_ms if failures >= rules.failures_to_open else None
            return replace(breaker, failures=failures, opened_at_ms=opened_at_ms)
        case Verdict.NOTHING:
            return breaker


def wait_ms(breaker: Breaker, *, now_ms: int, rules: BreakerRules) -> int:
    """Return how long until a call may be tried: the rest of the cooldown or of the running probe; 0 when closed."""
    if breaker.opened_at_ms is None:
        return 0
    cooldown = breaker.opened_at_ms + rules.cooldown_ms - now_ms
    probe = breaker.probe_until_ms - now_ms if breaker.prober else 0
    return max(0, cooldown, probe)


def state_of(breaker: Breaker, *, now_ms: int, rules: BreakerRules) -> BreakerState:
    """Name the state; half-open means that a probe runs, or that the next call will be one."""
    if breaker.is_forced:
        return BreakerState.FORCED_OPEN
    if breaker.opened_at_ms is None:
        return BreakerState.CLOSED
    has_cooled = now_ms >= breaker.opened_at_ms + rules.cooldown_ms
    return BreakerState.HALF_OPEN if has_cooled else BreakerState.OPEN
