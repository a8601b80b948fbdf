"""Cuts a large API body along its own structure, keeping count of what was cut.

The first items of each list stay, each of them whole; no value is cut in its middle, save a long text, which then ends
at a word and says so ("…"). So what is left is still true, and "20 of 3 412" can be said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.base import JsonValue

ONE_BODY_BYTES = 50 * 1024
ALL_BODIES_BYTES = 100 * 1024
DEEPEST = 12
LONGEST_STRING = 4_000
_LONGEST_KEY = 100
_PUNCTUATION = 2
_SHORTEST_TEXT = 200


@dataclass(frozen=True)
class Evidence:
    """What is left of a body. `totals` gives, by dotted path, the true length of each list that was cut."""

    body: JsonValue
    totals: Mapping[str, int] = field(default_factory=dict)
    is_cut: bool = False


def gather(body: JsonValue, *, max_bytes: int = ONE_BODY_BYTES) -> Evidence:
    """Keep at most about `max_bytes` of the body's JSON; a body that fits comes back equal.

    Values deeper than `DEEPEST` levels are left out. The work is bounded by what is kept, not by the body's size.
    """
    cut = _Cut(left=max_bytes)
    kept = cut.value(body, "", 0)
    return Evidence(body=None if isinstance(kept, _Absent) else kept, totals=cut.totals, is_cut=cut.is_cut)


class _Absent:
    """Stands for what found no room."""


_ABSENT = _Absent()


@dataclass
class _Cut:
    left: int
    totals: dict[str, int] = field(default_factory=dict)
    is_cut: bool = False
    is_whole: bool = True
    """False once an object lost a field. A list that lost its last items stays true: its length is told."""

    def value(self, value: JsonValue, path: str, depth: int) -> JsonValue | _Absent:
        match value:
            case str():
                return self._string(value)
            case list() | dict():
                if depth >= DEEPEST:
                    self.is_cut = True
                    return None
                return self._list(value, path, depth) if isinstance(value, list) else self._object(value, path, depth)
            case _:
                return self._taken(value, _PUNCTUATION if isinstance(value, bool) or value is None else 8)

    def _taken(self, value: JsonValue, size: int) -> JsonValue | _Absent:
        """Return the value if it fits as it is."""
        if size > self.left:
            self.left, self.is_cut, self.is_whole = 0, True, False
            return _ABSENT
        self.left -= size
        return value

    def _string(self, value: str) -> JsonValue | _Absent:
        size = len(value) if len(value) > LONGEST_STRING else len(value.encode(errors="replace"))
        room = min(self.left, LONGEST_STRING)
        if size <= LONGEST_STRING or room < _SHORTEST_TEXT:
            return self._taken(value, size + _PUNCTUATION)
        self.is_cut = True
        return self._taken(_shortened(value, room - _PUNCTUATION), room)

    def _list(self, value: list[JsonValue], path: str, depth: int) -> list[JsonValue]:
        kept: list[JsonValue] = []
        for index, item in enumerate(value):
            if self.left <= 0:
                break
            totals, self.is_whole = dict(self.totals), True
            self.left -= _PUNCTUATION
            one = self.value(item, f"{path}.{index}".lstrip("."), depth + 1)
            if isinstance(one, _Absent) or (kept and not self.is_whole):
                self.totals = totals
                break
            kept.append(one)
            if not self.is_whole:
                break
        self.is_whole = True
        if len(kept) < len(value):
            self.totals[path] = len(value)
            self.is_cut = True
        return kept

    def _object(self, value: dict[str, JsonValue], path: str, depth: int) -> dict[str, JsonValue]:
        kept: dict[str, JsonValue] = {}
        for key, item in value.items():
            if len(key) > _LONGEST_KEY:
                self.is_cut = True
                continue
            self.left -= len(key) + 2 * _PUNCTUATION
            one = self.value(item, f"{path}.{key}".lstrip("."), depth + 1) if self.left > 0 else _ABSENT
            if isinstance(one, _Absent):
                self.is_cut, self.is_whole = True, False
                break
            kept[key] = one
        return kept


def _shortened(text: str, room: int) -> str:
    """Cut a long text to so many bytes: at a word if one ends near there, and visibly."""
    cut = text[:room].encode(errors="replace")[: max(0, room - len("…".encode()))].decode(errors="ignore")
    head, space, _ = cut.rpartition(" ")
    return f"{head if space and len(head) > len(cut) // 2 else cut}…"
