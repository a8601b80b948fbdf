"""Spans of days → what a date parameter wants: an ISO date, or a moment in UTC (YYYY-MM-DDTHH:MM:SSZ)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, tzinfo

from workers.slotfilling.dates import DateSpan

_END_OF_DAY = time(23, 59, 59)


def as_date(span: DateSpan, *, is_end: bool) -> str:
    """Return the span's first day, or its last for the end of a pair."""
    return (span.last if is_end else span.first).isoformat()


def as_moment(span: DateSpan, *, is_end: bool, zone: tzinfo) -> str:
    """Return the moment in UTC. A bare date begins at midnight of the person's zone and ends with its last second."""
    if span.moment is not None:
        exact = span.moment if span.moment.tzinfo else span.moment.replace(tzinfo=zone)
    else:
        day: date = span.last if is_end else span.first
        clock = span.at or (_END_OF_DAY if is_end else time(0))
        exact = datetime.combine(day, clock, tzinfo=zone)
    return exact.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
