"""Time comes in by the door: rules receive `now`, they never ask for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the current moment, aware, in UTC."""
    return datetime.now(UTC)
