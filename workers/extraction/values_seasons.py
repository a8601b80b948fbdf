"""Reads seasons as the months that weather services count: spring is March to May, winter December to February."""

from __future__ import annotations

import re

from workers.extraction.calendar_math import Calendar, Stretch, full_year, month_of
from workers.extraction.values_dates import Days

_SPRING, _SUMMER, _AUTUMN, _WINTER = 3, 6, 9, 12
_FIRST_MONTHS = {
    "spring": _SPRING, "kevad": _SPRING, "весн": _SPRING, "summer": _SUMMER, "suv": _SUMMER, "лет": _SUMMER,
    "autumn": _AUTUMN, "fall": _AUTUMN, "sugis": _AUTUMN, "осен": _AUTUMN,
    "winter": _WINTER, "talv": _WINTER, "зим": _WINTER,
}  # fmt: skip


def read_season(match: re.Match[str], calendar: Calendar) -> Days | None:
    """Return the months of a season: of the year that was said, else the one to come, the present one among them.

    None for "winter 2026", which begins or ends in that year.
    """
    start = next(month for opening, month in _FIRST_MONTHS.items() if match["season"].startswith(opening))
    said = match["y"] or match["yy"]
    if said and start == _WINTER:
        return None
    chosen = _months(full_year(said), start) if said else _nearest(match, start, calendar)
    if chosen is None:
        return None
    first, last = chosen
    return Days(start=match.start(), end=match.end(), first=first, last=last, grain="span", has_year=said is not None)


def _nearest(match: re.Match[str], start: int, calendar: Calendar) -> Stretch | None:
    today, named = calendar.today, match.groupdict()
    seasons = [months for year in range(today.year - 2, today.year + 3) if (months := _months(year, start))]
    begun = [months for months in seasons if months[0] <= today]
    if named.get("last"):
        return next((months for months in reversed(seasons) if months[1] < today), None)
    if calendar.looks_back and not named.get("next"):
        return begun[-1] if begun else None
    coming = (months for months in seasons if (months[0] > today if named.get("next") else months[1] >= today))
    return next(coming, None)


def _months(year: int, start: int) -> Stretch | None:
    first, last = month_of(year, start), month_of(year, start + 2)
    return (first[0], last[1]) if first and last else None
