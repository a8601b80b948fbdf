"""The breakers of this process alone: they decide while Redis is away, and know what Redis last said.

The rules are those of breaker.py, on this process's own clock. What happened meanwhile is handed to Redis when it is
back. Endpoints in good standing take no memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from workers.calling.breaker import Breaker, BreakerRules, Pass, Verdict, admit, report, wait_ms

NowMs = Callable[[], int]


def monotonic_ms() -> int:
    """Count milliseconds on a clock that nobody sets."""
    return time.monotonic_ns() // 1_000_000


@dataclass
class _Untold:
    """What Redis has not heard: whether an answer came, and how many failures in a row followed."""

    was_healthy: bool = False
    failures: int = 0

    def add(self, verdict: Verdict) -> None:
        if verdict is Verdict.HEALTHY:
            self.was_healthy, self.failures = True, 0
        elif verdict is Verdict.FAILING:
            self.failures += 1


@dataclass
class LocalBreakers:
    """One breaker for each endpoint in trouble."""

    rules: BreakerRules
    now_ms: NowMs = monotonic_ms
    _breakers: dict[str, Breaker] = field(default_factory=dict)
    _untold: dict[str, _Untold] = field(default_factory=dict)

    def learn(self, endpoint: str, said: Pass, *, failures: int, rest_ms: int = 0) -> None:
        """Take over what Redis just said of the endpoint; a NO without a rest is an operator's, and stands."""
        if said is Pass.GO:
            self._keep(endpoint, Breaker(failures=failures))
            return
        opened_at_ms = self.now_ms() + rest_ms - self.rules.cooldown_ms
        is_forced = said is Pass.NO and rest_ms == 0
        self._keep(endpoint, Breaker(failures=failures, opened_at_ms=opened_at_ms, is_forced=is_forced))

    def admit(self, endpoint: str, *, owner: str, probe_ms: int) -> tuple[Pass, int, int]:
        """Decide as Redis would; also return how long to wait, in ms, and the failures in a row."""
        breaker, verdict = admit(
            self._of(endpoint), owner=owner, now_ms=self.now_ms(), probe_ms=probe_ms, rules=self.rules
        )
        self._keep(endpoint, breaker)
        rest_ms = 0 if breaker.is_forced else wait_ms(breaker, now_ms=self.now_ms(), rules=self.rules)
        return verdict, rest_ms, breaker.failures

    def report(self, endpoint: str, verdict: Verdict, *, owner: str) -> int | None:
        """Note how a call ended; return the failures in a row when this opened the breaker, else None."""
        before = self._of(endpoint)
        after = report(before, verdict, owner=owner, now_ms=self.now_ms(), rules=self.rules)
        self._keep(endpoint, after)
        return after.failures if after.opened_at_ms not in (None, before.opened_at_ms) else None

    def tell_later(self, endpoint: str, verdict: Verdict) -> None:
        """Keep an ending for Redis, which has not heard of it."""
        self._untold.setdefault(endpoint, _Untold()).add(verdict)

    def untold(self, endpoint: str) -> tuple[Verdict, ...]:
        """Return what Redis is to be told of the endpoint, in order; it counts as told from here on."""
        if endpoint not in self._untold:
            return ()
        held = self._untold.pop(endpoint)
        # More failures than open a breaker say no more.
        failures = min(held.failures, self.rules.failures_to_open)
        return (Verdict.HEALTHY,) * held.was_healthy + (Verdict.FAILING,) * failures

    def _of(self, endpoint: str) -> Breaker:
        return self._breakers.get(endpoint, Breaker())

    def _keep(self, endpoint: str, breaker: Breaker) -> None:
        if breaker == Breaker():
            self._breakers.pop(endpoint, None)
        else:
            self._breakers[endpoint] = breaker
