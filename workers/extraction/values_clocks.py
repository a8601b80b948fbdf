"""Reads clock times in three languages: "10:30 pm", "half past 11 in the morning", "kell pool kolm", "в 3 часа дня"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import time

from workers.extraction.clock_forms import FORMS, GENITIVE_HOURS, NAMED, PARTS, SAYS_CLOCK
from workers.extraction.text import Text, overlaps
from workers.extraction.values_numbers import word_value

_NOON, _DAY_HOURS, _HOUR_MINUTES, _QUARTER = 12, 24, 60, 15


@dataclass(frozen=True, kw_only=True)
class ClockMention:
    """A time of day and where it stands; `is_told` is False for a number that is only perhaps one ("at 5")."""

    start: int
    end: int
    clock: time
    is_told: bool = True


def clocks_in(text: Text) -> list[ClockMention]:
    """Find the times of day, in order; the fuller form of two that overlap counts."""
    found: list[ClockMention] = []
    for pattern in FORMS:
        for match in pattern.finditer(text.folded):
            mention = _read(match)
            if mention and not overlaps(mention.start, mention.end, [(one.start, one.end) for one in found]):
                found.append(mention)
    found += _named(text, found)
    return sorted(found, key=lambda mention: mention.start)


def _named(text: Text, found: list[ClockMention]) -> Iterator[ClockMention]:
    for pattern, clock in NAMED:
        for match in pattern.finditer(text.folded):
            if not overlaps(match.start(), match.end(), [(one.start, one.end) for one in found]):
                yield ClockMention(start=match.start(), end=match.end(), clock=clock)


def _read(match: re.Match[str]) -> ClockMention | None:
    said = match.groupdict()
    hour = _hour(said["h"])
    if hour is None:
        return None
    is_late, is_early = (bool(said[one] or said.get(f"{one}_before")) for one in ("late", "early"))
    minutes = hour * _HOUR_MINUTES + _minutes(said)
    if is_late and minutes < _NOON * _HOUR_MINUTES:
        minutes += _NOON * _HOUR_MINUTES
    elif is_early and hour == _NOON:
        minutes -= _NOON * _HOUR_MINUTES
    named = any(said.get(one) for one in ("past", "to", "part", "m", "exact"))
    sign = said.get("sign") or ""
    if not (named or is_late or is_early or sign in SAYS_CLOCK) or _is_duration(said):
        return None
    if not 0 <= minutes < _DAY_HOURS * _HOUR_MINUTES or int(said.get("m") or 0) >= _HOUR_MINUTES:
        return None
    start = match.end("sign") if sign else match.start()
    start = next((match.start(one) for one in ("late_before", "early_before") if said.get(one)), start)
    start += len(match.string[start : match.end()]) - len(match.string[start : match.end()].lstrip())
    clock = time(minutes // _HOUR_MINUTES, minutes % _HOUR_MINUTES)
    return ClockMention(
        start=start, end=match.end(), clock=clock, is_told=bool(named or is_late or is_early or sign not in ("at", "@"))
    )


def _is_duration(said: dict[str, str | None]) -> bool:
    """Whether it rather tells how long: "3 часа", "3 дня" and "3 ночи" do, without "в" before them."""
    counts = (said.get("exact") or "").startswith("час")
    half = said["late"] or said["early"] or ""
    if said.get("sign") or any(said.get(one) for one in ("past", "to", "part")):
        return False
    return (counts and not half) or (half in ("дня", "ночи", "вечера", "утра") and not (counts or said.get("m")))


def _hour(written: str) -> int | None:
    hour = int(written) if written.isdigit() else GENITIVE_HOURS.get(written, word_value(written))
    return hour if hour is not None and hour <= _DAY_HOURS else None


def _minutes(said: dict[str, str | None]) -> int:
    """Return the minutes after the full hour that was named, negative before it."""
    if past := said.get("past"):
        return _HOUR_MINUTES // 2 if past == "half" else _count(past)
    if to := said.get("to"):
        return -_count(to)
    if part := said.get("part"):
        return next((minutes for word, minutes in PARTS.items() if part.startswith(word)), -30)
    return int(said.get("m") or 0)


def _count(written: str) -> int:
    number = re.match(r"\d+", written)
    return int(number.group()) if number else _QUARTER
