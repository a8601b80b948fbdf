"""Reads "and the next day?" beside the call before it: what it is next to is that call's own date, not today. Pure."""

from __future__ import annotations

import unicodedata
from calendar import monthrange
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from schemas.base import JsonValue
from schemas.endpoints import LANGUAGES, Endpoint
from workers.messages.hearing import Word, named_lexicon, words_of

_ISO_DAY = len("2026-12-05")
_MONTHS = 12
_PERIOD = 2


@dataclass(frozen=True, kw_only=True)
class Shift:
    """How far a date is to move: "the week before" is one week back. `first` and `end` are its words, end open."""

    unit: str
    by: int
    first: int
    end: int


def as_shifted(text: str, names: tuple[str, ...], before: Mapping[str, JsonValue], endpoint: Endpoint) -> str:
    """Return the message with words of a shift replaced by the day, days or year that they mean.

    `names` are the parameters that the message changes, `before` their present values. The text comes back as it was
    when nothing in it is a shift, or a value to shift is not there or is no date.
    """
    composed = unicodedata.normalize("NFC", text)
    words = words_of(composed)
    shift = max(_shifts(words), key=lambda found: found.end - found.first, default=None)
    moved = [_moved(before.get(name), shift, endpoint, name) for name in names] if shift else []
    dates = [value for value in moved if value]
    if shift is None or not dates or len(dates) > _PERIOD:
        return text
    return f"{composed[: words[shift.first].start]}{' – '.join(dates)}{composed[words[shift.end - 1].end :]}"


def _shifts(words: tuple[Word, ...]) -> Iterator[Shift]:
    """Find them in all languages, for a follow-up may be in another one than the chat."""
    for language in LANGUAGES:
        for at in range(len(words)):
            for name, end in named_lexicon("followup.shifts", language).names(words, at).items():
                unit, by = name.split()
                yield Shift(unit=unit, by=int(by), first=at, end=end)


def _moved(value: JsonValue, shift: Shift, endpoint: Endpoint, name: str) -> str:
    param = endpoint.param(name)
    if param is None or isinstance(value, bool):
        return ""
    if isinstance(value, int):
        return str(value + shift.by) if shift.unit == "year" else ""
    if param.type not in ("date", "datetime") or not isinstance(value, str):
        return ""
    try:
        day = _move(date.fromisoformat(value[:_ISO_DAY]), shift)
    except (ValueError, OverflowError):
        return ""
    return day.isoformat() + value[_ISO_DAY:]


def _move(day: date, shift: Shift) -> date:
    """Move by the calendar; the last of a month stays the last, and no day leaps into the month after."""
    if shift.unit in ("day", "week"):
        return day + timedelta(days=shift.by * (7 if shift.unit == "week" else 1))
    months = day.year * _MONTHS + day.month - 1 + shift.by * (_MONTHS if shift.unit == "year" else 1)
    year, month = divmod(months, _MONTHS)
    longest = monthrange(year, month + 1)[1]
    is_last = day.day == monthrange(day.year, day.month)[1]
    return date(year, month + 1, longest if is_last else min(day.day, longest))
