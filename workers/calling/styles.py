"""How one value is written in a path, a query, a header or a form. Pure.

Source: OpenAPI 3.1.1, "Style Values" and "Style Examples". A parameter that declares neither style nor explode is
written as most APIs want it: lists repeat their key in queries and forms and are joined by commas elsewhere; objects
are JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import quote

from schemas.base import JsonValue
from schemas.endpoints import Style
from workers.calling.prepared import CannotPlace, Pairs

_JOINS = {"spaceDelimited": " ", "pipeDelimited": "|"}
_PREFIX = {"simple": "", "label": ".", "matrix": ";"}


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A value with the name and the style under which it is sent."""

    name: str
    value: JsonValue
    style: Style | None = None
    explode: bool | None = None
    format: str | None = None

    @property
    def is_plain(self) -> bool:
        """No style was declared."""
        return self.style is None and self.explode is None


def wire_text(value: JsonValue) -> str:
    """Write one value as a query, path or header carries it: `true`, `12.5`, text as it is, JSON for objects."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def joined(value: JsonValue) -> str:
    """Write a value as one text: lists joined by commas."""
    if isinstance(value, list):
        return ",".join(wire_text(item) for item in value if item is not None)
    return wire_text(value)


def header_text(placed: Placed) -> str:
    """Write a value as a header carries it (style simple)."""
    if placed.is_plain:
        return joined(placed.value)
    return ",".join(_pieces(placed.value, explode=bool(placed.explode), encode=_as_it_is))


def pairs(placed: Placed) -> Pairs:
    """Write a value as the pairs of a query, a cookie or a form; null items are left out."""
    name, value = placed.name, placed.value
    if placed.is_plain or not isinstance(value, list | dict):
        items = value if isinstance(value, list) else [value]
        return tuple((name, wire_text(item)) for item in items if item is not None)
    style = placed.style or "form"
    explode = style == "form" if placed.explode is None else placed.explode
    if isinstance(value, dict) and (style == "deepObject" or explode):
        key = f"{name}[%s]" if style == "deepObject" else "%s"
        return tuple((key.replace("%s", part), joined(held)) for part, held in value.items() if held is not None)
    if explode:
        return tuple((name, wire_text(item)) for item in value if item is not None)
    join = _JOINS.get(style, ",")
    return ((name, join.join(_pieces(value, explode=False, encode=_as_it_is))),)


def path_text(placed: Placed) -> str:
    """Write a value as a part of one path segment, percent-encoded so that it never adds a segment.

    Raises:
        CannotPlace: an empty value, or one that is a dot segment once decoded.
    """
    _refuse_dots(placed)
    text = _encoded(joined(placed.value)) if placed.is_plain else _styled_path(placed)
    if text in ("", ".", ".."):
        raise CannotPlace(placed.name, "nothing to write, or a dot segment")
    return text


def _styled_path(placed: Placed) -> str:
    style = placed.style if placed.style in _PREFIX else "simple"
    prefix, explode = _PREFIX[style or "simple"], bool(placed.explode)
    pieces = list(_pieces(placed.value, explode=explode, encode=_encoded))
    name = _encoded(placed.name)
    if style == "matrix":
        if explode and isinstance(placed.value, dict):
            return "".join(f";{piece}" for piece in pieces)
        return "".join(f";{name}={piece}" for piece in pieces) if explode else f";{name}={','.join(pieces)}"
    # Exploded labels repeat their dot.
    return prefix + (prefix if explode and prefix else ",").join(pieces)


def _refuse_dots(placed: Placed) -> None:
    text = joined(placed.value)
    # "%2E%2E" is a dot segment too (WHATWG URL), and sloppy servers decode "%2F": encoding cannot save these.
    if not text.strip() or any(part.strip() in (".", "..") for part in re.split(r"[/\\]", text)):
        raise CannotPlace(placed.name, "an empty or dot segment would change the path")


def _pieces(value: JsonValue, *, explode: bool, encode: Callable[[str], str]) -> Iterable[str]:
    """Yield what a delimiter joins: items; of an object names and values in turn, or `name=value` when exploded."""
    if isinstance(value, dict):
        for name, held in value.items():
            if held is None:
                continue
            if explode:
                yield f"{encode(name)}={encode(joined(held))}"
            else:
                yield from (encode(name), encode(joined(held)))
        return
    for item in value if isinstance(value, list) else [value]:
        if item is not None:
            yield encode(wire_text(item))


def _encoded(text: str) -> str:
    return quote(text, safe="")


def _as_it_is(text: str) -> str:
    return text
