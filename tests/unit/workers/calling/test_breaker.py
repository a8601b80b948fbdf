from __future__ import annotations

import pytest

from schemas.calls import CallFailed, CallSucceeded, FailureReason
from workers.calling.breaker import (
    Breaker,
    BreakerRules,
    BreakerState,
    Pass,
    Verdict,
    admit,
    report,
    state_of,
    verdict_on,
    wait_ms,
)

RULES = BreakerRules(failures_to_open=3, cooldown_ms=1000)
PROBE_MS = 500
OPENED = Breaker(failures=3, opened_at_ms=10_000)


def may(breaker: Breaker, owner: str, now_ms: int) -> tuple[Breaker, Pass]:
    return admit(breaker, owner=owner, now_ms=now_ms, probe_ms=PROBE_MS, rules=RULES)


def told(breaker: Breaker, *verdicts: Verdict, owner: str = "a", now_ms: int = 10_000) -> Breaker:
    for verdict in verdicts:
        breaker = report(breaker, verdict, owner=owner, now_ms=now_ms, rules=RULES)
    return breaker


def test_it_opens_after_exactly_the_failures_in_a_row() -> None:
    assert told(Breaker(), Verdict.FAILING, Verdict.FAILING).opened_at_ms is None
    assert told(Breaker(), Verdict.FAILING, Verdict.FAILING, Verdict.FAILING) == OPENED


def test_a_healthy_answer_interrupts_the_row_and_a_call_that_says_nothing_does_not() -> None:
    f, h, n = Verdict.FAILING, Verdict.HEALTHY, Verdict.NOTHING

    assert told(Breaker(), f, f, h, f, f).opened_at_ms is None
    assert told(Breaker(), f, f, n, f).opened_at_ms is not None


def test_an_open_breaker_lets_nobody_through_until_the_cooldown_has_passed() -> None:
    assert may(OPENED, "a", 10_999)[1] is Pass.NO
    assert may(OPENED, "a", 11_000)[1] is Pass.PROBE


def test_only_one_probe_goes_and_its_owner_may_ask_twice() -> None:
    probing, first = may(OPENED, "a", 11_000)

    assert first is Pass.PROBE
    assert may(probing, "b", 11_000)[1] is Pass.NO
    assert may(probing, "a", 11_001)[1] is Pass.PROBE


def test_a_prober_that_died_is_replaced_once_its_time_is_over() -> None:
    probing, _ = may(OPENED, "a", 11_000)

    assert may(probing, "b", 11_499)[1] is Pass.NO
    assert may(probing, "b", 11_500)[1] is Pass.PROBE


def test_the_probes_ending_decides() -> None:
    probing, _ = may(OPENED, "a", 11_000)

    assert told(probing, Verdict.HEALTHY, now_ms=11_100) == Breaker()
    assert wait_ms(told(probing, Verdict.FAILING, now_ms=11_100), now_ms=11_100, rules=RULES) == 1000
    assert may(told(probing, Verdict.NOTHING, now_ms=11_100), "b", 11_100)[1] is Pass.PROBE


def test_late_news_from_others_changes_nothing_while_open() -> None:
    probing, _ = may(OPENED, "a", 11_000)

    assert told(probing, Verdict.HEALTHY, owner="late") == probing
    assert told(probing, Verdict.FAILING, owner="late") == probing
    assert told(OPENED, Verdict.HEALTHY, owner="late") == OPENED


def test_one_that_an_operator_opened_stays_open_for_ever() -> None:
    forced = Breaker(opened_at_ms=0, is_forced=True)

    assert may(forced, "a", 10**12)[1] is Pass.NO
    assert told(forced, Verdict.HEALTHY) == forced
    assert state_of(forced, now_ms=10**12, rules=RULES) is BreakerState.FORCED_OPEN


@pytest.mark.parametrize(
    ("breaker", "now_ms", "state"),
    [
        (Breaker(failures=2), 0, BreakerState.CLOSED),
        (OPENED, 10_999, BreakerState.OPEN),
        (OPENED, 11_000, BreakerState.HALF_OPEN),
    ],
)
def test_states_have_names(breaker: Breaker, now_ms: int, state: BreakerState) -> None:
    assert state_of(breaker, now_ms=now_ms, rules=RULES) is state


@pytest.mark.parametrize(
    ("reason", "verdict"),
    [
        (FailureReason.TIMED_OUT, Verdict.FAILING),
        (FailureReason.UNREACHABLE, Verdict.FAILING),
        (FailureReason.SERVER_ERROR, Verdict.FAILING),
        (FailureReason.RATE_LIMITED, Verdict.FAILING),
        (FailureReason.UNKNOWN, Verdict.FAILING),
        (FailureReason.CLIENT_ERROR, Verdict.HEALTHY),
        (FailureReason.REDIRECTED, Verdict.HEALTHY),
        (FailureReason.TOO_LARGE, Verdict.HEALTHY),
        (FailureReason.REFUSED, Verdict.NOTHING),
        (FailureReason.BREAKER_OPEN, Verdict.NOTHING),
    ],
)
def test_every_reason_has_its_verdict(reason: FailureReason, verdict: Verdict) -> None:
    assert verdict_on(CallFailed(call_id="c", reason=reason)) is verdict


def test_no_reason_is_forgotten_and_success_is_healthy() -> None:
    assert verdict_on(CallSucceeded(call_id="c", status=200)) is Verdict.HEALTHY
    assert {verdict_on(CallFailed(call_id="c", reason=reason)) for reason in FailureReason} == set(Verdict)


def test_a_call_that_the_deadline_cut_short_is_not_held_against_the_endpoint() -> None:
    cut = CallFailed(call_id="c", reason=FailureReason.TIMED_OUT)

    assert verdict_on(cut, had_fair_time=False) is Verdict.NOTHING
    assert verdict_on(cut.model_copy(update={"status": 408}), had_fair_time=False) is Verdict.FAILING
