"""Public holidays of ten countries, movable feasts computed for any year, and Estonian school breaks."""

from __future__ import annotations

import re
from datetime import date, timedelta

from ops.demo.requests import Given
from ops.demo.tables import table
from schemas.base import JsonValue

LONGEST_PERIOD_DAYS = 3 * 366
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_RULE = re.compile(r"easter(?P<shift>[+-]\d+)|(?:(?P<weekday>[a-z]{3})>=)?(?P<month>\d\d)-(?P<day>\d\d)")


def easter(year: int) -> date:
    """Return Easter Sunday of the Gregorian calendar (Meeus, Jones, Butcher: Astronomical Algorithms, 1991)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    last = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 19 * last) // 433
    month = (h + last - 7 * m + 90) // 25
    return date(year, month, (h + last - 7 * m + 33 * month + 19) % 32)


def on_rule(rule: str, year: int) -> date:
    """Give the day that a rule of the table means in a year. Raises ValueError for a rule it can't read."""
    found = _RULE.fullmatch(rule)
    if found is None:
        raise ValueError(f"no such rule: {rule}")
    if found["shift"]:
        return easter(year) + timedelta(days=int(found["shift"]))
    day = date(year, int(found["month"]), int(found["day"]))
    if found["weekday"]:
        day += timedelta(days=(_WEEKDAYS.index(found["weekday"]) - day.weekday()) % 7)
    return day


def public_holidays(given: Given) -> JsonValue:
    """GET /public-holidays: the days within the period, in order."""
    holidays = table("holidays")
    country = given.choice("countryIsoCode", holidays["countries"])
    begin, end = given.period("validFrom", "validTo", most_days=LONGEST_PERIOD_DAYS)
    given.check()
    days = sorted(
        (on_rule(rule, year), name)
        for year in range(begin.year, end.year + 1)
        for rule, name in holidays["countries"][country]
    )
    return [
        {
            "id": f"{country}-{day.isoformat()}-{name}",
            "startDate": day.isoformat(),
            "endDate": day.isoformat(),
            "type": "Public",
            "name": _texts(holidays["names"][name]),
            "nationwide": True,
        }
        for day, name in days
        if begin <= day <= end
    ]


def school_holidays(given: Given) -> JsonValue:
    """GET /school-holidays: the breaks of Estonian schools that touch the period."""
    given.choice("countryIsoCode", {"EE": True}, default="EE")
    begin, end = given.period("validFrom", "validTo", most_days=LONGEST_PERIOD_DAYS)
    given.check()
    breaks = sorted(
        (*_break_days(rule, length, year), number)
        for year in range(begin.year - 1, end.year + 1)
        for number, (rule, length, _) in enumerate(table("holidays")["school_breaks"])
    )
    return [
        {
            "startDate": first.isoformat(),
            "endDate": last.isoformat(),
            "type": "School",
            "name": _texts(table("holidays")["school_breaks"][number][2]),
            "days": (last - first).days + 1,
        }
        for first, last, number in breaks
        if first <= end and last >= begin
    ]


def _break_days(rule: str, length: int, year: int) -> tuple[date, date]:
    first = on_rule(rule, year)
    return first, date(year, 8, 31) if length < 0 else first + timedelta(days=length - 1)


def _texts(names: dict[str, str]) -> list[JsonValue]:
    return [{"language": language.upper(), "text": name} for language, name in names.items()]
