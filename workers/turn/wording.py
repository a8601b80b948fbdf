"""Words a turn's results: by the rules, always; in a model's own words where there is one and it is wanted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from schemas.calls import ApiCall, CallOutcome, CallSucceeded
from schemas.endpoints import Language
from workers.formatting.formatter import answer
from workers.formatting.locale import listing
from workers.formatting.narrowing import narrowed
from workers.formatting.quoting import ROW_LIMIT, clean, quoted
from workers.formatting.writer import Writer
from workers.guarding.guard import Guard, passes
from workers.messages.catalog import text


@dataclass(frozen=True, kw_only=True)
class Told:
    """What is to be answered, and how it is worded. `question` asks about a result that was there already."""

    query: str
    question: str = ""
    results: Sequence[tuple[ApiCall, CallOutcome]]
    language: Language
    unmatched: Sequence[str]
    later: Sequence[str] = ()
    lacking: Sequence[str] = ()
    carried: Sequence[str] = ()
    reasons: Mapping[str, Sequence[str]]
    now: datetime


@dataclass(frozen=True, kw_only=True)
class Worded:
    """The rules' text, and a model's pieces to be said in its place, if any."""

    text: str
    pieces: AsyncIterator[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Wording:
    """`guards` check every answer that holds an API's data; `writer` is the model's part.

    `most_at_once` is how many endpoints a turn calls: named where more was asked for.
    """

    writer: Writer | None = None
    guards: tuple[Guard, ...] = ()
    most_at_once: int = 3

    def word(self, told: Told) -> Worded:
        """Return the answer; where a guard objects, a sentence that says so."""
        by_rules = _narrowed(told) or _whole(told)
        if not passes(self.guards, by_rules, told.language):
            return Worded(text=text("guard.answer", told.language))
        rest = (
            from_earlier(told.carried, told.language)
            + given_up(told.lacking, told.language)
            + put_off(told.later, told.language, most=self.most_at_once)
        )
        if self.writer is None or not self.writer.is_wanted(told.results, language=told.language):
            return Worded(text=by_rules + rest)
        pieces = self.writer.write(
            told.question or told.query,
            told.results,
            language=told.language,
            now=told.now,
            unmatched=told.unmatched,
        )
        return Worded(text=by_rules + rest, pieces=followed_by(rest, pieces))


def _narrowed(told: Told) -> str | None:
    """Answer a question about the only result; None when it is none, or the result can't tell."""
    if not told.question or len(told.results) != 1:
        return None
    ((call, outcome),) = told.results
    if not isinstance(outcome, CallSucceeded):
        return None
    return narrowed(told.question, call, outcome.body, language=told.language, today=told.now.date())


def _whole(told: Told) -> str:
    """Say all that the calls brought; a question that this does not answer is told so first."""
    said = answer(told.query, told.results, language=told.language, unmatched=told.unmatched, reasons=told.reasons)
    is_untold = bool(told.question) and all(isinstance(outcome, CallSucceeded) for _, outcome in told.results)
    return f"{text('narrowing.untold', told.language)}\n\n{said}" if is_untold else said


def put_off(parts: Sequence[str], language: Language, *, most: int) -> str:
    """Name the parts of the message that are left for later, as a paragraph to go behind an answer; else nothing."""
    named = [quoted(part, language, limit=ROW_LIMIT) for part in parts if clean(part)]
    return f"\n\n{text('formatting.later', language, most=most, parts=listing(named, language))}" if named else ""


def from_earlier(carried: Sequence[str], language: Language) -> str:
    """Say which values of the answer were taken from earlier in the chat."""
    return f"\n\n{text('formatting.carried', language, parts=listing(list(carried), language))}" if carried else ""


def given_up(titles: Sequence[str], language: Language) -> str:
    """Name the endpoints that were left out since their values never came, as a paragraph; else nothing."""
    named = [clean(title) for title in titles if clean(title)]
    return f"\n\n{text('formatting.lacking', language, parts=listing(named, language))}" if named else ""


async def followed_by(rest: str, pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield the pieces, then the rest if there is any."""
    async for piece in pieces:
        yield piece
    if rest:
        yield rest
