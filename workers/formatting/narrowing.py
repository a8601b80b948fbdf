"""Answers a question about a result that is already there: how many, which is the longest, those in May, whose.

Nothing but the result is used. A word that neither the question's lists nor the result explain, or a list that is
not whole, and the answer is None: then somebody must ask the API.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import date
from itertools import pairwise

from schemas.base import JsonValue
from schemas.calls import ApiCall
from schemas.endpoints import Language
from workers.formatting.locale import plural_form, spoken_number
from workers.formatting.names import capital
from workers.formatting.narrowing_items import Field, Item, Items, measure
from workers.formatting.narrowing_picks import Days, named
from workers.formatting.narrowing_question import Asked
from workers.formatting.rendering import fill
from workers.formatting.rows import row_lines
from workers.formatting.scope import Scope
from workers.formatting.values import say_field
from workers.messages.asking import words_of_key
from workers.messages.catalog import phrases, text
from workers.messages.hearing import same_stem

MOST_ROWS = 60
_FEW_ROWS = 12
_MOST_TIED = 3
_LONGEST_QUESTION = 300
_DAY_MINUTES = 24 * 60
_AMOUNTS = ("price", "amount", "fee", "cost")


def narrowed(question: str, call: ApiCall, body: JsonValue, *, language: Language, today: date) -> str | None:
    """Say what the result of `call` tells about the question, in `language`; None when it can't tell.

    `body` is the whole result as it came. The question may be in any of the three languages. `today` is what "the
    next one" counts from. The text is plain: a line for each item, as the endpoint's own rows are worded.
    """
    asked = Asked(unicodedata.normalize("NFC", question[:_LONGEST_QUESTION]), call, body, language, today)
    if not asked.words:
        return None
    if asked.items is not None and asked.items.is_main:
        return _of_items(asked, asked.items)
    return _of_object(asked) or (_of_items(asked, asked.items) if asked.items is not None else None)


def _of_items(asked: Asked, items: Items) -> str | None:
    """Answer from the list; None when it can't tell."""
    if asked.compares:
        return None
    rows = _picked(asked, items)
    if not rows:
        is_known = rows is not None and bool(asked.days.tests and items.rows)
        return text("narrowing.none", asked.language) if is_known else None
    is_picked = len(rows) < len(items.rows) or bool(asked.days.tests)
    if asked.wants("superlatives", "ordinals"):
        return _one(asked, rows, items)
    if asked.wants("counts") and not (_is_amount(asked) or asked.names_concept):
        return _count(asked, rows, items, is_picked=is_picked)
    if asked.wants("totals"):
        return _sum(asked, rows, is_picked=is_picked)
    return _rows(asked, rows, items, is_picked=is_picked)


def _rows(asked: Asked, rows: Sequence[Item], items: Items, *, is_picked: bool) -> str | None:
    """The items that were picked, or all of them when that or one of their fields was asked for."""
    fields = asked.fields(asked.inner)
    if fields and not is_picked:
        return _alike(asked, rows, fields) or (_said(asked, rows, items) if len(rows) <= _FEW_ROWS else None)
    if asked.is_of_their_kind and not (fields or is_picked) and items.is_whole:
        said = _said(asked, rows, items) if len(rows) <= MOST_ROWS else None
        return f"{text('narrowing.every', asked.language)}\n{said}" if said else None
    is_listing = is_picked or (bool(asked.wants("all")) and items.is_whole)
    return _said(asked, rows, items) if is_listing and len(rows) <= MOST_ROWS else None


def _picked(asked: Asked, items: Items) -> list[Item] | None:
    """The items that the question's days, names and yes-or-no fields leave.

    None when a word names none of them, when days are asked of items without dates, or when pages are missing.
    """
    rows = list(items.rows)
    if asked.names and not (rows := named(asked.names, rows, asked.reading)):
        return None
    if asked.days.tests:
        every = Days(tests=(), places=frozenset())
        if not all(every.fit(row, asked.reading) for row in rows):
            return None
        rows = [row for row in rows if asked.days.fit(row, asked.reading)]
    flags = [field.path for field in asked.fields(asked.inner) if isinstance(field.value, bool)]
    if flags and not asked.wants("ordinals", "superlatives"):
        rows = [row for row in rows if all(_at(row, path) is True for path in flags)]
    return rows if items.is_whole or len(rows) == len(items.rows) else None


def _one(asked: Asked, rows: Sequence[Item], items: Items) -> str | None:
    """The one that is the most, or stands at the place that was said."""
    most = asked.wants("superlatives")
    chosen = _most(asked, rows, *most[0].value.split()) if most else _in_order(asked, rows)
    is_last = not most and int(asked.wants("ordinals")[0].value) < 0
    if not chosen or ((most or is_last) and not items.is_whole):
        return None
    if len(chosen) == len(rows) > _MOST_TIED:
        return text("narrowing.tied", asked.language, count=spoken_number(len(rows), asked.language))
    return _said(asked, chosen, items)


def _in_order(asked: Asked, rows: Sequence[Item]) -> list[Item]:
    place = int(asked.wants("ordinals")[0].value)
    at = place - 1 if place > 0 else len(rows) + place
    # Of a list that begins with the newest, "the last one" may be either end.
    if place < 0 and _is_newest_first(asked, rows):
        return []
    return [rows[at]] if 0 <= at < len(rows) else []


def _is_newest_first(asked: Asked, rows: Sequence[Item]) -> bool:
    times = [measure(row, "time", asked.reading) for row in rows]
    known = [at for at in times if at is not None]
    return len(known) > 1 and known[0] > known[-1] and all(a >= b for a, b in pairwise(known))


