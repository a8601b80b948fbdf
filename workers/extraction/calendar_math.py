"""Days, weeks, months, quarters and years counted from today. Weeks begin on Monday (ISO 8601)."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = 12
_WEEK = 7
_CENTURY = 100
_FIRST_YEAR, _LAST_YEAR = 1, 9999

Stretch = tuple[date, date]


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """The chat's day, and how to read what is left open.

    `looks_back`: a day without a year is the latest one gone by, not the next to come. `month_first`: 3/5 might be
    5 March (English).
    """

    today: date
    looks_back: bool = False
    month_first: bool = False


def day_of(year: int, month: int, day: int) -> date | None:
    """Return the day, or None when the calendar has no such day (31 April)."""
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None


def full_year(written: str) -> int:
    """Read a year of two or four digits; 26 is 2026."""
    year = int(written)
    return 2000 + year if year < _CENTURY else year


def nearest(day: int, month: int, calendar: Calendar) -> date | None:
    """Return that day of the month in the next (or last) year that has it; today counts for both."""
    step = -1 if calendar.looks_back else 1
    for year in (calendar.today.year + step * i for i in range(9)):
        found = day_of(year, month, day)
        if found and (found <= calendar.today if calendar.looks_back else found >= calendar.today):
            return found
    return None


def shifted(day: date, days: int) -> date | None:
    """Move by days; None outside the calendar."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def month_of(year: int, month: int) -> Stretch | None:
    """Return the first and last day of a month; months outside 1…12 run into other years."""
    year, month = year + (month - 1) // _MONTHS, (month - 1) % _MONTHS + 1
    if not _FIRST_YEAR <= year <= _LAST_YEAR:
        return None
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def year_of(year: int) -> Stretch | None:
    return (date(year, 1, 1), date(year, 12, 31)) if _FIRST_YEAR <= year <= _LAST_YEAR else None


def quarter_of(year: int, quarter: int) -> Stretch | None:
    """Return a quarter's days; quarters outside 1…4 run into other years."""
    first, last = month_of(year, 3 * quarter - 2), month_of(year, 3 * quarter)
    return (first[0], last[1]) if first and last else None


def week_of(day: date, weeks: int = 0) -> Stretch | None:
    """Return Monday and Sunday of the week that lies `weeks` from the day's own."""
    monday = shifted(day, _WEEK * weeks - day.weekday())
    sunday = shifted(monday, _WEEK - 1) if monday else None
    return (monday, sunday) if monday and sunday else None


def unit_from(calendar: Calendar, unit: str, steps: int) -> Stretch | None:
    """Return the week, month, quarter, year or weekend that lies `steps` from today's."""
    today = calendar.today
    if unit == "weekend":
        week = week_of(today, steps)
        saturday = shifted(week[1], -1) if week else None
        return (saturday, week[1]) if week and saturday else None
    if unit == "week":
        return week_of(today, steps)
    if unit == "month":
        return month_of(today.year, today.month + steps)
    if unit == "quarter":
        return quarter_of(today.year, (today.month - 1) // 3 + 1 + steps)
    return year_of(today.year + steps)


def after(day: date, unit: str, count: int) -> date | None:
    """Return the day that lies `count` days, weeks, months or years away; a month's end stays in its month."""
    if abs(count) > _LAST_YEAR * 366:
        return None
    if unit in ("day", "week"):
        return shifted(day, count * (_WEEK if unit == "week" else 1))
    month = month_of(day.year, day.month + count * (_MONTHS if unit == "year" else 1))
    return date(month[0].year, month[0].month, min(day.day, month[1].day)) if month else None


def weekday_from(calendar: Calendar, weekday: int, which: str) -> date | None:
    """Return a named weekday: `next` is in the week after this one, `last` before today, else the coming one."""
    today = calendar.today
    if which == "next":
        week = week_of(today, 1)
        return shifted(week[0], weekday) if week else None
    ahead = (weekday - today.weekday()) % _WEEK
    if which == "last":
        return shifted(today, ahead - _WEEK)
    return shifted(today, ahead)
