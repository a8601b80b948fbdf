"""Answers questions about search: what it finds for a text, and why a text would be routed as it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter

from schemas.endpoints import Language
from schemas.ids import chat_key, new_turn_id
from schemas.routing import Candidate, Decision
from schemas.searching import Cost, Explanation, Question, SearchResult, SearchResults
from schemas.turns import TurnRequest
from workers.classification.chain import Classifier
from workers.classification.decomposer import decompose
from workers.guarding.guard import Guard
from workers.registry.questions import Questions
from workers.retrieval.search import EndpointSearch
from workers.runtime.clock import Clock
from workers.runtime.settings import RoutingSettings

_PATIENCE = timedelta(seconds=30)


@dataclass(frozen=True, kw_only=True)
class Explainer:
    """Asks the same search and the same rules as a turn does, in a chat that nobody has; no language model."""

    questions: Questions
    search: EndpointSearch
    settings: RoutingSettings
    clock: Clock
    guards: tuple[Guard, ...] = ()

    async def answer(self, question_id: str) -> None:
        """Answer a question that is still waited for. Answering twice changes nothing."""
        question = await self.questions.load(question_id)
        if question is None:
            return
        found: SearchResults | Explanation
        found = await (self._found(question) if question.kind == "search" else self.explain(question))
        await self.questions.answer(question_id, found.model_dump_json())

    async def _found(self, question: Question) -> SearchResults:
        matches = await self.search.search(question.query, tenant=question.tenant, limit=question.top_k)
        return SearchResults(results=tuple(_result(one) for one in matches))

    async def explain(self, question: Question) -> Explanation:
        """Tell candidates, scores, bands, the rule that fired, and what it costs. Raises what search raises."""
        began = perf_counter()
        weighed = await self.search.weigh(question.query, tenant=question.tenant, limit=question.top_k)
        searched = perf_counter()
        decision = await self._decide(question)
        decided = perf_counter()
        return Explanation(
            query=question.query,
            language=decision.language,
            layer=decision.layer,
            rule=decision.rule,
            chosen=tuple(endpoint.endpoint_id for endpoint in decision.endpoints),
            parts=self._parts(question.query, decision.language),
            unmatched=decision.unmatched,
            later=tuple(one.part for one in decision.later),
            candidates=weighed,
            limits=self.search.limits,
            model=self.search.model,
            cost=Cost(
                search_ms=round((searched - began) * 1000, 1),
                decide_ms=round((decided - searched) * 1000, 1),
                model_calls=int(decision.rule == "choice_offered"),
            ),
        )

    async def _decide(self, question: Question) -> Decision:
        now = self.clock()
        turn_id = new_turn_id(chat_key(question.tenant, "explained"))
        request = TurnRequest(
            turn_id=turn_id,
            tenant=question.tenant,
            chat_id="explained",
            message=question.query,
            accepted_at=now,
            deadline_at=now + _PATIENCE,
        )
        classifier = Classifier(search=self.search, settings=self.settings, guards=self.guards)
        return await classifier.decide(request, None, now=now)

    def _parts(self, text: str, language: Language) -> tuple[str, ...]:
        split = decompose(text, language)
        return split.parts if self.settings.multi_intent_enabled and split.is_split else ()


def _result(candidate: Candidate) -> SearchResult:
    return SearchResult(
        endpoint_id=candidate.endpoint.endpoint_id,
        name=candidate.endpoint.name,
        description=candidate.endpoint.description,
        cosine_score=candidate.cosine,
        rrf_score=candidate.fused,
        confidence=candidate.confidence,
        llm_validated=candidate.llm_validated,
    )
