"""Dates and times as people say them in English, Estonian and Russian.

Forms follow CLDR's long patterns: "1 January 2026" (en-GB), "1. jaanuar 2026", "1 января 2026 г.".
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from typing import Literal

from schemas.endpoints import Language
from workers.messages.catalog import phrases, text

Case = Literal["plain", "on", "from", "until"]

# The endings that Estonian adds to a month's genitive: jaanuaril (on), jaanuarist (from), jaanuarini (until).
_ESTONIAN_ENDINGS: dict[Case, str] = {"on": "l", "from": "st", "until": "ni"}

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?")
_CLOCK = re.compile(r"\d\d:\d\d(:\d\d)?")


def read_moment(written: str) -> date | datetime | time | None:
    """Read an ISO 8601 date, moment or clock time; None for anything else. A datetime is also a date."""
    try:
        if _DATE.fullmatch(written):
            return date.fromisoformat(written)
        if _MOMENT.fullmatch(written):
            return datetime.fromisoformat(written)
        if _CLOCK.fullmatch(written):
            return time.fromisoformat(written)
    except ValueError:
        return None
    return None


def day_month(day: date, language: Language, *, case: Case = "plain") -> str:
    """Say a day without its year: "24 February", "24. veebruar", "24 февраля"."""
    month = phrases("calendar.months", language)[day.month - 1]
    if language != "et":
        return f"{day.day} {month}"
    if case == "plain":
        return f"{day.day}. {month}"
    return f"{day.day}. {phrases('calendar.months_genitive', language)[day.month - 1]}{_ESTONIAN_ENDINGS[case]}"


def spoken_date(day: date, language: Language, *, case: Case = "plain", weekday: bool = False) -> str:
    """Say a day with its year; `case` gives Estonian its ending, `weekday` puts the day's name in front."""
    year = f"{day.year} г." if language == "ru" else str(day.year)
    said = f"{day_month(day, language, case=case)} {year}"
    return f"{weekday_name(day, language)}, {said}" if weekday else said


def weekday_name(day: date, language: Language) -> str:
    return phrases("calendar.weekdays", language)[day.weekday()]


def spoken_time(moment: datetime | time) -> str:
    """Say hours and minutes; a moment given in UTC says so, any other offset is taken as local clock time."""
    clock = f"{moment.hour:02}:{moment.minute:02}"
    return f"{clock} UTC" if moment.utcoffset() == timedelta(0) else clock


def spoken_moment(moment: datetime, language: Language) -> str:
    """Say day and time: "12 May 2026 at 14:30"."""
    return f"{spoken_date(moment, language)} {text('calendar.at', language)} {spoken_time(moment)}"


def spoken_span(first: date, last: date, language: Language) -> str:
    """Say a span of days, both included, naming month and year once when they are shared."""
    if first == last:
        return spoken_date(first, language)
    dot = "." if language == "et" else ""
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}{dot}–{spoken_date(last, language)}"
    if first.year == last.year:
        return f"{day_month(first, language)} – {spoken_date(last, language)}"
    return f"{spoken_date(first, language)} – {spoken_date(last, language)}"


def spoken_within(first: date, last: date, language: Language) -> str:
    """Say when something is: "on 24 February 2027", "in the period 1–31 May 2026"."""
    if first == last:
        return text("calendar.on_day", language, day=spoken_date(first, language, case="on"))
    return text("calendar.in_period", language, days=spoken_span(first, last, language))


def spoken(moment: date | datetime | time, language: Language) -> str:
    """Say whatever `read_moment` found."""
    if isinstance(moment, datetime):
        return spoken_moment(moment, language)
    if isinstance(moment, date):
        return spoken_date(moment, language)
    return spoken_time(moment)
