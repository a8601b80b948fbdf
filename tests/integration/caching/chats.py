"""Whole turns in this process over a real Redis: real stages, classifier and cache, the demo API's own answers.

Only the vector engine is played: endpoints are found by words of their titles and aliases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import redis.asyncio as aioredis

from ops.demo import calendar, civic, places, vehicles
from ops.demo.requests import Given
from ops.local.catalogue import DEMO_CATALOGUE
from schemas.base import JsonValue
from schemas.calls import ApiCall, Cached, CallFailed, CallOutcome, CallSucceeded, FailureReason
from schemas.commands import Command, Stage
from schemas.endpoints import Endpoint
from schemas.events import AnswerCompleted, SlotAsked
from schemas.ids import chat_key, new_turn_id
from schemas.registry import Registered
from schemas.routing import Candidate
from schemas.turns import TurnRequest
from tests.integration.carrying import carry_out
from workers.caching.cache import ResponseCache
from workers.caching.detector import FollowUpDetector
from workers.caching.followup import judge
from workers.calling.outcomes import OutcomeStore
from workers.classification.chain import Classifier
from workers.eventlog.log import EventLog
from workers.indexing.catalogue import load
from workers.messages.hearing import folded_words, same_stem
from workers.registry.store import RegistryStore
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.settings import CacheSettings, RoutingSettings, TurnSettings
from workers.sessions.turns import TurnStore
from workers.sessions.user_tokens import UserTokens
from workers.turn.answering import Answering
from workers.turn.cached import CachedCalls
from workers.turn.endings import Endings
from workers.turn.following import Way
from workers.turn.speech import Speaker
from workers.turn.steps import Steps

HIGH = 0.6
_LIBRARY = civic.Library()
_APIS: Mapping[str, Callable[[Given], JsonValue]] = {
    "get_public_holidays": calendar.public_holidays,
    "get_vehicle_tax_info": vehicles.vehicle_tax,
    "get_weather": places.weather,
    "get_train_times": places.trains,
    "find_pharmacies": places.pharmacies,
    "get_library_loans": _LIBRARY.loans,
    "renew_library_loans": lambda _: {"renewed": []},
}


@cache
def catalogue() -> dict[str, Endpoint]:
    return {endpoint.name: endpoint for endpoint in load(DEMO_CATALOGUE)[0] if endpoint.name in _APIS}


class Shelf:
    """Finds an endpoint when a word of its titles or aliases is said: surely one alone, several about equally.

    `sure` overrules: the endpoint that a message is sure to mean; `likely`: one that it may mean.
    """

    def __init__(self) -> None:
        self.endpoints = dict(catalogue())
        self.sure: dict[str, str] = {}
        self.likely: dict[str, str] = {}
        self.searched: list[str] = []

    async def search(self, text: str, *, tenant: str, limit: int) -> tuple[Candidate, ...]:
        assert tenant
        self.searched.append(text)
        if text in self.likely:
            return (self._candidate(self.likely[text], 0.55, is_sure=False),)
        names = [self.sure[text]] if text in self.sure else [n for n in self.endpoints if self._is_named(n, text)]
        is_sure = len(names) == 1
        found = (self._candidate(name, 0.8 if is_sure else 0.55, is_sure=is_sure) for name in names)
        return tuple(found)[:limit]

    async def nearest(self, text: str, *, tenant: str, limit: int) -> tuple[Candidate, ...]:
        named = await self.search(text, tenant=tenant, limit=limit)
        return named or tuple(self._candidate(name, 0.1, is_sure=False) for name in self.endpoints)[:limit]

    def _candidate(self, name: str, cosine: float, *, is_sure: bool) -> Candidate:
        endpoint = self.endpoints[name]
        return Candidate(endpoint=endpoint, cosine=cosine, fused=cosine, confidence="high" if is_sure else "medium")

    def _is_named(self, name: str, text: str) -> bool:
        own = [word for title in self.endpoints[name].titles.values() for word in folded_words(title) if len(word) > 3]
        return any(same_stem(said, word) for said in folded_words(text) for word in own)


@dataclass
class Api:
    """The demo API's answers, recorded as the real caller records them; `failing` are arguments that it chokes on."""

    outcomes: OutcomeStore
    calls: list[ApiCall] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)

    async def call(self, call: ApiCall, *, turn_id: str, deadline: datetime, **_: object) -> CallOutcome:
        assert deadline > utc_now()
        self.calls.append(call)
        return await self.outcomes.record(turn_id, self._outcome(call))

    def _outcome(self, call: ApiCall) -> CallOutcome:
        if self.failing & {str(value) for value in call.arguments.values()}:
            return CallFailed(call_id=call.call_id, reason=FailureReason.SERVER_ERROR, status=500)
        given = Given({name: str(value) for name, value in call.arguments.items()}, today=date(2026, 12, 2))
        return CallSucceeded(call_id=call.call_id, status=200, body=_APIS[call.endpoint.name](given))


