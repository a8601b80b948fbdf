"""Words a turn's results: by the rules, always; in a model's own words where there is one and it is wanted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from schemas.calls import ApiCall, CallOutcome
from schemas.endpoints import Language
from workers.formatting.formatter import answer
from workers.formatting.writer import Writer
from workers.guarding.guard import Guard, passes
from workers.messages.catalog import text


@dataclass(frozen=True, kw_only=True)
class Told:
    """What is to be answered, and how it is worded."""

    query: str
    results: Sequence[tuple[ApiCall, CallOutcome]]
    language: Language
    unmatched: Sequence[str]
    reasons: Mapping[str, Sequence[str]]
    now: datetime


@dataclass(frozen=True, kw_only=True)
class Worded:
    """The rules' text, and a model's pieces to be said in its place, if any."""

    text: str
    pieces: AsyncIterator[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Wording:
    """`guards` check every answer that holds an API's data; `writer` is the model's part."""

    writer: Writer | None = None
    guards: tuple[Guard, ...] = ()

    def word(self, told: Told) -> Worded:
        """Return the answer; where a guard objects, a sentence that says so."""
        by_rules = answer(
            told.query, told.results, language=told.language, unmatched=told.unmatched, reasons=told.reasons
        )
        if not passes(self.guards, by_rules, told.language):
            return Worded(text=text("guard.answer", told.language))
        if self.writer is None or not self.writer.is_wanted(told.results, language=told.language):
            return Worded(text=by_rules)
        pieces = self.writer.write(
            told.query, told.results, language=told.language, now=told.now, unmatched=told.unmatched
        )
        return Worded(text=by_rules, pieces=pieces)


async def followed_by(rest: str, pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield the pieces, then the rest if there is any."""
    async for piece in pieces:
        yield piece
    if rest:
        yield rest
