"""Reads what one name of days means: a date, a weekday, a week, month, quarter or year, near or far.

What such names look like stands in date_forms; ranges are joined, and roles given (from, to), in values_ranges.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, time, timedelta, timezone, tzinfo
from typing import Literal

from workers.extraction import calendar_words as words
from workers.extraction.calendar_math import (
    Calendar,
    Stretch,
    after,
    day_of,
    full_year,
    month_of,
    nearest,
    quarter_of,
    shifted,
    unit_from,
    weekday_from,
    year_of,
)
from workers.extraction.values_numbers import word_value

Role = Literal["", "from", "to", "on"]
Grain = Literal["day", "near", "span", "year", "impossible"]


@dataclass(frozen=True, kw_only=True)
class Days:
    """A stretch of days that somebody named, from `first` to `last`, both included.

    `grain`: day (a date), near (a day by its distance or weekday), span, year (a whole one), impossible (31 April).
    `other` is the second reading of 3/5/2026. `at_first` and `at_last` are clock times, in `zone` and `zone_last` when
    those were said.
    `has_year` is False when the year was supplied by us.
    """

    start: int
    end: int
    first: date
    last: date
    grain: Grain = "day"
    role: Role = ""
    other: date | None = None
    other_last: date | None = None
    is_month_first: bool = False
    at_first: time | None = None
    at_last: time | None = None
    zone: tzinfo | None = None
    zone_last: tzinfo | None = None
    has_year: bool = True
    follows: int = 0

    @property
    def is_day(self) -> bool:
        return self.grain in ("day", "near")


Match = re.Match[str]
Reader = Callable[[Match, Calendar], Days | None]

_UNITS = ("weekend", "day", "week", "month", "quarter", "year")
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4}
ORDINALS = (
    r"first|1st|esime\w+|перв\w+",
    r"second|2nd|teis[ei]\w*|втор\w+",
    r"third|3rd|kolmanda\w*|kolmas|треть\w+|трети\w+",
    r"fourth|4th|last|neljanda\w*|neljas|четверт\w+",
)


def _begin(match: Match) -> int:
    """Return where the name itself begins; a preposition matched before it stays outside."""
    return match.end("before") if match.groupdict().get("before") else match.start()


def _impossible(match: Match) -> Days:
    return Days(start=_begin(match), end=match.end(), first=date.min, last=date.min, grain="impossible")


def _day(match: Match, day: date | None, *, grain: Grain = "day", has_year: bool = True) -> Days:
    if day is None:
        return _impossible(match)
    return Days(start=_begin(match), end=match.end(), first=day, last=day, grain=grain, has_year=has_year)


def _stretch(match: Match, stretch: Stretch | None, *, grain: Grain = "span", has_year: bool = True) -> Days | None:
    if stretch is None:
        return None
    first, last = stretch
    return Days(start=_begin(match), end=match.end(), first=first, last=last, grain=grain, has_year=has_year)


def read_iso(match: Match, _: Calendar) -> Days:
    found = _day(match, day_of(int(match["y"]), int(match["m"]), int(match["d"])))
    if not match["H"] or found.grain == "impossible":
        return found
    try:
        clock = time(int(match["H"]), int(match["M"]), int(match["S"] or 0))
    except ValueError:
        return _impossible(match)
    return _timed(found, clock, _offset(match["zone"]))


def _offset(written: str | None) -> tzinfo | None:
    if not written:
        return None
    if written == "z":
        return timezone.utc  # noqa: UP017 - the same object as datetime.UTC, as a tzinfo beside other offsets
    hours, minutes = int(written[1:3]), int(written[-2:])
    delta = timedelta(hours=min(hours, 23), minutes=min(minutes, 59))
    return timezone(-delta if written[0] == "-" else delta)


def _timed(days: Days, clock: time, zone: tzinfo | None) -> Days:
    return Days(**{**days.__dict__, "at_first": clock, "at_last": clock, "zone": zone, "zone_last": zone})


def read_numeric(match: Match, calendar: Calendar) -> Days:
    one, two, year = int(match["d"]), int(match["m"]), full_year(match["y"])
    day, other = day_of(year, two, one), day_of(year, one, two)
    if not calendar.month_first or match["sep"] == ".":
        return _day(match, day)
    if day and other and day != other:
        return Days(start=match.start(), end=match.end(), first=day, last=day, other=other)
    return replace(_day(match, day or other), is_month_first=day is None)


def _year(match: Match) -> int | None:
    return full_year(match["y"] or match["yy"]) if match["y"] or match["yy"] else None


def read_short(match: Match, calendar: Calendar) -> Days | None:
    day = nearest(int(match["d"]), int(match["m"]), calendar)
    return _day(match, day, has_year=False) if day else None


def read_day_month(match: Match, calendar: Calendar) -> Days:
    day, month, year = int(match["d"]), words.month_number(match["month"]), _year(match)
    found = day_of(year, month, day) if year else nearest(day, month, calendar)
    return _day(match, found, has_year=year is not None)


def read_day_of_month(match: Match, calendar: Calendar) -> Days | None:
    """Read "the 5th of this month"."""
    month = unit_from(calendar, "month", 1 if match["next"] else -1 if match["last"] else 0)
    return _day(match, day_of(month[0].year, month[0].month, int(match["d"]))) if month else None


def read_days_month(match: Match, calendar: Calendar) -> Days:
    month, year = words.month_number(match["month"]), _year(match)
    last_day, first_day = int(match["d2"]), int(match["d"])
    last = day_of(year, month, last_day) if year else nearest(last_day, month, calendar)
    first = day_of(last.year, month, first_day) if last else None
    if last is None or first is None or first > last:
        return _impossible(match)
    return Days(
        start=match.start(), end=match.end(), first=first, last=last, grain="span", role="on", has_year=year is not None
    )


def read_month(match: Match, calendar: Calendar) -> Days | None:
    month, year = words.month_number(match["month"]), _year(match)
    today = calendar.today
    named = match.groupdict()
    is_placed = any(named.get(key) for key in ("before", "this", "next", "last"))
    if year is None and not is_placed and words.SHY_MONTH.fullmatch(match["month"]):
        return None
    if year is None:
        year = today.year
        is_past, is_future = month < today.month, month > today.month
        if match["last"] or (calendar.looks_back and not match["next"]):
            year -= is_future or bool(match["last"] and month == today.month)
        elif not match["this"]:
            year += is_past or bool(match["next"] and month == today.month)
        return _stretch(match, month_of(year, month), has_year=False)
    return _stretch(match, month_of(year, month))


def read_plain_year(match: Match, _: Calendar) -> Days | None:
    return _stretch(match, year_of(int(match["y"])), grain="year")


def read_relative(days: int) -> Reader:
    def read(match: Match, calendar: Calendar) -> Days:
        return _day(match, shifted(calendar.today, days), grain="near")

    return read


def read_weekday(match: Match, calendar: Calendar) -> Days | None:
    named = match["weekday"]
    if len(named) <= 3 and not (match["next"] or match["last"] or match["this"] or match["before"]):  # noqa: PLR2004
        return None  # "sun", "sat", "mon" alone are words of their own
    which = "next" if match["next"] else "last" if match["last"] else "this"
    return _day(match, weekday_from(calendar, words.weekday_number(named), which), grain="near")


def read_weekday_of_week(match: Match, calendar: Calendar) -> Days | None:
    """Read "Tuesday next week": the day of that week, even where it has gone by."""
    week = unit_from(calendar, "week", 1 if match["next"] else -1 if match["last"] else 0)
    day = shifted(week[0], words.weekday_number(match["weekday"])) if week else None
    return _day(match, day, grain="near") if day else None


def read_numbered_day(match: Match, calendar: Calendar) -> Days | None:
    """Read "the 5th" without a month: the next one to come (or the last one gone by) that has such a day."""
    day, today = int(match["d"]), calendar.today
    step = -1 if calendar.looks_back else 1
    for months in range(3):
        month = month_of(today.year, today.month + step * months)
        found = day_of(month[0].year, month[0].month, day) if month else None
        if found and (found <= today if calendar.looks_back else found >= today):
            return _day(match, found)
    return None


def _unit(match: Match) -> str:
    return next(unit for unit in _UNITS if match[unit])


def read_named_unit(match: Match, calendar: Calendar) -> Days | None:
    unit = _unit(match)
    steps = 1 if match["next"] else -1 if match["last"] else 0
    if unit == "day":
        return (
            None
            if not match["next"]
            else Days(
                start=match.start(), end=match.end(), first=calendar.today, last=calendar.today, grain="near", follows=1
            )
        )
    grain: Grain = "year" if unit == "year" else "span"
    return _stretch(match, unit_from(calendar, unit, steps), grain=grain)


def read_adverb_year(match: Match, calendar: Calendar) -> Days | None:
    """Read "tänavu" and "mullu", which are this and last year in one word."""
    return _stretch(match, unit_from(calendar, "year", -1 if match["last"] else 0), grain="year")


def read_weekend(match: Match, calendar: Calendar) -> Days | None:
    return _stretch(match, unit_from(calendar, "weekend", 0))


def read_end_of_unit(match: Match, calendar: Calendar) -> Days | None:
    stretch = unit_from(calendar, _unit(match), 1 if match["next"] else 0)
    return _day(match, stretch[1], grain="day") if stretch else None


def _count(match: Match) -> int | None:
    named = match.groupdict()
    written = named.get("n") or named.get("one") or "1"
    return int(written) if written.isdigit() else word_value(written)


def read_away(sign: int) -> Reader:
    def read(match: Match, calendar: Calendar) -> Days | None:
        count, unit = _count(match), _unit(match)
        if count is None or unit in ("weekend", "quarter"):
            return None
        return _day(match, after(calendar.today, unit, sign * count), grain="near")

    return read


def read_run(match: Match, calendar: Calendar) -> Days | None:
    """Read "the last 7 days" (with today) and "the next 2 weeks" (from today)."""
    count, unit = _count(match), _unit(match)
    if not count or unit in ("weekend", "quarter") or match["this"]:
        return None
    edge = after(calendar.today, unit, -count if match["last"] else count)
    inner = shifted(edge, 1 if match["last"] else -1) if edge else None
    if inner is None:
        return None
    return _stretch(match, (min(inner, calendar.today), max(inner, calendar.today)))


def read_quarter(match: Match, calendar: Calendar) -> Days | None:
    written = match["q"] or match["roman"]
    if written:
        number = _ROMAN.get(written) or int(written)
    else:
        number = next(i for i, pattern in enumerate(ORDINALS, start=1) if re.fullmatch(pattern, match["ordinal"]))
    return _stretch(match, quarter_of(_year(match) or calendar.today.year, number), has_year=_year(match) is not None)


def read_following(match: Match, calendar: Calendar) -> Days:
    today = calendar.today
    return Days(start=match.start(), end=match.end(), first=today, last=today, grain="near", follows=1)
