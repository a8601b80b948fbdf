"""Reads one message for a set of slots. Every value it returns stands in the person's words; wrong is worse than missing.

Kinds with an unmistakable form go first and spend their part of the text; a number inside an address, a plate or a
date is then no number any more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from schemas.base import JsonValue
from schemas.endpoints import ParamSpec
from workers.slotfilling import patterns
from workers.slotfilling.dates import DateSpan
from workers.slotfilling.free_text import find_proper_names, free_text
from workers.slotfilling.kinds import Kind, kind_of
from workers.slotfilling.names import find_names
from workers.slotfilling.options import find_options, read_boolean
from workers.slotfilling.periods import read_dates
from workers.slotfilling.slot import Slot
from workers.slotfilling.text import Found, composed, fold, is_negated

_LONGEST_MESSAGE = 4_000


@dataclass
class Reading:
    """What one message says about the slots."""

    values: dict[str, JsonValue] = field(default_factory=dict)
    unsure: dict[str, DateSpan] = field(default_factory=dict)
    reopened: tuple[str, ...] = ()
    invalid: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the message said nothing about any slot."""
        return not (self.values or self.unsure or self.invalid)


_FINDERS: dict[Kind, Callable[[str], list[Found]]] = {
    Kind.IBAN: lambda text: patterns.find_pattern(text, patterns.IBAN),
    Kind.EMAIL: lambda text: patterns.find_pattern(text, patterns.EMAIL),
    Kind.COUNTRY: lambda text: find_names(text, "countries"),
    Kind.CURRENCY: lambda text: find_names(text, "currencies"),
    Kind.LANGUAGE: lambda text: find_names(text, "languages"),
    Kind.ADDRESS: lambda text: patterns.find_pattern(text, patterns.ADDRESS),
    Kind.PLATE: lambda text: patterns.find_plates(text) or patterns.find_pattern(text, patterns.CODE),
    Kind.REGISTRY_CODE: lambda text: patterns.find_pattern(text, patterns.REGISTRY_CODE),
    Kind.PHONE: lambda text: patterns.find_pattern(text, patterns.PHONE),
    Kind.TOWN: lambda text: find_names(text, "towns"),
    Kind.CODE: lambda text: patterns.find_pattern(text, patterns.CODE),
    Kind.NUMBER: patterns.find_numbers,
    Kind.INTEGER: lambda text: [found for found in patterns.find_numbers(text) if "." not in found.value],
}
_SPENDS_DATES_FIRST = (Kind.IBAN, Kind.EMAIL)
_BARE_DIGITS = 3
_TAKES_CODE = re.compile(r"\bcode\b|\bnumber\b|kood|number|код|номер")


def read(
    message: str, slots: Sequence[Slot], *, known: Mapping[str, JsonValue], asked: Sequence[str], now: datetime
) -> Reading:
    """Return the values that the message gives. `asked` are the slots of the question it may answer."""
    text = composed(message)[:_LONGEST_MESSAGE]
    reading, spent = Reading(), []
    by_kind: dict[Kind, list[Slot]] = {}
    for slot in slots:
        by_kind.setdefault(slot.kind, []).append(slot)
    for kind in _SPENDS_DATES_FIRST:
        spent += _assign(
            text, by_kind.get(kind, ()), _FINDERS[kind](text), reading, spent=spent, asked=asked, known=known
        )
    dates = read_dates(text, slots, known=known, asked=asked, now=now)
    reading.values |= dates.values
    reading.unsure, reading.reopened, reading.invalid = dates.unsure, tuple(dates.reopened), dates.invalid
    spent += dates.spent
    _read_options(text, slots, reading, spent, asked=asked)
    for kind, find in _FINDERS.items():
        if kind not in _SPENDS_DATES_FIRST and kind in by_kind:
            found = _usable(kind, find(text), by_kind[kind], asked=asked)
            spent += _assign(text, by_kind[kind], found, reading, spent=spent, asked=asked, known=known)
    _read_lists(text, slots, reading)
    _read_words(text, slots, reading, spent, asked=asked)
    return reading


def _usable(kind: Kind, found: list[Found], slots: Sequence[Slot], *, asked: Sequence[str]) -> list[Found]:
    """Leave out codes too short to be told from a count, unless a code was asked for just now."""
    if kind not in (Kind.CODE, Kind.PLATE) or any(slot.name in asked for slot in slots):
        return found
    return [f for f in found if not f.value.isdigit() or len(f.value) > _BARE_DIGITS]


def _assign(
    text: str,
    slots: Sequence[Slot],
    found: Sequence[Found],
    reading: Reading,
    *,
    spent: Sequence[Found],
    asked: Sequence[str],
    known: Mapping[str, JsonValue],
) -> list[Found]:
    """Give values to slots of one kind: by label, by role, then what was asked; return the parts now spent."""
    free = [f for f in found if not any(f.overlaps(s) for s in spent) and not is_negated(text, f.start)]
    allowed = {option.value for slot in slots for option in slot.param.enum}
    free = [f for f in free if not allowed or f.value in allowed]
    open_ = [slot for slot in slots if slot.name not in reading.values]
    used: list[Found] = []
    for choose in (_by_label, _by_role):
        for slot, one in choose(fold(text), open_, [f for f in free if f not in used]):
            _give(slot, one, reading)
            used.append(one)
        open_ = [slot for slot in open_ if slot.name not in reading.values]
    left = [f for f in free if f not in used]
    for slot, one in _by_turn(open_, left, asked=asked, known=known):
        _give(slot, one, reading)
        used.append(one)
    return used


