"""Looks at a result as items with fields: which list it is about, what an item measures, which field is asked. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

from schemas.base import JsonValue
from workers.formatting.dates import read_moment
from workers.formatting.filters import as_number
from workers.formatting.paths import Missing, find, in_language
from workers.formatting.shape import unwrap
from workers.formatting.values import CODE_WORDS, Reading, is_hidden
from workers.messages.asking import DIMENSIONS, words_of_key

Item = dict[str, JsonValue]
_DEEPEST = 3
_MINUTES = 60
_STARTS = ("start", "departure", "opens", "begin", "date")
_ENDS = ("end", "arrival", "closes", "finish")


@dataclass(frozen=True, kw_only=True)
class Items:
    """The list that a result is about. `path` is where it stands; `is_whole` when nothing of it is on other pages.

    `is_main` when the result is this list, and not an object that has one beside other things.
    """

    rows: tuple[Item, ...]
    path: str
    total: int
    is_main: bool

    @property
    def is_whole(self) -> bool:
        return self.total <= len(self.rows)


@dataclass(frozen=True, kw_only=True)
class Field:
    """A scalar of an item, or a text in several languages, and where it stands in it."""

    path: str
    value: JsonValue

    @property
    def key(self) -> str:
        return self.path.rsplit(".", 1)[-1]

    @property
    def words(self) -> tuple[str, ...]:
        return words_of_key(self.path)


def items_of(body: JsonValue, reading: Reading) -> Items | None:
    """Find the list of objects that the result is about: the operator's, the envelope's, or the only one there is."""
    named = reading.call.endpoint.rendering.items
    if named is not None:
        there = find(body, named)
        path = named.removeprefix("$").strip(".")
        return None if isinstance(there, Missing) else _items(there, path, _claimed(body), is_main=True)
    found = unwrap(body, reading)
    if isinstance(found.value, list):
        return _items(found.value, found.path, found.total, is_main=True)
    if not isinstance(body, dict):
        return None
    lists = [(key, value) for key, value in body.items() if _is_list_of_objects(value, reading)]
    return _items(lists[0][1], lists[0][0], 0, is_main=False) if len(lists) == 1 else None


def _claimed(body: JsonValue) -> int:
    """How many items the envelope says there are; an amount of money is no count."""
    total = body.get("total") if isinstance(body, dict) and "currency" not in body else None
    return total if isinstance(total, int) and not isinstance(total, bool) else 0


def _items(value: JsonValue, path: str, total: int, *, is_main: bool) -> Items | None:
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        return None
    rows = tuple(row for row in value if isinstance(row, dict))
    return Items(rows=rows, path=path, total=max(total, len(rows)), is_main=is_main)


def _is_list_of_objects(value: JsonValue, reading: Reading) -> bool:
    is_list = isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)
    return is_list and in_language(value, reading.language) is None


def fields_of(item: JsonValue, reading: Reading, *, path: str = "", depth: int = 0) -> Iterator[Field]:
    """Yield what an object tells, nested objects too, lists of objects not; what is for machines only is left out."""
    if not isinstance(item, dict) or depth >= _DEEPEST:
        return
    for key, value in item.items():
        here = f"{path}.{key}".lstrip(".")
        if isinstance(value, dict) and in_language(value, reading.language) is None:
            yield from fields_of(value, reading, path=here, depth=depth + 1)
        elif not is_hidden(key, value) and (not isinstance(value, list) or in_language(value, reading.language)):
            yield Field(path=here, value=value)


def texts_of(item: Item, reading: Reading) -> str:
    """Everything an item says in words, in every language that it offers."""
    said: list[str] = []
    for field in fields_of(item, reading):
        said.extend(_strings(field.value))
    return " ".join(said)


def _strings(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def days_of(item: Item, reading: Reading) -> tuple[date, date] | None:
    """The first and the last day of an item; None when it carries no date."""
    moments = [(field.words, _day(field.value)) for field in fields_of(item, reading)]
    dated = [(words, day) for words, day in moments if day is not None]
    if not dated:
        return None
    start = next((day for words, day in dated if "start" in words), dated[0][1])
    end = next((day for words, day in dated if "end" in words), start)
    return (start, end) if end >= start else (start, start)


def _day(value: JsonValue) -> date | None:
    moment = read_moment(value) if isinstance(value, str) else None
    if isinstance(moment, datetime):
        return moment.date()
    return moment if isinstance(moment, date) else None


def measure(item: Item, dimension: str, reading: Reading, *, keys: frozenset[str] = frozenset()) -> float | None:
    """How much an item has of a dimension, by the field of one of `keys` when some are named; None when none tells.

    "size" is measured by the only number that an item has; with several numbers nobody can tell which was meant.
    """
    fields = [field for field in fields_of(item, reading) if not keys or field.path in keys]
    if dimension in ("time", "coming"):
        return next((at for field in fields if (at := _moment(field.value)) is not None), None)
    numbers = [(field, number) for field in fields if (number := _quantity(field)) is not None]
    if dimension == "size":
        alone = numbers if len(numbers) == 1 else [n for n in numbers if set(n[0].words) & DIMENSIONS["price"]]
        return alone[0][1] if len(alone) == 1 else None
    wanted = DIMENSIONS[dimension]
    by_field = next((number for field, number in numbers if wanted & set(field.words)), None)
    return _length(fields) if by_field is None and dimension == "length" else by_field


def _quantity(field: Field) -> float | None:
    is_code = bool(CODE_WORDS & set(words_of_key(field.key)))
    number = as_number(field.value)
    is_number = isinstance(field.value, int | float) and not isinstance(field.value, bool)
    return float(number) if number is not None and is_number and not is_code else None


def _length(fields: Sequence[Field]) -> float | None:
    start = _first(fields, _STARTS)
    end = _first(fields, _ENDS)
    return None if start is None or end is None or end < start else end - start


def _first(fields: Sequence[Field], names: Sequence[str]) -> float | None:
    timed = (field for name in names for field in fields if name in field.words)
    return next((at for field in timed if (at := _moment(field.value)) is not None), None)


def _moment(value: JsonValue) -> float | None:
    """Minutes on a line of time, so that two of one kind can be compared."""
    moment = read_moment(value) if isinstance(value, str) else None
    if isinstance(moment, time):
        return moment.hour * _MINUTES + moment.minute
    if isinstance(moment, datetime):
        return moment.timestamp() / _MINUTES
    return moment.toordinal() * 24.0 * _MINUTES if moment else None
