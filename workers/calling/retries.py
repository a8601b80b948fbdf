"""When a call is worth another try, and how long to wait first. Pure; only repeatable calls ever come here."""

from __future__ import annotations

import email.utils
import re
from datetime import UTC, datetime
from http import HTTPStatus

from schemas.calls import CallFailed, CallOutcome, FailureReason

FIRST_WAIT_S = 0.2
LONGEST_WAIT_S = 5.0
_BRIEF_TROUBLES = frozenset(
    {
        HTTPStatus.INTERNAL_SERVER_ERROR,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)
_ALWAYS = frozenset({FailureReason.TIMED_OUT, FailureReason.UNREACHABLE, FailureReason.RATE_LIMITED})


def is_worth_retrying(outcome: CallOutcome) -> bool:
    """Whether the failure may pass by itself: timeouts, broken connections, 429, and the 5xx that mean "later"."""
    if not isinstance(outcome, CallFailed):
        return False
    return outcome.reason in _ALWAYS or (
        outcome.reason is FailureReason.SERVER_ERROR and outcome.status in _BRIEF_TROUBLES
    )


def wait_s(outcome: CallOutcome, *, attempt: int, chance: float) -> float:
    """Return the wait before the next try: Retry-After as told, else full jitter on a doubling bound.

    `attempt` counts tries made, from 1; `chance` is uniform in [0, 1).

    Source: "Exponential Backoff And Jitter", M. Brooker, AWS Architecture Blog, 2015 (full jitter).
    """
    if isinstance(outcome, CallFailed) and outcome.retry_after_s is not None:
        return outcome.retry_after_s
    return chance * min(LONGEST_WAIT_S, FIRST_WAIT_S * float(2 ** (attempt - 1)))


def retry_after(header: str, *, now: datetime) -> float | None:
    """Read Retry-After: seconds, or an HTTP date (RFC 9110 section 10.2.3). None when absent or unreadable."""
    text = header.strip()
    if re.fullmatch(r"\d{1,9}", text, re.ASCII):
        return float(text)
    try:
        moment = email.utils.parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
