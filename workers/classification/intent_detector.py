"""Asks a model which service a message means, where search found none for sure; and which words give its values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from schemas.conversations import Utterance
from schemas.endpoints import Endpoint, Language
from schemas.routing import Candidate
from workers.classification.disambiguator import NoVerdict
from workers.classification.matching import names
from workers.classification.requests import opens_request
from workers.classification.routes import Route
from workers.errors import ModelFailed
from workers.llm.fallbacks import left_to_rules
from workers.llm.model import LanguageModel
from workers.messages.hearing import is_said
from workers.runtime.settings import RoutingSettings

_SURE = 0.7  # the seed project's threshold
_NEARLY = 0.8  # of the least score of a match: what is further off is no doubt of ours
_UTTERANCES = 6
_UTTERANCE_CHARS = 500
_DESCRIPTION_CHARS = 400
_EXAMPLES = 3


@dataclass(frozen=True, kw_only=True)
class Intent:
    """The service that is meant, and the person's own words for its parameters, by name."""

    candidate: Candidate
    words: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class IntentDetector:
    """The model's say in what a message is for. Its word counts when it is sure and names a service that was offered.

    `auto` asks where search stayed just below its threshold, or found a service that no word of the message names.
    """

    model: LanguageModel
    engine: Literal["auto", "dspy"]
    settings: RoutingSettings

    def is_wanted(self, text: str, route: Route | None, language: Language) -> bool:
        """Whether search is in doubt, so that the model may be worth asking."""
        if route is None:
            return self.engine == "dspy" or opens_request(text, language)
        if len(route.found) != 1 or route.unmatched:
            return False
        best = route.found[0].candidate
        if best.confidence == "high" or best.llm_validated:
            return False
        return self.engine == "dspy" or (best.cosine < self.settings.switch_cosine and not names(text, best.endpoint))

    def is_near(self, near: Sequence[Candidate]) -> bool:
        """Whether the closest service, though no match, is close enough to be what is meant."""
        return bool(near) and near[0].cosine >= self.settings.min_cosine * _NEARLY

    async def detect(
        self, text: str, candidates: Sequence[Candidate], *, said: Sequence[Utterance]
    ) -> Intent | NoVerdict:
        """Return the service that is meant; never raises for a model's failure."""
        from workers.classification.signatures import ServiceIntent

        try:
            answer = await self.model.ask(ServiceIntent, **asked_of(text, candidates, said))
        except ModelFailed:
            return NoVerdict.UNSURE
        return read_intent(answer, text, candidates)


def asked_of(text: str, candidates: Sequence[Candidate], said: Sequence[Utterance]) -> dict[str, str]:
    """Return the input fields of the question."""
    context = [{one.role: one.text[:_UTTERANCE_CHARS]} for one in said[-_UTTERANCES:]]
    return {
        "user_query": text,
        "available_services": _json([_described(one.endpoint) for one in candidates]),
        "conversation_context": _json(context),
    }


def read_intent(answer: Any, text: str, candidates: Sequence[Candidate]) -> Intent | NoVerdict:
    """Let the model's word count only for a service that was offered, and only if the model is sure of it.

    Of the entities those stay whose name the service knows and whose words stand in the message.
    """
    named = str(answer.matched_service_id).strip().strip("\"'`.")
    is_sure = _confidence(answer.confidence) >= _SURE
    if named.lower() == "none":
        return NoVerdict.NONE_FITS if is_sure else NoVerdict.UNSURE
    chosen = next((c for c in candidates if c.endpoint.endpoint_id == named), None)
    if chosen is None:
        left_to_rules("service_intent", "invented")
    if chosen is None or not is_sure:
        return NoVerdict.UNSURE
    found = answer.entities if isinstance(answer.entities, Mapping) else {}
    words = {str(name): str(words).strip() for name, words in found.items() if chosen.endpoint.param(str(name))}
    return Intent(
        candidate=chosen.model_copy(update={"llm_validated": True}),
        words={name: words for name, words in words.items() if is_said(words, text)},
    )


def _confidence(value: object) -> float:
    try:
        confidence = float(str(value))
    except ValueError:
        return 0.0
    return confidence if 0.0 <= confidence <= 1.0 else 0.0


def _described(endpoint: Endpoint) -> dict[str, object]:
    examples = [phrase for phrases in endpoint.examples.values() for phrase in phrases[:1]]
    return {
        "service_id": endpoint.endpoint_id,
        "name": endpoint.name,
        "description": endpoint.description[:_DESCRIPTION_CHARS],
        "entities": [param.name for param in endpoint.params],
        "examples": examples[:_EXAMPLES],
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
