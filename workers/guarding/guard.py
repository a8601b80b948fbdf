"""What a guard is, and how several are asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from schemas.endpoints import Language
from workers.guarding.sources import Sources
from workers.runtime.telemetry import GUARD_OBJECTIONS

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class Said:
    """A text to be checked. `sources` are what an answer may draw on: the data, the question; empty for questions."""

    text: str
    language: Language
    sources: Sources = field(default_factory=Sources)


class Guard(Protocol):
    """One check. Operators add their own by naming them in the settings."""

    @property
    def name(self) -> str:
        """The guard's name, as it stands in the settings and in the metrics."""
        ...

    def check(self, said: Said) -> str | None:
        """Return what is wrong, in a few words for the log and never with the text itself; None when nothing is."""
        ...


@dataclass(frozen=True)
class Blocked:
    """The guard that objected, and why."""

    guard: str
    reason: str


def first_objection(guards: Iterable[Guard], said: Said) -> Blocked | None:
    """Ask the guards in order; the first that objects decides."""
    for guard in guards:
        reason = guard.check(said)
        if reason:
            return Blocked(guard.name, reason)
    return None


def passes(guards: Iterable[Guard], text: str, language: Language, *, sources: Sources | None = None) -> bool:
    """Whether no guard objects to an answer. An objection is counted and logged, without the text."""
    blocked = first_objection(guards, Said(text=text, language=language, sources=sources or Sources()))
    if blocked:
        GUARD_OBJECTIONS.labels(guard=blocked.guard, side="output").inc()
        log.warning("answer_blocked", guard=blocked.guard, reason=blocked.reason)
    return blocked is None
