"""The chain of layers: the first that claims a message decides about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf

import structlog
from prometheus_client import Counter

from schemas.conversations import Conversation
from schemas.endpoints import Language
from schemas.routing import Decision
from schemas.turns import TurnRequest
from workers.classification.api_tools import ApiTools
from workers.classification.context_layer import ContextLayer
from workers.classification.disambiguator import Disambiguator
from workers.classification.guard_layer import GuardLayer
from workers.classification.intent_detector import IntentDetector
from workers.classification.language import detect, written
from workers.classification.layer import EndpointSearcher, Layer, Message
from workers.classification.ood_layer import OodLayer
from workers.classification.routes import RouteFinder
from workers.classification.splitter import Splitter
from workers.errors import WorkerError
from workers.guarding.guard import Guard
from workers.runtime.settings import RoutingSettings

log = structlog.get_logger(__name__)

LAYER_FAILURES = Counter("signalbox_layer_failures", "Layers that failed and passed the message on", ["layer"])


@dataclass(frozen=True, kw_only=True)
class Advice:
    """The language model's say: among close endpoints, in what is several requests, and where search is in doubt."""

    disambiguator: Disambiguator | None = None
    splitter: Splitter | None = None
    intents: IntentDetector | None = None


class Classifier:
    """Walks guards → SERVICE → CONTEXT → (knowledge layers) → OOD.

    `knowledge` are further layers, asked after small talk and before the refusal. `advice` is the language model's.
    `guards` see each message before any layer does.
    """

    def __init__(
        self,
        *,
        search: EndpointSearcher,
        settings: RoutingSettings,
        knowledge: Sequence[Layer] = (),
        advice: Advice | None = None,
        guards: tuple[Guard, ...] = (),
    ) -> None:
        advice = advice or Advice()
        finder = RouteFinder(
            search=search, settings=settings, disambiguator=advice.disambiguator, splitter=advice.splitter
        )
        self._first = GuardLayer(guards=guards)
        self._service = ApiTools(finder=finder, detector=advice.intents)
        self._rest: tuple[Layer, ...] = (ContextLayer(search=search), *knowledge)
        self._last = OodLayer(
            search=search,
            near_cosine=settings.near_cosine if settings.api_tools_enabled else inf,
            match_cosine=settings.min_cosine,
        )

    async def decide(self, request: TurnRequest, conversation: Conversation | None, *, now: datetime) -> Decision:
        """Return the decision of the first layer that claims the message; the last one always does."""
        language = detect(request.message, previous=conversation.language if conversation else None)
        message = _message(request, conversation, language=language, now=now)
        return await self._walk((self._first, self._service, *self._rest), message)

    async def held_back(self, request: TurnRequest, conversation: Conversation | None) -> Decision | None:
        """Refuse what a guard objects to; None for anything else. For those who look at a message before `decide`."""
        language = detect(request.message, previous=conversation.language if conversation else None)
        return await self._first.claim(_message(request, conversation, language=language, now=request.accepted_at))

    async def fall_through(
        self, request: TurnRequest, conversation: Conversation | None, *, language: Language, rule: str
    ) -> Decision:
        """Decide without the SERVICE layer, for a message whose collection has ended; `rule` says why it has."""
        closed = conversation.model_copy(update={"collecting": None}) if conversation else None
        message = _message(request, closed, language=language, now=request.accepted_at)
        decision = await self._walk(self._rest, message)
        return decision.model_copy(update={"rule": f"{rule}>{decision.rule}"})

    async def _walk(self, layers: Sequence[Layer], message: Message) -> Decision:
        for layer in layers:
            try:
                decision = await layer.claim(message)
            except WorkerError as error:
                LAYER_FAILURES.labels(layer=layer.name).inc()
                log.warning("layer_failed", layer=layer.name, error=type(error).__name__)
                continue
            if decision:
                return decision
        return await self._last.claim(message)


def _message(request: TurnRequest, conversation: Conversation | None, *, language: Language, now: datetime) -> Message:
    wording = written(request.message) or language
    return Message(request=request, conversation=conversation, language=language, wording=wording, now=now)
