from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schemas.calls import CallFailed, CallSucceeded, FailureReason
from workers.calling.retries import LONGEST_WAIT_S, is_worth_retrying, retry_after, wait_s

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def failed(reason: FailureReason, status: int = 0, retry_after_s: float | None = None) -> CallFailed:
    return CallFailed(call_id="c", reason=reason, status=status, retry_after_s=retry_after_s)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        (" 120 ", 120.0),
        ("0", 0.0),
        ("Tue, 01 Dec 2026 12:00:30 GMT", 30.0),
        ("Tue, 01 Dec 2026 11:00:00 GMT", 0.0),
        ("Tue, 01 Dec 2026 12:00:30 -0000", 30.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("9999999999999", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_or_nothing(header: str, seconds: float | None) -> None:
    assert retry_after(header, now=NOON) == seconds


@pytest.mark.parametrize(
    ("outcome", "is_worth"),
    [
        (failed(FailureReason.TIMED_OUT), True),
        (failed(FailureReason.UNREACHABLE), True),
        (failed(FailureReason.RATE_LIMITED, 429), True),
        (failed(FailureReason.SERVER_ERROR, 503), True),
        (failed(FailureReason.SERVER_ERROR, 501), False),
        (failed(FailureReason.SERVER_ERROR, 200), False),
        (failed(FailureReason.CLIENT_ERROR, 400), False),
        (failed(FailureReason.REFUSED), False),
        (failed(FailureReason.BREAKER_OPEN), False),
        (failed(FailureReason.UNKNOWN), False),
        (failed(FailureReason.REDIRECTED, 302), False),
        (failed(FailureReason.TOO_LARGE, 200), False),
        (CallSucceeded(call_id="c", status=200), False),
    ],
)
def test_only_what_may_pass_by_itself_is_tried_again(
    outcome: CallFailed | CallSucceeded,
    is_worth: bool,  # noqa: FBT001
) -> None:
    assert is_worth_retrying(outcome) is is_worth


def test_waits_double_up_to_a_bound_and_are_spread_by_chance() -> None:
    trouble = failed(FailureReason.TIMED_OUT)

    assert [wait_s(trouble, attempt=n, chance=1.0) for n in (1, 2, 3)] == [0.2, 0.4, 0.8]
    assert wait_s(trouble, attempt=30, chance=1.0) == LONGEST_WAIT_S
    assert wait_s(trouble, attempt=3, chance=0.0) == 0.0


def test_what_the_api_asks_for_goes_before_our_own_bound() -> None:
    assert wait_s(failed(FailureReason.RATE_LIMITED, 429, 17.0), attempt=1, chance=0.5) == 17.0
