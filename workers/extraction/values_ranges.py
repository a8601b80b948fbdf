"""Joins named days into ranges, tells starts from ends, and puts clock times on days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, time

from workers.extraction import calendar_words as words
from workers.extraction.calendar_math import Calendar, day_of, shifted
from workers.extraction.date_forms import named_days
from workers.extraction.text import Text
from workers.extraction.values_dates import Days, Role

FROM_BEFORE = re.compile(rf"(?:^|[^\w])(?:{words.FROM})(?:\s+(?:the|day|date|kuupaevast))?\s*[:=]?\s*$")
TO_BEFORE = re.compile(rf"(?:^|[^\w])(?:{words.TO})(?:\s+(?:the|day|date))?\s*[:=]?\s*$")
_ON_BEFORE = re.compile(rf"(?:^|[^\w])(?:{words.ON})(?:\s+the)?\s*$")
# "Is 24 February a holiday?", "24. veebruar on püha?": what is said of a day is meant for that day alone.
_BEING_BEFORE = re.compile(r"(?:^|[^\w])(?:is|was|are|were|kas)(?:\s+the)?\s*$")
_BEING_AFTER = re.compile(r"\s*(?:[–—-]\s*)?(?:is|was|on|oli|это|был[аои]?|будет)(?!\w)")
_BETWEEN_BEFORE = re.compile(rf"(?:^|[^\w])(?:{words.BETWEEN})\s*$")
_JOIN = re.compile(rf"\s*,?\s*(?:-|->|>|\.\.+|{words.TO}|ending|lopp\w*)\s*(?:the\s+|on\s+)?")
_AND = re.compile(rf"\s*(?:{words.AND})\s*(?:the\s+)?")
_NEAR = re.compile(r"[\s,;]*")
_ELATIVE = re.compile(r"(?:[aeiou]st|[aeiou]lt)")
_TERMINATIVE = re.compile(r"\w+[aeiou]ni")
_ADESSIVE = re.compile(r"\w+[aeiou]l")
_LAST_WORD = re.compile(r"([^\W\d_]+)[\W\d]*$")
_NOT_TERMINATIVE = ("juuni", "uni")
_CLOCK = (
    r"(?P<h>\d{1,2})(?:(?::|\.(?=\d\d(?!\.)))(?P<m>\d\d))?(?::\d\d)?"
    r"\s*(?P<half>a\.?m\.?|p\.?m\.?|утра|вечера|дня|hommikul|ohtul)?(?:\s*час\w*)?(?!\w)"
)
_SECOND_CLOCK = re.sub(r"\?P<(\w+)>", r"?P<\1_to>", _CLOCK)
_HOURS = (
    rf"(?P<sign>at|kell|kella|в|во|@|alates kella|alates kell|from|с|со|between|kl\.?)?\s*{_CLOCK}(?:-?st)?"
    rf"\s*(?:-|to|till?|until|kuni|до|по|and|ja)\s*(?P<sign_to>kella|kell)?\s*{_SECOND_CLOCK}(?:-?ni(?!\w))?"
)
_AFTER_DAY = re.compile(rf"[\s,]*(?P<sign>at|kell|kella|в|во|@|alates kella|alates kell|с|from|kl\.?)?\s*{_CLOCK}")
_BEFORE_DAY = re.compile(rf"(?:^|(?<=[^\w]))(?P<sign>at|kell|kella|в|во|@|kl\.?)?\s*{_CLOCK}\s*(?:on\s+|,)?\s*$")
_HOURS_AFTER_DAY = re.compile(rf"[\s,]*{_HOURS}")
_HOURS_BEFORE_DAY = re.compile(rf"(?:^|(?<=[^\w])){_HOURS}\s*(?:on\s+|,)?\s*$")
_A_WEEKDAY = re.compile(rf"(?:{words.WEEKDAY})")
_SHORT_WEEKDAY_BEFORE = re.compile(rf"(?<!\w)({words.WEEKDAY})\.?,?\s+(?:the\s+)?$")
_BESIDE = re.compile(r"[\s,]*[\s(](?:the\s+)?")
_NOON = 12
_SAYS_CLOCK = ("at", "kell", "kella", "alates kella", "alates kell", "@", "kl", "kl.")
# "tomorrow from 10 to 12": two numbers behind a day, with nothing after them that they could count.
_SAYS_HOURS = ("from", "between", "с", "со")
_ENDS = re.compile(r"\s*(?:$|[,;?!]|\.(?:\s|$)|(?:in|on|at|for|please|palun|пожалуиста)(?!\w))")
_LAST_HOUR, _LAST_MINUTE = 23, 59


def read_days(text: Text, calendar: Calendar) -> list[Days]:
    """Find the days and ranges of a message, in order, with their roles and clock times."""
    named = _with_weekdays(_linked(named_days(text.folded, calendar)), text.folded)
    timed = [_with_clock(days, text.folded, named) for days in named]
    told = [_with_role(days, text.folded) for days in timed]
    return _joined(told, text.folded)


def _linked(named: list[Days]) -> list[Days]:
    """Count "the next day" from the day named before it, else from today."""
    linked: list[Days] = []
    for days in named:
        if days.follows:
            anchor = linked[-1].last if linked else days.first
            day = shifted(anchor, days.follows) or anchor
            linked.append(replace(days, first=day, last=day, follows=0))
        else:
            linked.append(days)
    return linked


def _with_weekdays(named: list[Days], folded: str) -> list[Days]:
    """Hold each date to the weekday beside it: "Friday, 5 December", a Saturday, may mean Friday the 4th as well."""
    kept: list[Days] = []
    for days in named:
        earlier = kept[-1] if kept else None
        if earlier and days.grain == "day" and _is_weekday(earlier, folded) and _beside(earlier, days, folded):
            kept[-1] = replace(
                days, start=earlier.start, other=_near_weekday(days, folded[earlier.start : earlier.end])
            )
        elif earlier and earlier.grain == "day" and _is_weekday(days, folded) and _beside(earlier, days, folded):
            kept[-1] = replace(earlier, end=days.end, other=_near_weekday(earlier, folded[days.start : days.end]))
        elif days.grain == "day" and (short := _SHORT_WEEKDAY_BEFORE.search(folded[: days.start])):
            kept.append(replace(days, other=_near_weekday(days, short[1])))
        else:
            kept.append(days)
    return kept


def _is_weekday(days: Days, folded: str) -> bool:
    return days.grain == "near" and _A_WEEKDAY.fullmatch(folded, days.start, days.end) is not None


def _beside(one: Days, two: Days, folded: str) -> bool:
    return _BESIDE.fullmatch(folded, one.end, two.start) is not None


def _near_weekday(days: Days, weekday: str) -> date | None:
    """Return the day of that name nearest to the date; None when the date is such a day."""
    if days.other is not None:
        return days.other
    steps = (words.weekday_number(weekday) - days.first.weekday() + 3) % 7 - 3
    return shifted(days.first, steps) if steps else None


def _with_role(days: Days, folded: str) -> Days:
    if days.role:
        return days
    before = folded[: days.start]
    said = _LAST_WORD.search(folded[days.start : days.end])
    word = said[1] if said else ""
    role = _role_of(before, word)
    if not role and days.is_day and (_BEING_BEFORE.search(before) or _BEING_AFTER.match(folded, days.end)):
        role = "on"
    return replace(days, role=role)


def _role_of(before: str, word: str) -> Role:
    if _ELATIVE.search(word[-3:]) and word != "august":
        return "from"
    if _TERMINATIVE.fullmatch(word) and word not in _NOT_TERMINATIVE:
        return "to"
    if FROM_BEFORE.search(before):
        return "from"
    if TO_BEFORE.search(before):
        return "to"
    return "on" if _ADESSIVE.fullmatch(word) or _ON_BEFORE.search(before) else ""


def _joined(found: Sequence[Days], folded: str) -> list[Days]:
    joined: list[Days] = []
    for days in found:
        if joined and _belong_together(joined[-1], days, folded):
            joined[-1] = _range(joined[-1], days)
        else:
            joined.append(days)
    return joined


def _belong_together(one: Days, two: Days, folded: str) -> bool:
    if "impossible" in (one.grain, two.grain):
        return False
    gap = folded[one.end : two.start]
    if _JOIN.fullmatch(gap):
        return True
    if _AND.fullmatch(gap) and _BETWEEN_BEFORE.search(folded[: one.start]):
        return True
    return one.role == "from" and two.role == "to" and _NEAR.fullmatch(gap) is not None


def _range(one: Days, two: Days) -> Days:
    """Make one range of two; a year said once counts for both, and an end before its start lies a year later."""
    one, two = _month_first(one, two), _month_first(two, one)
    first, last = one.first, two.last
    is_open = one.other is not None and two.other is not None and one.other <= two.other
    if two.has_year and not one.has_year and one.grain != "near":
        first = _in_year(first, last.year) or first
        if first > last:
            first = _in_year(first, last.year - 1) or first
    elif not two.has_year and two.grain != "near":
        last = _in_year(last, first.year) or last
        if last < first:
            last = _in_year(last, first.year + 1) or last
    return replace(
        one, end=two.end, first=first, last=last, grain="span", role="", other=one.other if is_open else None,
        other_last=two.other if is_open else None,
        has_year=one.has_year or two.has_year, at_last=two.at_last, zone_last=two.zone,
    )  # fmt: skip


def _month_first(days: Days, beside: Days) -> Days:
    """Read "5/3/2027 to 5/20/2027" month first in both, since the other day of a range can be read in no other way."""
    if days.other is None or beside.other is not None or not beside.is_month_first:
        return days
    return replace(days, first=days.other, last=days.other, other=None)


def _in_year(day: date, year: int) -> date | None:
    return day_of(year, day.month, day.day)


def _with_clock(days: Days, folded: str, named: Sequence[Days]) -> Days:
    """Take the clock time said right after a day, or right before it."""
    if not days.is_day or days.at_first is not None:
        return days
    hours = _with_hours(days, folded, named)
    if hours is not None:
        return hours
    following = _AFTER_DAY.match(folded, days.end)
    if following and not any(
        other.start < following.end() and days.end < other.end for other in named if other != days
    ):
        clock = _clock(following)
        if clock is not None:
            return replace(days, end=following.end(), at_first=clock, at_last=clock)
    leading = _BEFORE_DAY.search(folded[: days.start])
    if leading and not any(other.end > leading.start() for other in named if other.start < days.start):
        clock = _clock(leading)
        if clock is not None:
            return replace(days, start=leading.start(), at_first=clock, at_last=clock)
    return days


def _with_hours(days: Days, folded: str, named: Sequence[Days]) -> Days | None:
    """Take two clock times of one day ("tomorrow from 18:00 to 19:30"); an earlier second one is the next day's."""
    after, before = _HOURS_AFTER_DAY.match(folded, days.end), _HOURS_BEFORE_DAY.search(folded[: days.start])
    for match in (after, before):
        if match is None or any(days != o and match.start() < o.end and o.start < match.end() for o in named):
            continue
        has_clock = any(match[group] for group in ("m", "half", "m_to", "half_to")) or match["sign"] in _SAYS_CLOCK
        stand_alone = match["sign"] in _SAYS_HOURS and _ENDS.match(folded, match.end()) is not None
        is_told = has_clock or (match is after and stand_alone)
        first, last = _time_of(match, ""), _time_of(match, "_to")
        if is_told and first is not None and last is not None:
            until = days.last if first <= last else shifted(days.last, 1) or days.last
            start, end = min(days.start, match.start()), max(days.end, match.end())
            return replace(days, start=start, end=end, last=until, at_first=first, at_last=last)
    return None


def _clock(match: re.Match[str]) -> time | None:
    """Read hours and minutes; a bare number is a time only after a word that says so."""
    half = match["half"] or ""
    if not (match["sign"] or match["m"] or half):
        return None
    if match["sign"] in ("с", "from") and not (match["m"] or half):
        return None
    return _time_of(match, "")


def _time_of(match: re.Match[str], which: str) -> time | None:
    half = match[f"half{which}"] or ""
    hour, minute = int(match[f"h{which}"]), int(match[f"m{which}"] or 0)
    if half.startswith(("p", "вечера", "дня", "ohtul")) and hour < _NOON:
        hour += _NOON
    elif half.startswith("a") and hour == _NOON:
        hour = 0
    return time(hour, minute) if hour <= _LAST_HOUR and minute <= _LAST_MINUTE else None