def _most(asked: Asked, rows: Sequence[Item], dimension: str, end: str) -> list[Item]:
    is_open = dimension in ("size", "time")
    keys = frozenset(field.path for field in asked.fields(asked.inner)) if is_open else frozenset()
    measured = [(measure(row, dimension, asked.reading, keys=keys), row) for row in rows]
    known = [(size, row) for size, row in measured if size is not None]
    if dimension == "coming":
        known = [(size, row) for size, row in known if size >= asked.today.toordinal() * _DAY_MINUTES]
    elif len(known) < len(rows):
        return []
    best = (max if end == "max" else min)((size for size, _ in known), default=None)
    return [row for size, row in known if size == best]


def _is_amount(asked: Asked) -> bool:
    """Whether "how many" asks for a number that an item carries ("how many were against")."""
    return any(isinstance(f.value, int | float) and not isinstance(f.value, bool) for f in asked.fields(asked.inner))


def _count(asked: Asked, rows: Sequence[Item], items: Items, *, is_picked: bool) -> str | None:
    if not items.is_main and not _names_list(asked, items):
        return None
    count = len(rows) if is_picked else items.total
    form = plural_form(count, asked.language, phrases("narrowing.count", asked.language))
    said = form.format(count=spoken_number(count, asked.language))
    return "\n".join([said, *_lines(asked, rows, items)]) if is_picked and count <= _FEW_ROWS else said


def _names_list(asked: Asked, items: Items) -> bool:
    own = words_of_key(items.path)
    return any(same_stem(word.folded, key) for word in asked.words for key in own)


def _sum(asked: Asked, rows: Sequence[Item], *, is_picked: bool) -> str | None:
    """What the result itself calls the total; else the sum of the only amount that every item carries."""
    body = asked.body if isinstance(asked.body, dict) else {}
    if not is_picked and body.get("total") is not None and "currency" in body:
        return text("narrowing.total", asked.language, sum=say_field("total", body["total"], body, asked.reading))
    key = next((field.path for field in asked.inner if field.path in _AMOUNTS), "")
    amounts = [amount for row in rows if isinstance(amount := row.get(key), int | float)]
    if not key or len(amounts) < len(rows):
        return None
    siblings = {"currency": rows[0].get("currency") or body.get("currency")}
    said = say_field(key, round(sum(amounts), 2), siblings, asked.reading)
    return text("narrowing.total", asked.language, sum=said)


def _alike(asked: Asked, rows: Sequence[Item], fields: Sequence[Field]) -> str:
    """One line when the field that was asked for is the same in every item; "" otherwise."""
    values = {_value(asked, fields[0].path, row) for row in rows}
    if len(fields) > 1 or len(values) > 1 or len(rows) == 1:
        return ""
    return _field_line(asked, fields[0], rows[0])


def _said(asked: Asked, rows: Sequence[Item], items: Items) -> str | None:
    """The items as the endpoint words them, each with the asked field that its wording lacks."""
    lines = _lines(asked, rows, items)
    template = _template(asked, items)
    fields = [field for field in asked.fields(asked.inner) if not isinstance(field.value, bool)]
    lacking = [field for field in fields if f"{{{field.path}" not in template]
    full = [
        line + "".join(_added(asked, line, row, field) for field in lacking)
        for line, row in zip(lines, rows, strict=False)
    ]
    return "\n".join(full) if len(full) > 1 else next(iter(full), "").removeprefix("– ") or None


def _added(asked: Asked, line: str, row: Item, field: Field) -> str:
    said = _value(asked, field.path, row)
    name = asked.reading.name(field.path)
    is_said = f"{name}: {said}" in line or line.startswith(f"– {said} – ")
    return f"; {name}: {said}" if said and not is_said else ""


def _template(asked: Asked, items: Items) -> str:
    return asked.call.endpoint.rendering.row.get(asked.language, "") if items.is_main else ""


def _lines(asked: Asked, rows: Sequence[Item], items: Items) -> list[str]:
    template = _template(asked, items)
    scope = Scope(call=asked.call, body=asked.body, language=asked.language)
    said = [fill(template, scope.of_row(row)) for row in rows] if template else []
    lines = said if said and all(said) else row_lines(rows, items.path, asked.reading)
    return [f"– {line}" for line in lines if line]


def _of_object(asked: Asked) -> str | None:
    """Say the fields that were asked for; None when the object lacks them, or more was asked."""
    if asked.days.tests or asked.names or asked.wants("superlatives", "ordinals", "counts", "all"):
        return None
    body = asked.body if isinstance(asked.body, dict) else {}
    lines = [_field_line(asked, field, body) for field in asked.fields(asked.outer, every=True)]
    return "\n".join(line for line in lines if line) or None


def _field_line(asked: Asked, field: Field, item: Item) -> str:
    said = _value(asked, field.path, item)
    name = capital(asked.reading.name(field.path))
    return text("narrowing.field", asked.language, name=name, value=said) if said else ""


def _value(asked: Asked, path: str, item: Item) -> str:
    """A field's value as it is said: with the currency that stands beside it, or outside the list."""
    holder, _, key = path.rpartition(".")
    inner = _at(item, holder) if holder else item
    own = inner if isinstance(inner, dict) else {}
    outer = asked.body if isinstance(asked.body, dict) else {}
    currency = own.get("currency") or item.get("currency") or outer.get("currency")
    return say_field(path, own.get(key), {**own, "currency": currency}, asked.reading)


def _at(item: JsonValue, path: str) -> JsonValue:
    for step in path.split("."):
        item = item.get(step) if isinstance(item, dict) else None
    return item
