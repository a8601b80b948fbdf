"""Time comes in by the door: rules receive `now`, they never ask for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the current moment, aware, in UTC."""
    return datetime.now(UTC)


def local_time(moment: datetime, time_zone: str) -> datetime:
    """Move a moment to a zone by its IANA name; one that nobody knows leaves it where it is."""
    try:
        return moment.astimezone(ZoneInfo(time_zone))
    except (ZoneInfoNotFoundError, ValueError):
        return moment