def _give(slot: Slot, found: Found, reading: Reading) -> None:
    reading.values[slot.name] = _typed(slot.param, found.value)


def _typed(param: ParamSpec, written: str) -> JsonValue:
    if param.type == "integer":
        return int(float(written))
    if param.type == "number":
        number = float(written)
        return int(number) if number.is_integer() and "." not in written else number
    return written


def _by_label(folded: str, slots: Sequence[Slot], found: Sequence[Found]) -> list[tuple[Slot, Found]]:
    chosen: list[tuple[Slot, Found]] = []
    since = 0
    for one in found:
        near = [
            (distance, place)
            for place, slot in enumerate(slots)
            if (distance := slot.label_before(folded, one.start, since=since)) >= 0
            and slot not in [taken for taken, _ in chosen]
        ]
        since = one.end
        after = [slot for slot in slots if slot.label_after(folded, one.end)]
        if near and len(slots) > 1:
            chosen.append((slots[min(near)[1]], one))
        elif len(after) == 1 and len(slots) > 1:
            chosen.append((after[0], one))
    return chosen


def _by_role(_: str, slots: Sequence[Slot], found: Sequence[Found]) -> list[tuple[Slot, Found]]:
    chosen = []
    for one in found:
        slot = next((s for s in slots if one.role and s.role == one.role), None)
        if slot is not None and slot not in [taken for taken, _ in chosen]:
            chosen.append((slot, one))
    return chosen


def _by_turn(
    slots: Sequence[Slot], found: Sequence[Found], *, asked: Sequence[str], known: Mapping[str, JsonValue]
) -> list[tuple[Slot, Found]]:
    """Match the rest in order; one value that could be either of a pair is left for a question."""
    waiting = [slot for slot in slots if slot.name in asked]
    missing = waiting or [slot for slot in slots if slot.name not in known and slot.param.required]
    targets = missing or [slot for slot in slots if slot.name not in known] or list(slots)
    roles = {slot.role for slot in targets} - {""}
    if len(targets) > 1 and len(found) == 1 and len(roles) > 1:
        return []
    return list(zip(targets, found, strict=False))


def _read_options(
    text: str, slots: Sequence[Slot], reading: Reading, spent: list[Found], *, asked: Sequence[str]
) -> None:
    for slot in slots:
        is_asked = slot.name in asked
        if slot.kind is Kind.ENUM:
            found = find_options(text, slot.param, is_asked=is_asked)
            if len({f.value for f in found}) == 1:
                reading.values[slot.name] = _typed(slot.param, found[0].value)
                spent += found
        elif slot.kind is Kind.BOOLEAN:
            answer = read_boolean(text, slot, is_only=is_asked and len(asked) == 1)
            if answer is not None:
                reading.values[slot.name] = answer


def _read_lists(text: str, slots: Sequence[Slot], reading: Reading) -> None:
    for slot in slots:
        if slot.kind is Kind.OBJECT and (value := _json_object(text)) is not None:
            reading.values[slot.name] = value
        elif slot.kind is Kind.ARRAY:
            item = slot.param.items or ParamSpec(name=slot.name, description=slot.param.description)
            find = _FINDERS.get(kind_of(item.model_copy(update={"name": item.name or slot.name})))
            values: list[JsonValue] = [_typed(item, found.value) for found in find(text)] if find else []
            if values:
                reading.values[slot.name] = values


def _codes(text: str, slots: Sequence[Slot], spent: Sequence[Found]) -> list[Found]:
    """Return code-like words for a text parameter whose own words say that a code will do."""
    if not any(_TAKES_CODE.search(fold(" ".join((*s.param.labels.values(), s.param.description)))) for s in slots):
        return []
    found = _usable(Kind.CODE, patterns.find_pattern(text, patterns.CODE), slots, asked=())
    return [one for one in found if not any(one.overlaps(part) for part in spent)]


def _json_object(text: str) -> dict[str, JsonValue] | None:
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        value = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _read_words(
    text: str, slots: Sequence[Slot], reading: Reading, spent: Sequence[Found], *, asked: Sequence[str]
) -> None:
    """Fill what has no form of its own: proper names where they stand out, the rest of an answer where it was asked."""
    wordy = [slot for slot in slots if slot.kind in (Kind.TEXT, Kind.TOWN, Kind.ADDRESS, Kind.CODE)]
    open_ = [slot for slot in wordy if slot.name not in reading.values]
    asked_for = [slot for slot in open_ if slot.name in asked]
    if len(asked_for) == 1:
        said = free_text(text, spent)
        if said:
            reading.values[asked_for[0].name] = said
    elif not asked:
        needed = [slot for slot in open_ if slot.kind is Kind.TEXT and slot.param.required]
        named = _codes(text, needed, spent) or find_proper_names(text, spent)
        if len(needed) == 1 and len(named) == 1:
            reading.values[needed[0].name] = named[0].value
