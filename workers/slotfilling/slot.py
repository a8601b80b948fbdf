"""A parameter as the reader sees it: what kind of value it wants, which words name it, who owns it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schemas.conversations import Collecting
from schemas.endpoints import Endpoint, ParamSpec
from workers.slotfilling.kinds import Kind, kind_of, readable, role_of
from workers.slotfilling.text import fold

_SHORTEST_WORD = 4
_STEM = 6
_NEAR = 28
_VAGUE = frozenset(
    {"date", "time", "code", "number", "value", "name", "kuupäev", "aeg", "дата", "время", "show", "iso"}
)


@dataclass(frozen=True)
class Slot:
    """One parameter of the merged schema. `owners` are the endpoints that share it."""

    param: ParamSpec
    kind: Kind
    role: str
    owners: tuple[Endpoint, ...]

    @property
    def name(self) -> str:
        return self.param.name

    def label_before(self, folded: str, at: int, *, since: int) -> int:
        """Return how far before a place this slot's own name or label ends; -1 when it does not stand near."""
        before = folded[max(since, at - _NEAR) : at]
        ends = [m.end() for pattern in self._label_patterns() for m in re.finditer(pattern, before)]
        return len(before) - max(ends) if ends else -1

    def label_after(self, folded: str, at: int) -> bool:
        """Whether the slot's label follows a place at once ("5 nights")."""
        after = folded[at : at + _NEAR]
        return any(re.match(rf"\W{{0,3}}(?:{pattern})", after) for pattern in self._label_patterns())

    def _label_patterns(self) -> list[str]:
        names = {fold(self.param.name), fold(readable(self.param.name)), *map(fold, self.param.labels.values())}
        return [rf"(?<!\w){re.escape(name)}\w{{0,4}}" for name in names if name]

    def owner_before(self, folded: str, at: int, *, since: int) -> int:
        """Return how far before a place a word of an owner's title stands; -1 when none does."""
        before = folded[since:at]
        ends = [m.start() for stem in self._owner_stems() for m in re.finditer(rf"(?<!\w){re.escape(stem)}", before)]
        return len(before) - max(ends) if ends else -1

    def _owner_stems(self) -> set[str]:
        titles = (title for owner in self.owners for title in (*owner.titles.values(), readable(owner.name)))
        words = (word for title in titles for word in fold(title).split())
        return {word[:_STEM] for word in words if len(word) >= _SHORTEST_WORD and word not in _VAGUE}


def slots_of(collecting: Collecting) -> tuple[Slot, ...]:
    """Merge the schemas of all endpoints: a parameter of the same name and type is one slot, asked once."""
    merged: dict[tuple[str, str], Slot] = {}
    for progress in collecting.endpoints:
        for param in progress.endpoint.params:
            key = (param.name, param.type)
            shared = merged.get(key)
            owners = (*(shared.owners if shared else ()), progress.endpoint)
            merged[key] = Slot(shared.param if shared else param, kind_of(param), role_of(param), owners)
    return tuple(merged.values())
