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
from typing import Literal

import structlog

from schemas.base import JsonValue
from schemas.calls import ApiCall, CallFailed, CallOutcome
from schemas.endpoints import Language
from workers.errors import ModelFailed
from workers.formatting.evidence import ALL_BODIES_BYTES, ONE_BODY_BYTES, gather
from workers.formatting.excuses import excuse
from workers.formatting.plainness import is_plain
from workers.guarding.guard import Guard, Said, first_objection
from workers.guarding.sources import Sources
from workers.llm.model import LanguageModel
from workers.runtime.telemetry import GUARD_OBJECTIONS

log = structlog.get_logger(__name__)

_LANGUAGES = {"en": "English", "et": "Estonian", "ru": "Russian"}
_QUERY_CHARS = 2_000
_WORDS = re.compile(r".*\s", re.DOTALL)
Results = Sequence[tuple[ApiCall, CallOutcome]]


@dataclass(frozen=True, kw_only=True)
class Writer:
    """The model's part in answering. `auto` leaves to the rules what they word well, `dspy` only failures."""

    model: LanguageModel
    engine: Literal["auto", "dspy"]
    guards: tuple[Guard, ...]
    checks_single_whole: bool = False

    def is_wanted(self, results: Results, *, language: Language) -> bool:
        """Whether the model should word these results. What failed altogether is told by the rules, always."""
        if not any(not isinstance(outcome, CallFailed) for _, outcome in results):
            return False
        return self.engine == "dspy" or not all(is_plain(call, outcome, language) for call, outcome in results)

    async def write(
        self, query: str, results: Results, *, language: Language, now: datetime, unmatched: Sequence[str] = ()
    ) -> AsyncIterator[str]:
        """Yield the answer's pieces. Raises ModelFailed when the model fails or a guard objects, perhaps half-way."""
        request = _Request(query=query[:_QUERY_CHARS], results=results, language=language, now=now)
        pieces = self._single(request) if len(results) == 1 and not unmatched else self._several(request, unmatched)
        sources = request.sources(unmatched)
        if len(results) > 1 or self.checks_single_whole:
            whole = "".join([piece async for piece in pieces])
            self._object_to(whole, language, sources)
            yield whole
            return
        said = held = ""
        async for piece in pieces:
            held += piece
            # Only a finished word can be judged: "12" may become "127".
            finished = _WORDS.match(held)
            if finished:
                self._object_to(said + finished.group(), language, sources)
                said, held = said + finished.group(), held[finished.end() :]
                yield finished.group()
        self._object_to(said + held, language, sources)
        if held:
            yield held

    def _object_to(self, text: str, language: Language, sources: Sources) -> None:
        blocked = first_objection(self.guards, Said(text=text, language=language, sources=sources))
        if blocked:
            GUARD_OBJECTIONS.labels(guard=blocked.guard, side="output").inc()
            log.warning("answer_blocked", guard=blocked.guard, reason=blocked.reason)
            raise ModelFailed(f"guard {blocked.guard}: {blocked.reason}")

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
        )

    def _several(self, request: _Request, unmatched: Sequence[str]) -> AsyncIterator[str]:
        from workers.formatting.signatures import CombinedAnswer

        room = ALL_BODIES_BYTES // len(request.results)
        blocks = [
            f"## Result {number}: {_described(call)}\n{request.data(outcome, min(room, ONE_BODY_BYTES))}"
            for number, (call, outcome) in enumerate(request.results, start=1)
        ]
        wishes = f"Say that nothing was found for: {'; '.join(unmatched)}" if unmatched else ""
        return self.model.stream(
            CombinedAnswer,
            "unified_answer",
            user_query=request.query,
            api_results_block="\n\n".join(blocks),
            num_results=len(request.results),
            response_language=_LANGUAGES[request.language],
            today=f"{request.now:%Y-%m-%d, %A}",
            custom_instructions=wishes,
        )


@dataclass(frozen=True, kw_only=True)
class _Request:
    """What is to be answered."""

    query: str
    results: Results
    language: Language
    now: datetime

    def data(self, outcome: CallOutcome, room: int) -> str:
        if isinstance(outcome, CallFailed):
            return f"(failed: {excuse(outcome, self.language)})"
        return json.dumps(gather(outcome.body, max_bytes=room).body, ensure_ascii=False)

    def sources(self, unmatched: Sequence[str]) -> Sources:
        """What an answer may draw on: the data, the values of the calls, the question and today's date."""
        bodies = [excuse(o, self.language) if isinstance(o, CallFailed) else o.body for _, o in self.results]
        values: list[JsonValue] = [dict(call.arguments) for call, _ in self.results]
        return Sources((*bodies, *values, self.query, f"{self.now:%Y-%m-%d}", len(self.results), *unmatched))


def _described(call: ApiCall) -> str:
    values = json.dumps(call.arguments, ensure_ascii=False)
    return f"{call.endpoint.name} – {call.endpoint.description[:500]} (called with {values})"
