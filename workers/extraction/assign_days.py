"""Gives days, moments and years to the parameters they were said for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, tzinfo

from schemas.base import JsonValue
from workers.extraction.kinds import Kind
from workers.extraction.params import Param
from workers.extraction.reading import Reading
from workers.extraction.said import Doubt, Found, Refused, Said
from workers.extraction.values_dates import Days

_DATED = (Kind.DATE, Kind.MOMENT)
_MIDNIGHT, _LAST_SECOND = time(0, 0, 0), time(23, 59, 59)
Pair = tuple[Param, Param]
# What is done on a day tells which end of a stay or a journey it is: "leave tomorrow, return on the 9th".
_STARTS = (
    r"leav(?:e|es|ing)|depart(?:s|ing)?|check(?:ing)?[ -]?in|pick(?:ing)?(?: \w+){0,2}[ -]up|start(?:s|ing)?|"
    r"begin(?:s|ning)?|lahe[nm]\w*|soida[nm]\w*|вылета\w+|вылет\w*|уезжа\w+|заезд\w*"
)
_ENDS = (
    r"return(?:s|ing)?|com(?:e|ing) back|(?:fly|flying|travel|travelling|drive|driving) back|check(?:ing)?[ -]?out|"
    r"drop(?:ping)?(?: \w+){0,2}[ -]off|tule[nm] tagasi|tagasi|обратно|назад|возвраща\w+|вернусь|вернемся"
)
_DONE_ON = re.compile(rf"(?<!\w)(?:(?P<start>{_STARTS})|(?P<end>{_ENDS}))(?!\w)")
# Years before 1900 look like any number; a preposition makes them years.
_EARLY_YEAR = re.compile(
    r"(?<!\w)(?:in|since|year|of|aastal|году?)\s+(1[0-8]\d\d)(?![\w.,:%-]*\d)(?!\s*(?:€|eur|usd|km|kg|people))"
)


def written_day(param: Param, day: date, clock: time | None, *, zone: tzinfo | None, is_end: bool) -> JsonValue:
    """Write a day as the parameter wants it: `2026-05-12`, or a moment in UTC as `2026-05-12T00:00:00Z`.

    A moment without a clock time is the first second of its day, or the last one when it ends something.
    """
    if param.kind is Kind.DATE:
        return day.isoformat() if param.spec.type == "date" else f"{day:{param.date_form}}"
    if clock is None:
        clock, zone = (_LAST_SECOND if is_end else _MIDNIGHT), UTC if param.counts_days_in_utc else zone
    try:
        moment = datetime.combine(day, clock, tzinfo=zone or UTC).astimezone(UTC)
    except OverflowError:
        moment = datetime.combine(day, clock, tzinfo=UTC)
    return f"{moment.date().isoformat()}T{moment:%H:%M:%S}Z"


def pairs_of(params: Iterable[Param]) -> list[Pair]:
    """Find the start and end parameters that belong together: alike but for that, else the only ones."""
    dated = [param for param in params if param.kind in _DATED]
    starts = [param for param in dated if param.direction == "start"]
    ends = [param for param in dated if param.direction == "end"]
    pairs = [(start, end) for start in starts for end in ends if start.family == end.family and start.kind is end.kind]
    if not pairs and len(starts) == len(ends) == 1:
        pairs = [(starts[0], ends[0])]
    return pairs


def assign_days(
    reading: Reading,
    params: Sequence[Param],
    days: Sequence[Days],
    *,
    known: set[str],
    asked: Sequence[str],
    hours: bool = False,
) -> Found:
    """Give each stretch of days to a parameter of one endpoint, or to a pair; later words overrule earlier ones.

    With `hours`, a first "at 5 pm today" that is all a period has is the hour from five to six.
    """
    found: Found = {}
    dated = [param for param in params if param.kind in _DATED]
    pairs = pairs_of(dated)
    awaited = [param for param in dated if param.name in asked]
    if hours and len(days) == 1 and pairs and not asked and not known & {param.name for param in pairs[0]}:
        days = [_whole_hour(days[0], pairs[0])]
    for stretch in days:
        labelled = [p for p in dated if reading.is_labelled(reading.label_spans(p), stretch.start, stretch.end)]
        if not labelled and pairs and stretch.is_day and stretch.role in ("", "on"):
            labelled = _by_what_is_done(reading, stretch, days, pairs[0])
        if not labelled and len(awaited) == 1 and stretch.is_day and not stretch.role:
            labelled = awaited
        for name, said in _for(reading, stretch, labelled, dated, pairs, known | set(found)).items():
            found[name] = said
    return found


def _by_what_is_done(reading: Reading, stretch: Days, days: Sequence[Days], pair: Pair) -> list[Param]:
    """Return the end of a pair whose verb stands before a day, nearer than any other day does; the last one counts."""
    begin = max((other.end for other in days if other.end <= stretch.start), default=0)
    done = list(_DONE_ON.finditer(reading.text.folded, begin, stretch.start))
    return [pair[0] if done[-1]["start"] else pair[1]] if done else []


def _for(
    reading: Reading, days: Days, labelled: list[Param], dated: list[Param], pairs: list[Pair], known: set[str]
) -> Found:
    words = reading.text.between(days.start, days.end)
    if days.grain == "impossible":
        target = _target(days, labelled, dated, pairs, known)
        refused = Refused(fault="impossible", words=words, start=days.start, end=days.end)
        return {target.name: refused} if target else {}
    pair = next((p for p in pairs if not labelled or labelled[0] in p), None)
    if pair and days.other is not None and days.other_last is not None:
        return {pair[0].name: _which_period(reading, days, pair)}
    if pair and not (labelled and days.is_day) and _covers_both(days):
        return {
            param.name: _said(reading, days, param, is_end=is_end)
            for param, is_end in zip(pair, (False, True), strict=True)
        }
    target = _target(days, labelled, dated, pairs, known)
    if target is None or (not days.is_day and target.direction == ""):
        return {}
    return {target.name: _said(reading, days, target, is_end=target.direction == "end")}


def _which_period(reading: Reading, days: Days, pair: Pair) -> Doubt:
    """Return both readings of "3/5/2027 to 10/5/2027"; one answer settles both ends."""
    other = replace(days, first=days.other or days.first, last=days.other_last or days.last)
    whole = [replace(one, other=None, other_last=None) for one in (days, other)]
    starts, ends = (
        [_said(reading, one, param, is_end=is_end) for one in whole]
        for param, is_end in zip(pair, (False, True), strict=True)
    )
    return Doubt(
        options=tuple(one.value for one in starts if isinstance(one, Said)),
        until=tuple(one.value for one in ends if isinstance(one, Said)),
        start=days.start,
        end=days.end,
    )


def _whole_hour(days: Days, pair: Pair) -> Days:
    is_moment = days.is_day and days.role in ("", "on") and days.other is None and pair[0].kind is Kind.MOMENT
    if not is_moment or days.at_first is None or days.at_first != (days.at_last or days.at_first):
        return days
    return replace(days, at_last=days.at_first.replace(minute=59, second=59))


def _covers_both(days: Days) -> bool:
    """Whether a stretch fills a whole period: a range, this week, tomorrow, tomorrow from six to eight, on 24 May."""
    if days.at_first != days.at_last:
        return True
    if days.role in ("from", "to"):
        return False
    return not days.is_day or (days.at_first is None and (days.grain == "near" or days.role == "on"))


def _target(days: Days, labelled: list[Param], dated: list[Param], pairs: list[Pair], known: set[str]) -> Param | None:
    if labelled:
        return labelled[0]
    singles = [param for param in dated if not any(param in pair for pair in pairs)]
    if pairs and (days.role in ("from", "to") or len(singles) != 1):
        start, end = pairs[0]
        if days.role == "from":
            return start
        if days.role == "to":
            return end
        return start if start.name not in known else end if end.name not in known else None
    directed = [p for p in singles if (p.direction, days.role) in (("start", "from"), ("end", "to"))]
    if len(directed) == 1:
        return directed[0]
    return singles[0] if len(singles) == 1 else None


def _said(reading: Reading, days: Days, param: Param, *, is_end: bool) -> Said | Doubt:
    day, clock = (days.last, days.at_last) if is_end else (days.first, days.at_first)
    zone = (days.zone_last if is_end else days.zone) or reading.now.tzinfo
    value = written_day(param, day, clock, zone=zone, is_end=is_end)
    if days.other is not None and days.is_day:
        other = written_day(param, days.other, clock, zone=zone, is_end=is_end)
        return Doubt(options=(value, other), start=days.start, end=days.end)
    return Said(value=value, start=days.start, end=days.end)


def assign_year(reading: Reading, param: Param, days: Sequence[Days]) -> Found:
    """Give a year to a parameter that wants one, as an integer or as text; of a range, its first or its last."""
    ranges = [stretch for stretch in days if _spans_years(stretch)]
    if ranges and param.direction:
        year = ranges[-1].first.year if param.direction == "start" else ranges[-1].last.year
        return _year_said(param, year, ranges[-1].start, ranges[-1].end)
    years = [stretch for stretch in days if stretch.grain == "year"]
    labels = reading.label_spans(param)
    labelled = [stretch for stretch in years if reading.is_labelled(labels, stretch.start, stretch.end, as_unit=True)]
    if years:
        chosen = (labelled or years)[-1]
        return _year_said(param, chosen.first.year, chosen.start, chosen.end)
    dated = [
        d for d in days if d.first.year == d.last.year and str(d.first.year) in reading.text.between(d.start, d.end)
    ]
    if dated:
        return _year_said(param, dated[-1].first.year, dated[-1].start, dated[-1].end)
    early = _EARLY_YEAR.search(reading.text.folded)
    return _year_said(param, int(early[1]), early.start(1), early.end(1)) if early else {}


def _spans_years(days: Days) -> bool:
    """Whether it is a range of whole years ("from 2010 to 2015")."""
    is_whole = (days.first.month, days.first.day, days.last.month, days.last.day) == (1, 1, 12, 31)
    return is_whole and days.first.year < days.last.year


def _year_said(param: Param, year: int, start: int, end: int) -> Found:
    if param.spec.enum and param.as_option(year) is None:
        return {}
    return {param.name: Said(value=str(year) if param.spec.type == "string" else year, start=start, end=end)}