@dataclass(frozen=True)
class Said:
    """What a message led to: the answer, the calls that were made, and what was not called for."""

    text: str
    calls: tuple[ApiCall, ...]
    cached: Mapping[str, Cached]
    rule: str

    @property
    def called(self) -> list[tuple[str, str]]:
        """The endpoints that were called, each with its first argument."""
        return [(call.endpoint.name, str(next(iter(call.arguments.values()), ""))) for call in self.calls]


class World:
    """What one worker process holds. `cache_redis` is the cache's own server, where it has one."""

    def __init__(
        self,
        redis: aioredis.Redis,
        *,
        cache_redis: aioredis.Redis | None = None,
        detector: FollowUpDetector | None = None,
        **settings: Any,
    ) -> None:
        given = CacheSettings(**({"cache_timeout_s": 5.0} | settings))
        self.shelf, self.log, self.keys = Shelf(), EventLog(redis, Keys()), Keys()
        self.turns, outcomes = TurnStore(redis, Keys(), TurnSettings()), OutcomeStore(redis, Keys())
        self.cache = ResponseCache.open(cache_redis or redis, Keys(), given, utc_now)
        self.api, self.registry = Api(outcomes), RegistryStore(redis, Keys())
        classifier = Classifier(search=self.shelf, settings=RoutingSettings())
        calls = CachedCalls(
            caller=self.api,  # type: ignore[arg-type]
            outcomes=outcomes,
            cache=self.cache,
            user_tokens=UserTokens(redis, Keys(), key=None),
        )
        endings = Endings(turns=self.turns, speaker=Speaker(self.turns, TurnSettings(), utc_now), clock=utc_now)
        self.steps = Steps(
            turns=self.turns,
            classifier=classifier,
            way=Way(
                classifier=classifier, cache=self.cache, registry=self.registry, judge=judge, clock=utc_now,
                high_cosine=HIGH, detector=detector,
            ),
            calls=calls,
            answering=Answering(turns=self.turns, calls=calls, endings=endings, clock=utc_now),
            endings=endings,
            clock=utc_now,
            batch_timeout=timedelta(seconds=30),
        )  # fmt: skip

    async def register(self) -> World:
        """Put the endpoints where a follow-up looks them up."""
        for endpoint in self.shelf.endpoints.values():
            await self.registry.put(Registered(endpoint=endpoint, updated_at=utc_now()))
        return self

    async def say(self, message: str, *, chat: str = "chat", **request: Any) -> Said:
        """Carry a message from admission to its end, as the queues would."""
        now, before = datetime.now(UTC), len(self.api.calls)
        turn = TurnRequest(
            turn_id=new_turn_id(chat_key("default", chat)), tenant="default", chat_id=chat, message=message,
            accepted_at=now, deadline_at=now + timedelta(seconds=60), **request,
        )  # fmt: skip
        await self.turns.admit(turn, on_busy="enqueue")
        command: Command | None = Command(stage=Stage.CLASSIFICATION, turn_id=turn.turn_id)
        while command is not None:
            command = await carry_out(self.steps, command)
        events = [event for _, event in await self.log.read(turn.turn_id)]
        end = next(event for event in reversed(events) if isinstance(event, AnswerCompleted | SlotAsked))
        done = await self.turns.load(turn.turn_id)
        rule = done.decision.rule if done and done.decision else ""
        cached = end.cached if isinstance(end, AnswerCompleted) else {}
        return Said(end.text, tuple(self.api.calls[before:]), cached, rule)
