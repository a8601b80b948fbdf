"""The calendar's words in three languages, and spans of whole weeks, months, quarters and years."""

from __future__ import annotations

import calendar
import re
from datetime import date, timedelta

# Each alternative carries its month's number by position; endings are open where the language inflects.
_MONTHS = (
    r"jan(?:uary)?|jaan(?:uar\w{0,4})?|январ\w{1,2}",
    r"feb(?:ruary)?|veeb(?:ruar\w{0,4})?|феврал\w{1,2}",
    r"mar(?:ch)?|märts\w{0,4}|marts\w{0,3}|март\w{0,2}",
    r"apr(?:il)?|aprill\w{0,4}|апрел\w{1,2}",
    r"may|mai(?:s|st|ni|l|ks|kuu\w*)?|ма[йяею]м?",
    r"june?|juuni\w{0,4}|июн\w{1,2}",
    r"july?|juuli\w{0,4}|июл\w{1,2}",
    r"aug(?:ust\w{0,4})?|август\w{0,2}",
    r"sept?(?:ember)?|septemb(?:er|ri\w{0,3})|сентябр\w{1,2}",
    r"oct(?:ober)?|okt(?:oober|oobri\w{0,3})?|октябр\w{1,2}",
    r"nov(?:ember)?|novemb(?:er|ri\w{0,3})|ноябр\w{1,2}",
    r"dec(?:ember)?|dets(?:ember|embri\w{0,3})?|декабр\w{1,2}",
)
_WEEKDAYS = (
    r"mondays?|esmaspäev\w{0,3}|понедельник\w{0,2}",
    r"tuesdays?|teisipäev\w{0,3}|вторник\w{0,2}",
    r"wednesdays?|kolmapäev\w{0,3}|сред[ауые]",
    r"thursdays?|neljapäev\w{0,3}|четверг\w{0,2}",
    r"fridays?|reede(?:l|st|ni|ks)?|пятниц\w{1,2}",
    r"saturdays?|laupäev\w{0,3}|суббот\w{1,2}",
    r"sundays?|pühapäev\w{0,3}|воскресень\w{1,2}",
)
_UNITS = {
    "day": r"days?|päev\w{0,3}|ден?ь|дн[яеёй]\w{0,2}|дня|дней",
    "week": r"weeks?|nädal\w{0,3}|недел\w{1,2}",
    "month": r"months?|kuu[dlks]?|kuus|kuude|месяц\w{0,3}",
    "quarter": r"quarters?|kvartal\w{0,3}|квартал\w{0,2}",
    "year": r"years?|aasta\w{0,3}|год\w{0,2}",
}
_WHICH = {
    0: r"this|current|the current|see|sel|selle|sellel|käesolev\w{0,3}|эт\w{1,2}|текущ\w{1,3}|нынешн\w{1,3}",
    1: r"next|the next|coming|upcoming|järgmi\w{1,5}|tulev\w{1,3}|järgne\w{0,4}|следующ\w{1,3}|будущ\w{1,3}|ближайш\w{1,3}",
    -1: r"last|the last|previous|past|eelmi\w{1,4}|möödunud|läinud|viima\w{1,5}|прошл\w{1,3}|предыдущ\w{1,3}|последн\w{1,3}",
}
MONTH = "|".join(_MONTHS)
WEEKDAY = "|".join(_WEEKDAYS)
UNIT = "|".join(_UNITS.values())
WHICH = "|".join(_WHICH.values())


def _position(word: str, alternatives: tuple[str, ...]) -> int:
    return next(place for place, pattern in enumerate(alternatives) if re.fullmatch(pattern, word))


def month_number(word: str) -> int:
    """Return 1…12 for a month's name in any form that MONTH matches."""
    return _position(word, _MONTHS) + 1


def weekday_number(word: str) -> int:
    """Return 0 (Monday) … 6 for a weekday's name in any form that WEEKDAY matches."""
    return _position(word, _WEEKDAYS)


def unit_name(word: str) -> str:
    """Return day, week, month, quarter or year."""
    return next(name for name, pattern in _UNITS.items() if re.fullmatch(pattern, word))


def which_offset(word: str) -> int:
    """Return 0 for "this", 1 for "next", -1 for "last", in any form that WHICH matches."""
    return next(offset for offset, pattern in _WHICH.items() if re.fullmatch(pattern, word))


def unit_span(unit: str, day: date, *, ahead: int = 0) -> tuple[date, date]:
    """Return the first and last day of the unit around `day`, moved `ahead` units. Weeks begin on Monday (ISO 8601)."""
    match unit:
        case "week":
            monday = day - timedelta(days=day.weekday()) + timedelta(weeks=ahead)
            return monday, monday + timedelta(days=6)
        case "month" | "quarter":
            size = 1 if unit == "month" else 3
            index = (day.year * 12 + day.month - 1) // size * size + ahead * size
            last_year, last_month = divmod(index + size - 1, 12)
            last_day = calendar.monthrange(last_year, last_month + 1)[1]
            return date(index // 12, index % 12 + 1, 1), date(last_year, last_month + 1, last_day)
        case "year":
            return date(day.year + ahead, 1, 1), date(day.year + ahead, 12, 31)
        case _:
            moved = day + timedelta(days=ahead)
            return moved, moved
