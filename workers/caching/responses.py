"""L1: what an API answered lately, by canonical key, and who is asking it now. In Redis, for all workers.

Every method raises CacheAway when the server can't serve; who calls goes on without a cache.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal, TypeVar

import redis.asyncio as aioredis
from pydantic import TypeAdapter, ValidationError

from schemas.calls import CallOutcome, CallSucceeded
from workers.caching.freshness import Keeping
from workers.runtime.keys import Keys
from workers.runtime.redis import REDIS_AWAY
from workers.runtime.settings import CacheSettings

T = TypeVar("T")
_OUTCOME: TypeAdapter[CallOutcome] = TypeAdapter(CallOutcome)
REST_S = 1.0
"""An ailing server is left alone so long: it then costs one turn its timeout and not every turn."""

_LANDED_MS = 5_000
"""Waiters look several times a second; later comers never read it, for it is named by its flight."""


class CacheAway(Exception):
    """The cache's server is gone, slow or takes no writes: the turn goes on without it."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A response that is kept, and when its call began (ms since the epoch)."""

    outcome: CallSucceeded
    called_at_ms: int


@dataclass(frozen=True, kw_only=True)
class Look:
    """What asking for a response found: `kept`, or the right to make the call, or somebody else's flight."""

    state: Literal["hit", "lead", "wait"]
    kept: Kept | None = None
    called_at_ms: int = 0
    leader: str = ""


@dataclass(frozen=True, kw_only=True)
class Landed:
    """How a flight ended: with an outcome that its waiters share, or with one that each must get for himself."""

    outcome: CallOutcome | None


class ResponseStore:
    """Responses and flights in Redis."""

    def __init__(self, redis: aioredis.Redis, keys: Keys, settings: CacheSettings) -> None:
        self._redis = redis
        self._keys = keys
        self._settings = settings
        folder = resources.files(__package__) / "scripts"
        self._scripts = {
            name: redis.register_script((folder / f"{name}.lua").read_text(encoding="utf-8"))
            for name in ("look", "land", "renew", "find")
        }

    async def peek(self, key: str) -> Kept | None:
        """Return what is kept, and touch nothing."""
        at, outcome = await self._ask(self._redis.hmget(self._entry(key), ["at", "outcome"]))
        return _kept(at, outcome) if outcome else None

    async def find(self, key: str) -> Kept | None:
        """Return what is kept, unless it is due to be renewed and nobody renews it."""
        keys = [self._entry(key), self._flight(key)]
        reply: list[str] = await self._ask(self._scripts["find"](keys=keys))
        return _kept(*reply) if reply else None

    async def look(self, key: str, token: str, *, lease_s: float, afresh: bool) -> Look:
        """Return what is kept, unless it is wanted afresh; else take the lead of a flight, or name who has it.

        The first who asks for what is due to be renewed takes the lead; while he does, the others are told it.
        """
        args: list[str | int] = [token, round(lease_s * 1000), "1" if afresh else ""]
        reply: list[str] = await self._ask(self._scripts["look"](keys=[self._entry(key), self._flight(key)], args=args))
        match reply:
            case ["hit", at, outcome]:
                kept = _kept(at, outcome)
                if kept is None:  # written by another release: of no use to us, so it goes
                    await self.drop([key])
                    return await self.look(key, token, lease_s=lease_s, afresh=True)
                return Look(state="hit", kept=kept)
            case ["lead", now]:
                return Look(state="lead", called_at_ms=int(now))
            case _:
                return Look(state="wait", leader=reply[1])

    async def land(
        self, key: str, token: str, *, called_at_ms: int, outcome: CallOutcome, kept: Keeping, shared: bool
    ) -> None:
        """End the flight: keep the outcome for its time unless that is 0 or it is too big, and tell those who wait."""
        text = outcome.model_dump_json()
        is_kept = kept.kept_s > 0 and len(text) <= self._settings.cache_max_bytes
        keys = [self._entry(key), self._flight(key), self._landed(key, token)]
        args: list[str | int] = [
            token,
            called_at_ms,
            text if is_kept else "",
            max(1, round(kept.kept_s * 1000)),
            max(1, round(kept.renewed_after_s * 1000)),
            text if shared else "",
            _LANDED_MS,
        ]
        await self._ask(self._scripts["land"](keys=keys, args=args))

    async def renew(self, key: str, token: str, *, lease_s: float) -> bool:
        """Keep the lead for `lease_s` more; 0 gives it back. False when it is another's."""
        args: list[str | int] = [token, round(lease_s * 1000)]
        return bool(await self._ask(self._scripts["renew"](keys=[self._flight(key)], args=args)))

    async def landed(self, key: str, leader: str) -> Landed | Literal["flying", "lost"]:
        """Return how that leader's flight ended; `lost` when it is over without a word."""
        told, flying = await self._ask(self._redis.mget(self._landed(key, leader), self._flight(key)))
        if told is None:
            return "flying" if flying == leader else "lost"
        return Landed(outcome=_OUTCOME.validate_json(told) if told else None)

    async def drop(self, keys: Sequence[str]) -> int:
        """Forget responses; return how many there were."""
        gone = [await self._ask(self._redis.delete(self._entry(key))) for key in keys]
        return sum(gone)

    async def _ask(self, reply: Awaitable[T] | Any) -> Any:
        try:
            async with asyncio.timeout(self._settings.cache_timeout_s):
                return await reply
        except (*REDIS_AWAY, TimeoutError) as error:
            raise CacheAway(type(error).__name__) from error

    def _entry(self, key: str) -> str:
        return self._keys.response(self._settings.cache_key_prefix, key)

    def _flight(self, key: str) -> str:
        return f"{self._entry(key)}:flight"

    def _landed(self, key: str, token: str) -> str:
        return f"{self._entry(key)}:landed:{token}"


def _kept(at: str, outcome: str) -> Kept | None:
    try:
        return Kept(outcome=CallSucceeded.model_validate(json.loads(outcome)), called_at_ms=int(at))
    except (ValidationError, ValueError, TypeError):
        return None
