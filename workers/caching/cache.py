"""The room's front: responses that are kept, flights, and last calls, behind one switch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

import redis.asyncio as aioredis

from schemas.base import JsonValue
from schemas.calls import ApiCall, CallOutcome, CallSucceeded
from schemas.endpoints import Language
from schemas.ids import TurnId, chat_of
from schemas.turns import TurnRequest
from workers.caching.canonical import Asker, is_cacheable, response_key
from workers.caching.contexts import LastCall
from workers.caching.flights import Flights, Make
from workers.caching.freshness import kept_for_s
from workers.caching.last_calls import LastCalls, LastCallStore, Remembered
from workers.caching.responses import REST_S, CacheAway, ResponseStore
from workers.runtime.clock import Clock
from workers.runtime.keys import Keys
from workers.runtime.resting import Resting
from workers.runtime.settings import CacheSettings

_MOST_FIELDS = 60


@dataclass(frozen=True, kw_only=True)
class ResponseCache:
    """What the flow asks of the cache. Nothing here raises for an ailing cache; what `make` raises passes through."""

    settings: CacheSettings
    flights: Flights
    last_calls: LastCallStore
    clock: Clock

    @classmethod
    def open(cls, redis: aioredis.Redis, keys: Keys, settings: CacheSettings, clock: Clock) -> Self:
        """Build the cache over a client; it opens nothing of its own."""
        resting = Resting(failures=1, rest_s=REST_S)
        store = ResponseStore(redis, keys, settings)
        flights = Flights(store=store, settings=settings, clock=clock, resting=resting)
        last_calls = LastCallStore(redis, keys, settings, resting=resting)
        return cls(settings=settings, flights=flights, last_calls=last_calls, clock=clock)

    @property
    def is_on(self) -> bool:
        return self.settings.response_cache_enabled

    def key(self, call: ApiCall, request: TurnRequest) -> str | None:
        """Return the key of a call's response; None when it must not be kept, or the cache is off."""
        if not self.is_on or not is_cacheable(call.endpoint):
            return None
        asker = Asker(
            chat=chat_of(TurnId(request.turn_id)),
            environment=request.environment,
            user_token_name=request.user_token_name,
        )
        return response_key(call, asker)

    async def fetch(
        self, call: ApiCall, request: TurnRequest, make: Make, *, deadline: datetime, afresh: bool = False
    ) -> CallOutcome:
        """Return the call's outcome: kept, heard from somebody who asks the same now, or made."""
        key = self.key(call, request)
        if key is None:
            return await make()
        return await self.flights.fetch(call, key, make, deadline=deadline, afresh=afresh)

    async def find(self, call: ApiCall, request: TurnRequest) -> CallOutcome | None:
        """Return what is kept for a call, or None."""
        key = self.key(call, request)
        return await self.flights.find(call, key) if key else None

    async def recalled(self, call: ApiCall, request: TurnRequest, *, handle: str) -> CallOutcome | None:
        """Return the result that a last call points at, as the answer to a question about it; None when it is gone.

        The handle counts only if this request would get it for the call anew: the endpoint may have changed, and the
        chat may go on under another person's token.
        """
        if not handle or handle != self.key(call, request):
            return None
        outcome = await self.flights.find(call, handle, at_its_age=True)
        if not isinstance(outcome, CallSucceeded) or outcome.cached is None:
            return None
        return outcome.model_copy(update={"cached": outcome.cached.model_copy(update={"source": "L2"})})

    async def recall(self, request: TurnRequest) -> LastCalls:
        """Return the chat's last calls; none when the cache is off."""
        if not self.is_on:
            return LastCalls()
        return await self.last_calls.load(chat_of(TurnId(request.turn_id)))

    async def forget(self, results: Sequence[str]) -> int:
        """Drop responses by their keys; return how many there were."""
        try:
            return await self.flights.store.drop(results)
        except CacheAway:
            return 0

    def remembered(
        self, call: ApiCall, outcome: CallOutcome, request: TurnRequest, *, query: str, language: Language
    ) -> Remembered | None:
        """Describe a finished call for the chat's memory; None for an endpoint that must not be called lightly.

        A failed call is remembered without a result, so that nothing older passes for its answer.
        """
        if not is_cacheable(call.endpoint):
            return None
        key = self.key(call, request)
        default_s = float(self.settings.cache_default_ttl_seconds)
        is_kept = isinstance(outcome, CallSucceeded) and (
            outcome.cached is not None or kept_for_s(call, outcome, default_s=default_s) > 0
        )
        last = LastCall(
            endpoint_id=call.endpoint.endpoint_id,
            version=call.endpoint.version,
            arguments=dict(call.arguments),
            language=language,
            query=query,
            finished_at=self.clock(),
            fields=field_names(outcome.body) if isinstance(outcome, CallSucceeded) else (),
            result=key if is_kept and key else "",
        )
        turn_id, index = request.turn_id, call.index
        return Remembered(last=last, endpoint=call.endpoint, turn_id=turn_id, index=index)


def field_names(body: JsonValue) -> tuple[str, ...]:
    """List the names of a body's fields, the outer ones first; a list shows its first rows."""
    names: dict[str, None] = {}
    level: list[JsonValue] = [body]
    while level and len(names) < _MOST_FIELDS:
        inner: list[JsonValue] = []
        for value in level:
            if isinstance(value, dict):
                names |= dict.fromkeys(value)
                inner += value.values()
            elif isinstance(value, list):
                inner += value[:3]
        level = inner
    return tuple(names)[:_MOST_FIELDS]
