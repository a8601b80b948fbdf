"""Gives times of day to the parameters they were said for: as 15:30, or as said where "3:30 pm" is what is wanted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workers.extraction.kinds import Kind
from workers.extraction.params import Param
from workers.extraction.reading import Reading
from workers.extraction.said import Found, Said
from workers.extraction.values_clocks import ClockMention
from workers.extraction.values_ranges import FROM_BEFORE, TO_BEFORE

_TWELVE_HOURS = re.compile(r"\d\s?[ap]\.?m(?!\w)", re.IGNORECASE)


def assign_clocks(reading: Reading, params: Sequence[Param], *, asked: Sequence[str]) -> Found:
    """Give each time by the name before it, by "from" and "to", else the only one to the only parameter.

    "at 5", which may be anything, is a time only in answer to the question for it. A time that belongs to a moment
    ("tomorrow at 15:00" for a parameter with day and time) is none of its own.
    """
    wanted = [p for p in params if p.kind is Kind.TIME]
    if not wanted:
        return {}
    moments = any(p.kind is Kind.MOMENT for p in params)
    on_days = [(d.start, d.end) for d in reading.days if d.at_first is not None] if moments else []
    left = [c for c in reading.clocks if not any(s <= c.start and c.end <= e for s, e in on_days)]
    found: Found = {}
    for fits in (_is_labelled, _is_directed):
        for param in (p for p in wanted if p.name not in found):
            chosen = [clock for clock in left if clock.is_told and fits(reading, param, clock)]
            if chosen:
                found[param.name] = _said(reading, param, chosen[-1])
                left.remove(chosen[-1])
    open_ones = [p for p in wanted if p.name not in found]
    awaited = [p for p in open_ones if p.name in asked] or open_ones
    told = [clock for clock in left if clock.is_told or (awaited and awaited[0].name in asked)]
    if len(awaited) == 1 and told:
        found[awaited[0].name] = _said(reading, awaited[0], told[-1] if reading.corrects else told[0])
    elif len(awaited) == len(told):
        found |= {param.name: _said(reading, param, clock) for param, clock in zip(awaited, told, strict=True)}
    return found


def _is_labelled(reading: Reading, param: Param, clock: ClockMention) -> bool:
    return reading.is_labelled(reading.label_spans(param), clock.start, clock.end)


def _is_directed(reading: Reading, param: Param, clock: ClockMention) -> bool:
    before = {"start": FROM_BEFORE, "end": TO_BEFORE}.get(param.direction)
    return before is not None and before.search(reading.text.folded[: clock.start]) is not None


def _said(reading: Reading, param: Param, clock: ClockMention) -> Said:
    shown = f"{param.spec.description} {param.spec.example or ''}"
    as_said = _TWELVE_HOURS.search(shown) is not None
    value = reading.text.between(clock.start, clock.end) if as_said else f"{clock.clock:%H:%M}"
    return Said(value=value, start=clock.start, end=clock.end)
