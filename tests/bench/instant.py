"""Rooms that answer at once, so that what is measured is the road between them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.calls import ApiCall, CallOutcome, CallSucceeded
from schemas.endpoints import Endpoint
from schemas.ids import TurnId
from schemas.routing import Decision, Layer
from workers.caching.cache import ResponseCache
from workers.caching.followup import judge
from workers.calling.outcomes import OutcomeStore
from workers.calling.plan import plan
from workers.extraction.loop import Ready, collect, open_collection
from workers.formatting.formatter import answer
from workers.formatting.tokens import tokens
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import CacheSettings, Settings
from workers.sessions.turns import TurnStore
from workers.sessions.user_tokens import UserTokens
from workers.turn.answering import Answering
from workers.turn.cached import CachedCalls
from workers.turn.endings import Endings
from workers.turn.following import Way
from workers.turn.rest import Rest
from workers.turn.speech import Speaker
from workers.turn.steps import Steps
from workers.wiring import Rooms, occupy

ENDPOINT = Endpoint(
    endpoint_id="5f0c7f4e-3f0b-5e0a-9d7c-7a4f0c1d2e3f",
    name="get_answer",
    description="Gives the answer.",
    titles={"en": "the answer"},
    url="https://example.org/answer",
)
DECISION = Decision(layer=Layer.SERVICE, language="en", rule="bench", endpoints=(ENDPOINT,))


class InstantClassifier:
    """Always knows the endpoint."""

    async def held_back(self, *_: object) -> None: ...

    async def decide(self, *_: object, **__: object) -> Decision:
        return DECISION


class InstantCaller:
    """Has the API's answer already, and records it as the real caller does."""

    def __init__(self, outcomes: OutcomeStore) -> None:
        self._outcomes = outcomes

    async def call(self, call: ApiCall, *, turn_id: str, **_: object) -> CallOutcome:
        return await self._outcomes.record(
            turn_id, CallSucceeded(call_id=call.call_id, status=200, body={"answer": 42})
        )

    async def close(self) -> None:
        """Nothing to close."""


def instant_steps(redis: Any, settings: Settings, *, cached: bool = False) -> tuple[TurnStore, Steps]:
    """Build real stages over instant rooms; `cached` puts the response cache before the caller."""
    keys = Keys(settings.redis.key_prefix)
    turns = TurnStore(redis, keys, settings.turn)
    outcomes = OutcomeStore(redis, keys)
    classifier: Any = InstantClassifier()
    cache = ResponseCache.open(redis, keys, CacheSettings(response_cache_enabled=cached, cache_timeout_s=5.0), utc_now)
    nowhere: Any = None  # without last calls, no endpoint is looked up
    calls = CachedCalls(
        caller=InstantCaller(outcomes),  # type: ignore[arg-type]
        outcomes=outcomes,
        cache=cache,
        user_tokens=UserTokens(redis, keys, key=None),
    )
    endings = Endings(turns=turns, speaker=Speaker(turns, settings.turn, utc_now), clock=utc_now)
    steps = Steps(
        turns=turns,
        classifier=classifier,
        way=Way(classifier=classifier, cache=cache, registry=nowhere, judge=judge, clock=utc_now, high_cosine=0.6),
        calls=calls,
        answering=Answering(turns=turns, calls=calls, endings=endings, clock=utc_now),
        endings=endings,
        clock=utc_now,
        batch_timeout=timedelta(seconds=30),
    )
    return turns, steps


async def open_instant_rooms(settings: Settings) -> Rooms:
    """Take the place of `wiring.open_rooms` in a worker that is measured."""
    redis = async_client(settings.redis)
    turns, steps = instant_steps(redis, settings)

    async def idle() -> None:
        await asyncio.Event().wait()

    furnished: dict[str, Any] = {
        "settings": settings,
        "redis": redis,
        "steps": steps,
        "rest": Rest(turns, steps.endings, utc_now, batch_timeout_s=30.0, lease_s=settings.turn.lease_s),
        "lease_keeper": asyncio.get_running_loop().create_task(idle()),
    }
    empty = {field.name: _Nothing() for field in fields(Rooms) if field.name not in furnished}
    opened = Rooms(**furnished, **empty)
    occupy(opened)
    return opened


class _Nothing:
    async def close(self) -> None:
        """Nothing to close."""


def in_one_process(message: str) -> Iterator[str]:
    """Run the same rooms in a row, with nothing between them."""
    now = datetime.now(UTC)
    result = collect(open_collection(DECISION.endpoints, message), message, language="en", now=now)
    assert isinstance(result, Ready)
    results = [
        (call, CallSucceeded(call_id=call.call_id, status=200, body={"answer": 42}))
        for call in plan(TurnId("0" * 16 + "-" + "0" * 16), result.collecting)
    ]
    yield from tokens(answer(message, results, language="en"))
