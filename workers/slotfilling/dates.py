"""Date expressions of English, Estonian and Russian → spans of days, in the order they stand.

A grammar of our own: the libraries tried give no ranges and know Estonian in dictionary forms only. A date without a
year means its next occurrence; a weekday the next one; "next Friday" the Friday of next week.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from workers.slotfilling.calendar import MONTH, UNIT, WEEKDAY, WHICH, month_number, unit_span, weekday_number
from workers.slotfilling.text import fold

_DAY = r"(\d{1,2})(?:st|nd|rd|th|\.|-?го|-?е|ndal|ndast|ndani)?"
_YEAR = r"(?:[\s,]+((?:19|20)\d\d)(?!\d)\.?(?:\s*(?:a\.|aasta\w*|год\w*|г\.))?)?"
_DASH = r"\s*(?:-|–|—|to|through|until|till|kuni|по|до)\s*"


@dataclass(frozen=True)
class DateSpan:
    """Whole days `first`…`last` at [start, end) of the text. `at` is a time of day, `moment` an exact ISO moment.

    `grain` is day, week, month, quarter or year; `role` start or end when the words say so; `is_unsure` when the
    writing has two readings (03/05/2026).
    """

    first: date
    last: date
    start: int
    end: int
    grain: str = "day"
    role: str = ""
    at: time | None = None
    moment: datetime | None = None
    is_range: bool = False
    is_relative: bool = False
    is_unsure: bool = False


Reader = Callable[[re.Match[str], date], "tuple[date, date, str] | None"]


def find_dates(text: str, *, today: date) -> list[DateSpan]:
    """Return the date expressions of a text; overlapping readings give way to the longest, then the first."""
    folded = fold(text)
    spans: list[DateSpan] = []
    for span in sorted(_readings(folded, today), key=lambda s: (s.start, s.start - s.end)):
        if not spans or span.start >= spans[-1].end:
            spans.append(span)
        elif span.start == spans[-1].start and span.end > spans[-1].end:
            spans[-1] = span
    spans = [replace(span, role=_role(folded, spans, place)) for place, span in enumerate(spans)]
    return _join_ranges(folded, _with_times(folded, spans))


def _readings(folded: str, today: date) -> Iterator[DateSpan]:
    for pattern, read in _PATTERNS:
        for match in pattern.finditer(folded):
            try:
                found = read(match, today)
            except ValueError:  # 31 April, month 13, year 0
                continue
            if found is not None:
                first, last, grain = found
                yield DateSpan(
                    first,
                    last,
                    match.start(),
                    match.end(),
                    grain.rstrip("~?"),
                    is_range=first != last and grain == "day",
                    is_relative="~" in grain,
                    is_unsure="?" in grain,
                    moment=_moment(match) if pattern is _ISO_MOMENT else None,
                )


def _moment(match: re.Match[str]) -> datetime:
    return datetime.fromisoformat(match.group().upper().replace(" ", "T"))


def _iso(match: re.Match[str], _: date) -> tuple[date, date, str]:
    day = date(int(match[1]), int(match[2]), int(match[3]))
    return day, day, "day"


def _dotted(match: re.Match[str], today: date) -> tuple[date, date, str]:
    day = _dated(int(match[1]), int(match[2]), match[3], today)
    return day, day, "day"


def _slashed(match: re.Match[str], _: date) -> tuple[date, date, str]:
    one, two, year = int(match[1]), int(match[2]), int(match[3])
    if one > 12:
        day = date(year, two, one)
    elif two > 12 or one == two:
        day = date(year, one, two)
    else:
        return date(year, two, one), date(year, two, one), "day?"
    return day, day, "day"


def _dated(day: int, month: int, year: str | None, today: date) -> date:
    """Return the date; without a year, its next occurrence (29 February may be years away)."""
    if year:
        return date(int(year), month, day)
    for ahead in range(5):
        try:
            found = date(today.year + ahead, month, day)
        except ValueError:
            continue
        if found >= today:
            return found
    raise ValueError("no such day")


def _days_of_month(match: re.Match[str], today: date) -> tuple[date, date, str]:
    last = _dated(int(match[2]), month_number(match[3]), match[4], today)
    return last.replace(day=int(match[1])), last, "day"


def _month_days(match: re.Match[str], today: date) -> tuple[date, date, str]:
    last = _dated(int(match[3]), month_number(match[1]), match[4], today)
    return last.replace(day=int(match[2])), last, "day"


def _day_month(match: re.Match[str], today: date) -> tuple[date, date, str]:
    day = _dated(int(match[1]), month_number(match[2]), match[3], today)
    return day, day, "day"


def _month_day(match: re.Match[str], today: date) -> tuple[date, date, str]:
    day = _dated(int(match[2]), month_number(match[1]), match[3], today)
    return day, day, "day"


def _month(match: re.Match[str], today: date) -> tuple[date, date, str]:
    number = month_number(match[1])
    year = int(match[2]) if match[2] else today.year + (number < today.month)
    return (*unit_span("month", date(year, number, 1)), "month")


def _year_month(match: re.Match[str], _: date) -> tuple[date, date, str]:
    return (*unit_span("month", date(int(match[1]), month_number(match[2]), 1)), "month")


def _year(match: re.Match[str], _: date) -> tuple[date, date, str]:
    return (*unit_span("year", date(int(match[1]), 1, 1)), "year")


def _quarter(match: re.Match[str], today: date) -> tuple[date, date, str] | None:
    named = next(group for group in match.groups()[:-1] if group)
    number = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "first": 1, "second": 2, "third": 3, "fourth": 4}.get(named)
    number = number or {"esimene": 1, "teine": 2, "kolmas": 3, "neljas": 4}.get(named)
    number = number or {"перв": 1, "втор": 2, "трет": 3, "четв": 4}.get(named[:4])
    number = number or int(named[0]) if named[0].isdigit() or number else 0
    if not 1 <= number <= 4:
        return None
    year = int(match.groups()[-1] or today.year)
    return (*unit_span("quarter", date(year, 3 * number - 2, 1)), "quarter")


_OFFSETS = {
    "today": 0, "tonight": 0, "täna": 0, "tänase": 0, "tänane": 0, "tänasest": 0, "tänaseni": 0, "сегодня": 0,
    "tomorrow": 1, "homme": 1, "homse": 1, "homne": 1, "homsest": 1, "homseni": 1, "завтра": 1,
    "the day after tomorrow": 2, "day after tomorrow": 2, "ülehomme": 2, "послезавтра": 2,
    "yesterday": -1, "eile": -1, "eilse": -1, "вчера": -1,
    "the day before yesterday": -2, "day before yesterday": -2, "üleeile": -2, "позавчера": -2,
}  # fmt: skip


def _offset(match: re.Match[str], today: date) -> tuple[date, date, str]:
    day = today + timedelta(days=_OFFSETS[match[1]])
    return day, day, "day~"


def _which_unit(match: re.Match[str], today: date) -> tuple[date, date, str]:
    from workers.slotfilling.calendar import unit_name, which_offset

    unit = unit_name(match[2])
    return (*unit_span(unit, today, ahead=which_offset(match[1])), f"{unit}~")


def _this_year(_: re.Match[str], today: date) -> tuple[date, date, str]:
    return (*unit_span("year", today), "year~")


def _weekday(match: re.Match[str], today: date) -> tuple[date, date, str]:
    from workers.slotfilling.calendar import which_offset

    number = weekday_number(match[2])
    if match[1] and which_offset(match[1]):
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=which_offset(match[1]))
        day = monday + timedelta(days=number)
    else:
        day = today + timedelta(days=(number - today.weekday() - 1) % 7 + 1)
    return day, day, "day~"


def _ahead(match: re.Match[str], today: date) -> tuple[date, date, str]:
    from workers.slotfilling.calendar import unit_name

    days = {"day": 1, "week": 7}.get(unit_name(match[2]), 30) * int(match[1])
    day = today + timedelta(days=days)
    return day, day, "day~"


def _window(match: re.Match[str], today: date) -> tuple[date, date, str]:
    """Read "last 7 days", "järgmised 3 päeva", "последние 2 недели": today is their last or first day."""
    from workers.slotfilling.calendar import unit_name, which_offset

    days = {"day": 1, "week": 7}.get(unit_name(match[3]), 30) * int(match[2])
    if which_offset(match[1]) < 0:
        return today - timedelta(days=days - 1), today, "day"
    return today, today + timedelta(days=days - 1), "day"


_ISO_MOMENT = re.compile(
    r"(?<!\d)(\d{4})-(\d{2})-(\d{2})[t ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:z|[+-]\d\d:?\d\d)?(?!\d)"
)
_PATTERNS: list[tuple[re.Pattern[str], Reader]] = [
    (_ISO_MOMENT, _iso),
    (re.compile(r"(?<![\d-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\d-])"), _iso),
    (re.compile(r"(?<![\d.])(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})(?!\d)"), _dotted),
    (re.compile(r"(?<![\d.,])(\d{1,2})\.(\d{1,2})\.()(?!\d)"), _dotted),
    (re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/])"), _slashed),
    (re.compile(rf"(?<!\d){_DAY}{_DASH}{_DAY}\s*(?:of\s+)?({MONTH})\b{_YEAR}"), _days_of_month),
    (re.compile(rf"\b({MONTH})\s+{_DAY}{_DASH}{_DAY}(?!\d){_YEAR}"), _month_days),
    (re.compile(rf"(?<![\d-]){_DAY}\s*(?:of\s+)?({MONTH})\b{_YEAR}"), _day_month),
    (re.compile(rf"\b({MONTH})\s+{_DAY}(?!\d){_YEAR}"), _month_day),
    (re.compile(rf"\b({MONTH})(?:\s+(?:of\s+)?((?:19|20)\d\d)(?!\d))"), _month),
    (re.compile(rf"\b((?:19|20)\d\d)\.?\s*(?:aasta|года)?\s+({MONTH})\b"), _year_month),
    (re.compile(rf"\b(?:in|for|during|all of|в|за|на)\s+({MONTH})\b()"), _month),
    (re.compile(r"\b((?:jaanuar|veebruar|märts|aprill|juuni|juuli|august|septembri|oktoobri|novembri|detsembri)"
                r"(?:is|s|ikuus|kuus)|mais|maikuus)\b()"), _month),
    (re.compile(r"(?<![\w.-])((?:19|20)\d\d)(?![\w-]|[.,]\d|:)\.?(?:\s*(?:aasta\w*|год\w*|г\.))?"), _year),
    (re.compile(r"\b(?:q([1-4])|([1-4])(?:st|nd|rd|th)? quarter|(first|second|third|fourth) quarter"
                r"|(i{1,3}|iv|[1-4]|esimene|teine|kolmas|neljas)\.? kvartal\w*"
                r"|([1-4]|перв\w+|втор\w+|трет\w+|четверт\w+)(?:-?й|-?м)? квартал\w*)(?:\s+((?:19|20)\d\d))?"), _quarter),
    (re.compile(r"\b(" + "|".join(sorted(map(re.escape, _OFFSETS), key=len, reverse=True)) + r")\b"), _offset),
    (re.compile(rf"\b({WHICH})\s+({UNIT})\b"), _which_unit),
    (re.compile(r"\b(?:tänavu\w*|see aasta|sel aastal)\b"), _this_year),
    (re.compile(rf"\b(?:({WHICH})\s+)?({WEEKDAY})\b"), _weekday),
    (re.compile(rf"\b(?:in|через)\s+(\d{{1,3}})\s+({UNIT})\b"), _ahead),
    (re.compile(rf"\b(\d{{1,3}})\s+({UNIT})\s+pärast\b"), _ahead),
    (re.compile(rf"\b({WHICH})\s+(\d{{1,3}})\s+({UNIT})\b"), _window),
]  # fmt: skip

_START_WORDS = re.compile(
    r"\b(?:from|since|starting|start(?:s|ing)?(?: date| time)?|after|between|begin\w*|alates|algus\w*|vahemikus|vahel|с|со|от|начиная|начал\w*|между)\b"
)
_END_WORDS = re.compile(
    r"(?:\b(?:to|until|till|through|end(?:s|ing)?(?: date| time)?|before|up to|kuni|lõp\w*|по|до|конец|оконч\w*)\b|[-–—])"
)
_TIME = re.compile(
    r"(?:\b(?:at|kell|kella|в)\s*)?(?<![\d:.-])([01]?\d|2[0-3]):([0-5]\d)(?!\d)|\b(?:at|kell|kella)\s*([01]?\d|2[0-3])(?:\s*(am|pm))?\b|\b([1-9]|1[0-2])\s*(am|pm)\b"
)
_RANGE_GAP = re.compile(r"[\s,]*(?:to|until|till|through|kuni|по|до|-|–|—|\.\.+|…)\s*(?:the\s+)?")
_BETWEEN_GAP = re.compile(r"[\s,]*(?:and|ja|и)\s*")


def _role(folded: str, spans: list[DateSpan], place: int) -> str:
    """Read the role from the words between the span before and this one, and from Estonian case endings."""
    after = spans[place - 1].end if place else 0
    before = folded[max(after, spans[place].start - 40) : spans[place].start]
    written = folded[spans[place].start : spans[place].end]
    starts = [m.end() for m in _START_WORDS.finditer(before)]
    ends = [m.end() for m in _END_WORDS.finditer(before)]
    if starts or ends:
        return "start" if max(starts, default=-1) > max(ends, default=-1) else "end"
    if re.search(r"(?:ist|est|ast)\b", written):
        return "start"
    return "end" if re.search(r"(?:ini|eni|ani)\b", written) else ""


def _with_times(folded: str, spans: list[DateSpan]) -> list[DateSpan]:
    """Give each day the time of day that is said after it, before the next date."""
    timed = []
    for place, span in enumerate(spans):
        until = spans[place + 1].start if place + 1 < len(spans) else len(folded)
        match = _TIME.search(folded, span.end, until)
        if span.moment is None and span.grain == "day" and match:
            span = replace(span, at=_clock(match), end=match.end())
        timed.append(span)
    return timed


def _clock(match: re.Match[str]) -> time:
    hour = int(match[1] or match[3] or match[5])
    half = match[4] or match[6]
    if half == "pm" and hour < 12:
        hour += 12
    elif half == "am" and hour == 12:
        hour = 0
    return time(hour, int(match[2] or 0))


def _join_ranges(folded: str, spans: list[DateSpan]) -> list[DateSpan]:
    """Make one range of two expressions that a range word joins ("1 May to 5 June", "1. maist 5. juunini")."""
    joined: list[DateSpan] = []
    for span in spans:
        before = joined[-1] if joined else None
        if before and not before.is_range and _are_joined(folded, before, span):
            last = span if span.last >= before.first else _a_year_later(span)
            joined[-1] = replace(
                before, last=last.last, end=span.end, is_range=True, role="", is_relative=False,
                grain="day" if before.grain != span.grain or before.first != last.first else before.grain,
            )  # fmt: skip
            if before.moment or span.moment or before.at or span.at:
                joined[-1:] = [replace(before, role="start"), replace(span, role="end")]
        else:
            joined.append(span)
    return joined


def _a_year_later(span: DateSpan) -> DateSpan:
    return replace(span, last=span.last.replace(year=span.last.year + 1)) if span.last.day < 29 else span


def _are_joined(folded: str, before: DateSpan, span: DateSpan) -> bool:
    gap = folded[before.end : span.start]
    if _RANGE_GAP.fullmatch(gap):
        return True
    if before.role == "start" and _BETWEEN_GAP.fullmatch(gap):
        return True
    return not gap.strip(" ,") and before.role == "start" and span.role == "end"
