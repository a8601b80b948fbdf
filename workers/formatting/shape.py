"""Words a body by its own shape when the operator gave no template: scalars, objects, lists, and what they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schemas.base import JsonValue
from workers.formatting.locale import listing, plural_form, spoken_number
from workers.formatting.names import capital, key_words
from workers.formatting.paths import in_language
from workers.formatting.rows import fields_in_line, row_lines
from workers.formatting.values import CURRENCY_KEYS, Reading, currency_of, is_hidden, say_field
from workers.messages.catalog import phrases, text

ROWS_SHOWN = 8
# A list this long is still read to its end: better than "and 1 more".
ROWS_WITHOUT_CUT = 12
NESTED_ROWS_SHOWN = 3
FIELDS_SHOWN = 12
NESTED_FIELDS_SHOWN = 6
LIST_WORDS_SHOWN = 8
_DEEPEST_LINE = 3
_INDENT = "  "
_WRAPPERS = frozenset({"data", "items", "results", "result", "records", "rows", "content", "response", "list", "value"})
_PAGING_KEYS = (
    "count total totalcount total_count totalresults total_results size page pages pagesize page_size per_page limit "
    "offset next previous prev status success ok code has_more hasmore links _links meta timestamp"
)
_PAGING = frozenset(_PAGING_KEYS.split())
_TOTALS = ("total", "totalCount", "total_count", "totalResults", "total_results", "count")


@dataclass(frozen=True)
class Found:
    """The part of a body that carries the answer, where it stands, and how many items it truly has (lists only)."""

    value: JsonValue
    path: str = ""
    total: int = 0


def unwrap(body: JsonValue, reading: Reading) -> Found:
    """Take the list or object out of an envelope such as `{"data": […], "total": 57, "page": 1}`."""
    body, path = _parsed(body), ""
    for _ in range(3):
        if not isinstance(body, dict) or in_language(body, reading.language) is not None:
            break
        inner = [key for key, value in body.items() if key.lower() not in _PAGING and isinstance(value, list | dict)]
        rest = [key for key in body if key.lower() not in _PAGING and key not in inner]
        if len(inner) != 1 or rest or not (isinstance(body[inner[0]], list) or inner[0].lower() in _WRAPPERS):
            break
        counted = next((body[key] for key in _TOTALS if key in body), None)
        body, path = body[inner[0]], f"{path}.{inner[0]}".lstrip(".")
        if isinstance(body, list):
            return Found(body, path, _total(body, path, counted, reading))
    return Found(body, path, _total(body, path, None, reading) if isinstance(body, list) else 0)


def _parsed(body: JsonValue) -> JsonValue:
    """Read a string that holds JSON (an API that encodes twice, or sends no JSON content type)."""
    if not isinstance(body, str) or not body.strip().startswith(("{", "[")):
        return body
    try:
        parsed: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        return body
    return parsed


def _total(items: list[JsonValue], path: str, counted: JsonValue, reading: Reading) -> int:
    """The true number of items: what the envelope counts, what was there before cutting, what is there."""
    here = reading.totals.get(path, len(items))
    claimed = counted if isinstance(counted, int) and not isinstance(counted, bool) else 0
    return max(here, claimed)


def lines_of(found: Found, reading: Reading) -> list[str]:
    """Say an object or a list as short lines, each beginning with a dash."""
    if isinstance(found.value, list):
        return _list_lines(found.value, found.path, found.total, reading, 0)
    if isinstance(found.value, dict):
        return _object_lines(found.value, found.path, reading, 0)
    return []


def rows_shown(total: int) -> int:
    """How many of so many items are said."""
    return total if total <= ROWS_WITHOUT_CUT else ROWS_SHOWN


def more_line(left_out: int, reading: Reading, depth: int = 0) -> list[str]:
    """Say "… and 7 more", when something was left out."""
    if left_out <= 0:
        return []
    count = spoken_number(left_out, reading.language)
    return [f"{_INDENT * depth}… {text('formatting.more', reading.language, count=count)}"]


def _list_lines(items: list[JsonValue], path: str, total: int, reading: Reading, depth: int) -> list[str]:
    shown = items[: NESTED_ROWS_SHOWN if depth else rows_shown(total)]
    objects = [item for item in shown if isinstance(item, dict) and in_language(item, reading.language) is None]
    if shown and len(objects) == len(shown):
        said = row_lines(objects, path, reading)
    else:
        said = [_inline(item, path, reading) for item in shown]
    lines = [f"{_INDENT * depth}– {line}" for line in said if line]
    return lines + more_line(total - len(lines), reading, depth) if lines else []


def _inline(item: JsonValue, path: str, reading: Reading) -> str:
    if isinstance(item, dict) and in_language(item, reading.language) is None:
        return next(iter(row_lines([item], path, reading)), "")
    if isinstance(item, list) and in_language(item, reading.language) is None:
        return words_of(item, path, reading)
    return say_field(path.rsplit(".", 1)[-1], item, {}, reading)


def words_of(items: Sequence[JsonValue], path: str, reading: Reading) -> str:
    """Say a list of scalars as "a, b and c"; "" when it holds anything else."""
    if any(isinstance(item, list | dict) for item in items):
        return ""
    key = path.rsplit(".", 1)[-1]
    said = [say_field(key, item, {}, reading) for item in items[:LIST_WORDS_SHOWN]]
    shown = [words for words in said if words]
    total = reading.totals.get(path, len(items))
    return listing(shown, reading.language, left_out=total - len(said)) if shown else ""


def _object_lines(body: dict[str, JsonValue], path: str, reading: Reading, depth: int) -> list[str]:
    keys = [key for key, value in body.items() if not is_hidden(key, value)]
    if any(currency_of(key, body) for key in keys):
        keys = [key for key in keys if key not in CURRENCY_KEYS]
    most = NESTED_FIELDS_SHOWN if depth else FIELDS_SHOWN
    blocks = [block for key in keys if (block := _field_lines(key, body, path, reading, depth))]
    lines = [line for block in blocks[:most] for line in block]
    return lines + more_line(len(blocks) - most, reading, depth)


def _field_lines(key: str, body: dict[str, JsonValue], path: str, reading: Reading, depth: int) -> list[str]:
    value, here = body[key], f"{path}.{key}".lstrip(".")
    name = capital(reading.name(here)) if depth == 0 else reading.name(here)
    start = f"{_INDENT * depth}– {name}: " if name else f"{_INDENT * depth}– "
    said = say_field(key, value, body, reading)
    if not said and isinstance(value, list):
        said = words_of(value, here, reading)
    if said:
        return [start + said]
    return _nested(start.rstrip(), value, here, reading, depth)


def _nested(start: str, value: JsonValue, path: str, reading: Reading, depth: int) -> list[str]:
    if not isinstance(value, list | dict) or not value:
        return []
    total = reading.totals.get(path, len(value))
    if depth + 1 >= _DEEPEST_LINE:
        said = fields_in_line(value, path, reading) if isinstance(value, dict) else ""
        return [f"{start} {said or results(total, reading)}"]
    inner = (
        _list_lines(value, path, total, reading, depth + 1)
        if isinstance(value, list)
        else _object_lines(value, path, reading, depth + 1)
    )
    return [start, *inner] if inner else []


def results(count: int, reading: Reading) -> str:
    """Say "12 entries"."""
    form = plural_form(count, reading.language, phrases("formatting.entries", reading.language))
    return form.format(count=spoken_number(count, reading.language))


def question_words(question: str) -> Iterator[str]:
    """Yield the beginnings of the question's words, to tell which fields it asks about."""
    for word in key_words(question[:500]):
        if len(word) > 3:  # noqa: PLR2004 — shorter words are too common to tell
            yield word[:5].lower()
