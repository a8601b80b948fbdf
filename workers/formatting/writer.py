"""Lets a model word an answer, as it writes it; nothing leaves that the guards object to.

A single answer streams word by word, and each word is checked as it is completed. An answer to several calls, and a
single one where the operator wants it, is checked as a whole before its first word leaves.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Literal

from schemas.base import JsonValue
from schemas.calls import ApiCall, CallFailed, CallOutcome, CallSucceeded
from schemas.endpoints import Language
from schemas.usage import Judgement
from workers.errors import ModelFailed
from workers.formatting.evidence import ALL_BODIES_BYTES, ONE_BODY_BYTES, gather
from workers.formatting.formatter import remarks
from workers.formatting.plainness import is_plain
from workers.formatting.tokens import tokens
from workers.guarding.guard import Guard, passes
from workers.guarding.sources import Sources
from workers.llm.fallbacks import left_to_rules
from workers.llm.model import LanguageModel

_LANGUAGES = {"en": "English", "et": "Estonian", "ru": "Russian"}
_QUERY_CHARS = 2_000
_NOTE_BYTES = 300
# A last word that is not of letters alone, with a full stop or the like behind them.
_UNFINISHED = re.compile(r"(?<!\S)(?![^\W\d_]+[.,!?;:)]*$)\S+$")
Results = Sequence[tuple[ApiCall, CallOutcome]]


@dataclass(frozen=True, kw_only=True)
class Writer:
    """The model's part in answering. `auto` leaves to the rules what they word well, `dspy` only failures."""

    model: LanguageModel
    engine: Literal["auto", "dspy"]
    guards: tuple[Guard, ...]
    checks_single_whole: bool = False
    instructions: str = ""

    def is_wanted(self, results: Results, *, language: Language) -> bool:
        """Whether the model should word these results. What failed altogether is told by the rules, always."""
        if not any(not isinstance(outcome, CallFailed) for _, outcome in results):
            return False
        return self.engine == "dspy" or not all(is_plain(call, outcome, language) for call, outcome in results)

    async def write(
        self, query: str, results: Results, *, language: Language, now: datetime, unmatched: Sequence[str] = ()
    ) -> AsyncIterator[str]:
        """Yield the answer's pieces: the model's words for what calls brought, the rules' for what they did not.

        Raises ModelFailed when the model fails or a guard objects, perhaps half-way.
        """
        good = [(call, outcome) for call, outcome in results if not isinstance(outcome, CallFailed)]
        request = _Request(query=query[:_QUERY_CHARS], results=good, language=language, now=now)
        is_whole = len(good) > 1 or self.checks_single_whole
        async for piece in self._whole(request) if is_whole else self._by_words(request):
            yield piece
        rest = remarks(results, language=language, unmatched=unmatched)
        if rest:
            yield f"\n\n{rest}"

    async def _whole(self, request: _Request) -> AsyncIterator[str]:
        """Check the whole text before any of it leaves."""
        pieces = self._several(request) if len(request.results) > 1 else self._single(request)
        whole = "".join([piece async for piece in pieces])
        self._object_to(whole, request)
        _refuse_unfinished(whole, request)
        for piece in tokens(whole):
            yield piece

    async def _by_words(self, request: _Request) -> AsyncIterator[str]:
        """Check what is written so far at each piece, and let go what no later piece can turn into something else.

        A beginning made of letters may leave at once; "12" may become "127", and "{" the head of raw data.
        """
        said = held = ""
        async for piece in self._single(request):
            held += piece
            kept = _UNFINISHED.search(held)
            ready, held = (held[: kept.start()], held[kept.start() :]) if kept else (held, "")
            if ready:
                self._object_to(said + ready, request)
                said += ready
                yield ready
        self._object_to(said + held, request)
        _refuse_unfinished(said + held, request)
        if held:
            yield held

    def _object_to(self, text: str, request: _Request) -> None:
        if not passes(self.guards, text, request.language, sources=request.sources):
            left_to_rules(request.judgement, "guard")
            raise ModelFailed("a guard objects to the answer")

    def _single(self, request: _Request) -> AsyncIterator[str]:
        from workers.formatting.signatures import ApiAnswer

        ((call, outcome),) = request.results
        return self.model.stream(
            ApiAnswer,
            "formatted_answer",
            user_query=request.query,
            api_response=request.data(outcome, ONE_BODY_BYTES),
            endpoint_description=_described(call),
            response_language=_LANGUAGES[request.language],
            today=f"{request.now:%Y-%m-%d, %A}",
            custom_instructions=self.instructions,
        )

    def _several(self, request: _Request) -> AsyncIterator[str]:
        from workers.formatting.signatures import CombinedAnswer

        room = min(ONE_BODY_BYTES, ALL_BODIES_BYTES // len(request.results))
        blocks = [
            f"## Result {number}: {_described(call)}\n{request.data(outcome, room)}"
            for number, (call, outcome) in enumerate(request.results, start=1)
        ]
        return self.model.stream(
            CombinedAnswer,
            "unified_answer",
            user_query=request.query,
            api_results_block="\n\n".join(blocks),
            num_results=len(request.results),
            response_language=_LANGUAGES[request.language],
            today=f"{request.now:%Y-%m-%d, %A}",
            custom_instructions=self.instructions,
        )


@dataclass(frozen=True, kw_only=True)
class _Request:
    """What is to be answered."""

    query: str
    results: Sequence[tuple[ApiCall, CallSucceeded]]
    language: Language
    now: datetime

    @property
    def judgement(self) -> Judgement:
        """What the model is asked for."""
        return "combined_answer" if len(self.results) > 1 else "api_answer"

    def data(self, outcome: CallSucceeded, room: int) -> str:
        """Write what there is room for, as JSON; what was cut is told with its true length, so that it can be said."""
        found = gather(outcome.body, max_bytes=room - _NOTE_BYTES)
        written = json.dumps(found.body, ensure_ascii=False)
        if not found.is_cut:
            return written
        lengths = ", ".join(f"{path or 'the list'} has {total}" for path, total in list(found.totals.items())[:5])
        return f"{written}\n(Only the beginning is shown. {lengths})"[: len(written) + _NOTE_BYTES]

    @cached_property
    def sources(self) -> Sources:
        """What an answer may draw on: the data, the values of the calls, the question and today's date."""
        bodies = [outcome.body for _, outcome in self.results]
        values: list[JsonValue] = [dict(call.arguments) for call, _ in self.results]
        return Sources((*bodies, *values, self.query, f"{self.now:%Y-%m-%d}", len(self.results)))


def _refuse_unfinished(text: str, request: _Request) -> None:
    """A small model may stop where it should have begun: "The answer is:"."""
    if not text.strip():
        left_to_rules(request.judgement, "empty")
        raise ModelFailed("the answer is empty")
    if text.rstrip().endswith(":"):
        left_to_rules(request.judgement, "unfinished")
        raise ModelFailed("the answer announces something and says nothing")


def _described(call: ApiCall) -> str:
    values = json.dumps(call.arguments, ensure_ascii=False)
    return f"{call.endpoint.name} – {call.endpoint.description[:500]} (called with {values})"
