"""Cuts a large API body along its own structure, keeping count of what was cut.

The first items of each list stay and whole fields stay; the text of a string is cut last. So what is left is still
true, and "20 of 3 412" can be said.
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
    return Evidence(body=kept, totals=cut.totals, is_cut=cut.is_cut)


@dataclass
class _Cut:
    left: int
    totals: dict[str, int] = field(default_factory=dict)
    is_cut: bool = False

    def value(self, value: JsonValue, path: str, depth: int) -> JsonValue:
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, list | dict):
            if depth >= DEEPEST:
                self.is_cut = True
                return None
            return self._list(value, path, depth) if isinstance(value, list) else self._object(value, path, depth)
        self.left -= _PUNCTUATION if isinstance(value, bool) or value is None else 8
        return value

    def _string(self, value: str) -> str:
        room = max(0, min(self.left, LONGEST_STRING))
        kept = value[:room]
        if len(kept.encode(errors="replace")) > room:
            kept = kept.encode(errors="replace")[:room].decode(errors="ignore")
        self.is_cut |= len(kept) < len(value)
        self.left -= len(kept.encode(errors="replace")) + _PUNCTUATION
        return kept if kept != value else value

    def _list(self, value: list[JsonValue], path: str, depth: int) -> list[JsonValue]:
        kept: list[JsonValue] = []
        for index, item in enumerate(value):
            if self.left <= 0:
                self.totals[path] = len(value)
                self.is_cut = True
                break
            self.left -= _PUNCTUATION
            kept.append(self.value(item, f"{path}.{index}".lstrip("."), depth + 1))
        return kept

    def _object(self, value: dict[str, JsonValue], path: str, depth: int) -> dict[str, JsonValue]:
        kept: dict[str, JsonValue] = {}
        for key, item in value.items():
            if self.left <= 0:
                self.is_cut = True
                break
            if len(key) > _LONGEST_KEY:
                self.is_cut = True
                continue
            self.left -= len(key) + 2 * _PUNCTUATION
            kept[key] = self.value(item, f"{path}.{key}".lstrip("."), depth + 1)
        return kept
