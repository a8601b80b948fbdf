"""Reads query parameters and JSON bodies as a careful public API does: every fault is collected and named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import TypeVar

Day = TypeVar("Day", bound=date)

LONGEST_VALUE = 200
FIRST_YEAR, LAST_YEAR = 1900, 2200


class Refused(Exception):
    """The request can't be served; `faults` are (field, message) pairs fit for people."""

    def __init__(self, faults: list[tuple[str, str]], *, status: int = 422) -> None:
        super().__init__(faults)
        self.faults = faults
        self.status = status


def _read(reader: Callable[[str], Day], value: str) -> Day | None:
    """Read a date or a moment; None when it is none, or lies outside the centuries that the services know."""
    try:
        read = reader(value)
    except ValueError:
        return None
    return read if FIRST_YEAR <= read.year <= LAST_YEAR else None


class Given:
    """The values of one request. Readers note faults and give a stand-in; `check` raises Refused when there are any."""

    def __init__(self, values: Mapping[str, object], *, today: date) -> None:
        self._values = values
        self._faults: list[tuple[str, str]] = []
        self.today = today

    def fault(self, field: str, message: str) -> None:
        self._faults.append((field, message))

    def check(self) -> None:
        if self._faults:
            raise Refused(self._faults)

    def has(self, name: str) -> bool:
        return str(self._values.get(name) or "").strip() != ""

    def text(self, name: str, *, pattern: str = "", hint: str = "") -> str:
        """Read a text, required; `pattern` must match it whole, and `hint` says what it should look like."""
        value = str(self._values.get(name) or "").strip()
        if not value:
            self.fault(name, f"The parameter {name} is required.")
        elif len(value) > LONGEST_VALUE or (pattern and not re.fullmatch(pattern, value, re.IGNORECASE)):
            self.fault(name, hint or f"The parameter {name} is too long.")
        return value[:LONGEST_VALUE]

    def choice(self, name: str, allowed: Mapping[str, object], *, default: str = "") -> str:
        """Read one of the allowed codes, in any case; required without a default."""
        value = str(self._values.get(name) or default).strip().upper()
        if value not in allowed:
            self.fault(name, f"The parameter {name} must be one of {', '.join(allowed)}.")
            return next(iter(allowed))
        return value

    def day(self, name: str, *, default: date | None = None) -> date:
        """Read a date as YYYY-MM-DD; a moment gives its day. Required without a default."""
        value = str(self._values.get(name) or "").strip()
        if not value and default is not None:
            return default
        read = _read(date.fromisoformat, value[:10])
        if read is None:
            self.fault(name, f"The parameter {name} must be a date such as 2026-05-31.")
        return read or self.today

    def moment(self, name: str) -> datetime:
        """Read a moment as ISO 8601; one without an offset is UTC. Required."""
        value = str(self._values.get(name) or "").strip()
        read = _read(datetime.fromisoformat, value)
        if read is None:
            self.fault(name, f"The parameter {name} must be a date and time such as 2026-05-31T12:00:00Z.")
            return datetime(self.today.year, self.today.month, self.today.day, tzinfo=UTC)
        return read if read.tzinfo else read.replace(tzinfo=UTC)

    def whole(self, name: str, *, least: int, most: int) -> int:
        """Read a whole number within bounds, required."""
        value = str(self._values.get(name) or "").strip()
        if not re.fullmatch(r"-?\d{1,9}", value) or not least <= int(value) <= most:
            self.fault(name, f"The parameter {name} must be a whole number from {least} to {most}.")
            return least
        return int(value)

    def amount(self, name: str, *, most: float) -> float:
        """Read a positive amount, required; a decimal comma is understood."""
        value = str(self._values.get(name) or "").strip().replace(",", ".")
        if not re.fullmatch(r"\d{1,12}(\.\d+)?", value) or not 0 < float(value) <= most:
            self.fault(name, f"The parameter {name} must be a positive amount.")
            return 1.0
        return float(value)

    def flag(self, name: str) -> bool:
        return str(self._values.get(name) or "").strip().lower() in ("true", "1", "yes")

    def period(self, first: str, last: str, *, most_days: int) -> tuple[date, date]:
        """Read two dates in order, at most so many days apart."""
        begin, end = self.day(first), self.day(last)
        if end < begin:
            self.fault(last, f"The parameter {last} must not be before {first}.")
        elif (end - begin).days > most_days:
            self.fault(last, f"The period must not be longer than {most_days} days.")
        return begin, end
