"""Where a message goes: on from the call before it, or to classification. Follow-ups are looked for first and beside.

A sure follow-up ("and in Latvia?") never reaches retrieval, nor a model. A likely one stands unless retrieval is
sure of another endpoint. A message that stands on its own, or turns to something else, takes its usual way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from schemas.calls import ApiCall, CallOutcome
from schemas.conversations import Conversation
from schemas.endpoints import Endpoint, Language
from schemas.ids import TurnId, call_id, chat_of
from schemas.registry import Registered
from schemas.routing import Decision, Layer
from schemas.turns import TurnRequest
from workers.caching.cache import ResponseCache
from workers.caching.contexts import EndpointView, FollowUp
from workers.caching.detector import FollowUpDetector
from workers.caching.last_calls import LastCalls, Remembered
from workers.caching.refresh import is_refresh, wants_fresh
from workers.calling.plan import in_environment
from workers.classification.chain import Classifier
from workers.classification.choices import is_payload, taken
from workers.classification.language import detect
from workers.classification.smalltalk import small_talk
from workers.errors import StoreUnavailable
from workers.extraction.loop import Asked, Ready, collect, open_collection
from workers.runtime.clock import Clock, local_time
from workers.sessions.results import Taken
from workers.turn.leaning import GUESS, LEANS, SURE, Heard, Judge, Lean, changed, judged, strongest, together

_MOST_ASKED = 3
REFRESH = FollowUp(verdict="param_update", confidence=1.0, reason="refresh")


class EndpointRegistry(Protocol):
    """Where an endpoint is looked up as it is now. Raises StoreUnavailable."""

    async def get(self, endpoint_id: str, *, tenant: str | None = None) -> Registered | None: ...


@dataclass(frozen=True, kw_only=True)
class Followed:
    """A follow-up, ready to go on: with a question, with calls to be made, or with results that are `known`."""

    decision: Decision
    outcome: Ready | Asked
    known: tuple[tuple[ApiCall, CallOutcome], ...] = ()


ABOUT_THE_RESULT = "follow_up:response_question"
"""The rule of a decision that answers from a result that is there."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """Finds the way of a message that opens a turn."""

    classifier: Classifier
    cache: ResponseCache
    registry: EndpointRegistry
    judge: Judge
    clock: Clock
    high_cosine: float
    detector: FollowUpDetector | None = None

    async def find(self, taken_up: Taken) -> Decision | Followed:
        """Return the follow-up that the message is, else what classification decides. Raises what that raises."""
        request, conversation = taken_up.turn.request, taken_up.conversation
        held_back = await self.classifier.held_back(request, conversation)
        if held_back:
            return held_back
        heard = _heard(request, conversation, now=self.clock())
        last = await self._last_calls(request, conversation)
        meant = self._meant(heard, last)
        if meant and meant[0].follow.confidence >= SURE:
            followed = await self._go_on(meant, heard, request)
            if followed is not None:
                return followed
        decision = await self.classifier.decide(request, conversation, now=self.clock())
        beside = await self._beside(decision, meant, last, heard, request)
        if beside is not None:
            return beside
        turns_away = bool(decision.endpoints or decision.asks_to_choose) and not decision.resumes
        if turns_away and conversation is not None and self.cache.is_on:
            await self.cache.last_calls.turn_away(chat_of(TurnId(request.turn_id)))
        return decision

    async def _last_calls(self, request: TurnRequest, conversation: Conversation | None) -> LastCalls:
        """Recall the chat's calls, unless the message belongs to a collection, a choice or small talk."""
        if conversation is None or conversation.collecting is not None:
            return LastCalls()
        message = request.message
        is_choice = is_payload(message) or taken(message, conversation.choices) is not None
        if is_choice or (small_talk(message) is not None and not is_refresh(message)):
            return LastCalls()
        last = await self.cache.recall(request)
        if last.latest and last.latest != conversation.called_in:
            # A later call was not noted, for the cache was away: what it knows is no longer the last.
            await self.cache.last_calls.drop(chat_of(TurnId(request.turn_id)))
            return LastCalls()
        return last

    def _meant(self, heard: Heard, last: LastCalls) -> tuple[Lean, ...]:
        if is_refresh(heard.text):
            return tuple(Lean(remembered=call, follow=REFRESH) for call in last.newest)
        return strongest(judged(last.newest, heard, judge=self.judge))

    async def _beside(
        self, decision: Decision, meant: Sequence[Lean], last: LastCalls, heard: Heard, request: TurnRequest
    ) -> Followed | None:
        """Weigh what classification found against what the message may follow up."""
        found = [endpoint.endpoint_id for endpoint in decision.endpoints]
        if decision.resumes or len(found) > 1:
            return None
        ours = [call for call in last.calls if call.endpoint.endpoint_id in found]
        if ours:
            # Retrieval named the endpoint of a call that is remembered, perhaps of an older one.
            meant = strongest(judged(ours[:1], heard, judge=self.judge))
            stands_alone = _stands_alone(decision.endpoints[0], heard)
            is_new = meant and meant[0].follow.verdict != "response_question" and meant[0].follow.confidence < LEANS
            if is_new and stands_alone:
                return None
        elif any(decision.scores.get(name, 0.0) >= self.high_cosine for name in found):
            return None
        if self.detector and not is_refresh(heard.text):
            meant = await self._asked(ours[:1] or last.newest, heard, self.detector)
        is_guess = bool(meant) and meant[0].follow.confidence < GUESS
        if not meant or (is_guess and not ours and (found or decision.choices)):
            return None
        return await self._go_on(meant, heard, request)

    async def _asked(self, calls: Sequence[Remembered], heard: Heard, detector: FollowUpDetector) -> tuple[Lean, ...]:
        """Let the model judge where the rules are not sure."""
        leans = judged(calls[:_MOST_ASKED], heard, judge=self.judge)
        follows = await asyncio.gather(*(
            detector.detect(
                lean.text, lean.remembered.last, EndpointView.of(lean.remembered.endpoint), answer=heard.answer,
                by_rules=lean.follow,
            )
            for lean in leans
        ))  # fmt: skip
        return strongest([replace(lean, follow=follow) for lean, follow in zip(leans, follows, strict=True)])

    async def _go_on(self, meant: Sequence[Lean], heard: Heard, request: TurnRequest) -> Followed | None:
        """Take the follow-up up; None when nothing of it can be (an endpoint is gone, no value is one)."""
        outcomes: list[Ready | Asked] = []
        taken_up: list[Lean] = []
        for lean in meant:
            endpoint = await self._current(lean, request)
            outcome = changed(lean, endpoint, heard) if endpoint else None
            if outcome is not None:
                outcomes.append(outcome)
                taken_up.append(lean)
        if not outcomes:
            return None
        outcome = together(outcomes)
        follow = taken_up[0].follow
        decision = Decision(
            layer=Layer.SERVICE,
            language=heard.language,
            rule=f"follow_up:{'refresh' if follow is REFRESH else follow.verdict}",
            endpoints=tuple(progress.endpoint for progress in outcome.collecting.endpoints),
            scores={lean.remembered.endpoint.endpoint_id: lean.follow.confidence for lean in taken_up},
        )
        is_question = follow.verdict == "response_question" and isinstance(outcome, Ready)
        known = await self._known(taken_up, outcome, request) if is_question else ()
        return Followed(decision=decision, outcome=outcome, known=known)

    async def _current(self, lean: Lean, request: TurnRequest) -> Endpoint | None:
        try:
            found = await self.registry.get(lean.remembered.endpoint.endpoint_id, tenant=request.tenant)
        except StoreUnavailable:
            return None
        return found.endpoint if found else None

    async def _known(
        self, leans: Sequence[Lean], outcome: Ready | Asked, request: TurnRequest
    ) -> tuple[tuple[ApiCall, CallOutcome], ...]:
        """Return the results that the question is about; none when one is no longer kept, and is asked for again."""
        known: list[tuple[ApiCall, CallOutcome]] = []
        if len(leans) != len(outcome.collecting.endpoints):
            return ()
        for index, (lean, progress) in enumerate(zip(leans, outcome.collecting.endpoints, strict=True)):
            last = lean.remembered.last
            call = ApiCall(
                call_id=call_id(TurnId(request.turn_id), index),
                index=index,
                endpoint=in_environment(progress.endpoint, request.environment),
                arguments=last.arguments,
            )
            is_wanted = progress.values == last.arguments and not wants_fresh(request.message)
            found = await self.cache.recalled(call, request, handle=last.result) if is_wanted else None
            if found is None:
                return ()
            known.append((call, found))
        return tuple(known)


def _heard(request: TurnRequest, conversation: Conversation | None, *, now: datetime) -> Heard:
    said = conversation.transcript if conversation else ()
    return Heard(
        text=request.message,
        language=_language(request, conversation),
        answer=next((u.text for u in reversed(said) if u.role == "bot"), ""),
        now=local_time(now, request.time_zone),
    )


def _language(request: TurnRequest, conversation: Conversation | None) -> Language:
    return detect(request.message, previous=conversation.language if conversation else None)


def _stands_alone(endpoint: Endpoint, heard: Heard) -> bool:
    """Whether the message says all that the endpoint needs, so that nothing of an older call may colour it."""
    if not endpoint.params:
        return False
    opened = open_collection([endpoint], heard.text)
    return isinstance(collect(opened, heard.text, language=heard.language, now=heard.now), Ready)
