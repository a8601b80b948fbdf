"""Words a list of objects: one line each, with the few fields that tell most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import JsonValue
from workers.formatting.dates import read_moment
from workers.formatting.names import capital, key_words
from workers.formatting.paths import in_language
from workers.formatting.quoting import ROW_LIMIT
from workers.formatting.values import (
    CODE_WORDS,
    CURRENCY_KEYS,
    MONEY_WORDS,
    Reading,
    currency_of,
    is_hidden,
    say_field,
)

FIELDS_IN_ROW = 3
_DEEPEST_CELL = 4
# What names a thing, best first; the words are those of keys, in English and Estonian.
_LEADING = "name nimi title pealkiri label subject headline address aadress description text station city date"
_LEADS = _LEADING.split()
_WEIGHTS = {"asked": 8, "moment": 5, "money": 4, "state": 3, "plain": 2, "code": 1}
_STATE_WORDS = frozenset({"status", "state", "result", "type", "outcome", "olek", "tulemus"})


@dataclass(frozen=True)
class _Cell:
    key: str
    path: str
    said: str
    weight: int


def row_lines(items: Sequence[dict[str, JsonValue]], path: str, reading: Reading) -> list[str]:
    """Say each object in one line, without its dash; an object with nothing to say gives "".

    A field that is the same in every row tells nothing and is left out.
    """
    rows = [_cells(item, path, reading) for item in items]
    same = _constant(rows)
    return [_line([cell for cell in row if cell.path not in same] or row, reading) for row in rows]


def fields_in_line(item: dict[str, JsonValue], path: str, reading: Reading) -> str:
    """Say the few fields of an object that tell most, those of its inner objects among them; "" without any."""
    cells = _cells(item, path, reading)
    kept = {id(cell) for cell in sorted(cells, key=lambda cell: -cell.weight)[:FIELDS_IN_ROW]}
    return "; ".join(f"{reading.name(cell.path)}: {cell.said}" for cell in cells if id(cell) in kept)


def _constant(rows: Sequence[Sequence[_Cell]]) -> set[str]:
    if len(rows) < 2:  # noqa: PLR2004 — one row has nothing to be compared with
        return set()
    seen: dict[str, set[str]] = {}
    times: dict[str, int] = {}
    for cell in (cell for row in rows for cell in row):
        seen.setdefault(cell.path, set()).add(cell.said)
        times[cell.path] = times.get(cell.path, 0) + 1
    return {path for path, values in seen.items() if len(values) == 1 and times[path] == len(rows)}


def _cells(item: dict[str, JsonValue], path: str, reading: Reading, *, depth: int = 0) -> list[_Cell]:
    cells: list[_Cell] = []
    has_money = any(currency_of(key, item) for key in item)
    for key, value in item.items():
        if is_hidden(key, value) or (has_money and key in CURRENCY_KEYS):
            continue
        here = f"{path}.{key}".lstrip(".")
        said = say_field(key, value, item, reading, limit=ROW_LIMIT)
        if said:
            cells.append(_Cell(key, here, said, _weight(key, value, item, reading) - depth))
        elif isinstance(value, dict) and depth < _DEEPEST_CELL and in_language(value, reading.language) is None:
            cells.extend(_cells(value, here, reading, depth=depth + 1))
    return cells


def _weight(key: str, value: JsonValue, item: dict[str, JsonValue], reading: Reading) -> int:
    words = {word.lower() for word in key_words(key)}
    if {word[:5] for word in words} & reading.query_words:
        return _WEIGHTS["asked"]
    if isinstance(value, str) and read_moment(value):
        return _WEIGHTS["moment"]
    if currency_of(key, item) or (words & MONEY_WORDS and isinstance(value, int | float)):
        return _WEIGHTS["money"]
    if words & _STATE_WORDS:
        return _WEIGHTS["state"]
    return _WEIGHTS["code" if words & CODE_WORDS else "plain"]


def _line(cells: Sequence[_Cell], reading: Reading) -> str:
    if not cells:
        return ""
    lead = min(cells, key=_lead_rank)
    named = _lead_rank(lead) < len(_LEADS)
    others = sorted((cell for cell in cells if cell is not lead or not named), key=lambda cell: -cell.weight)
    kept = {id(cell) for cell in others[:FIELDS_IN_ROW]}
    told = "; ".join(f"{reading.name(cell.path)}: {cell.said}" for cell in cells if id(cell) in kept)
    if not named:
        return capital(told)
    return f"{lead.said} – {told}" if told else lead.said


def _lead_rank(cell: _Cell) -> int:
    words = key_words(cell.key)
    last = words[-1].lower() if words else ""
    return _LEADS.index(last) if last in _LEADS else len(_LEADS)
