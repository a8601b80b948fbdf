"""L2: the last calls of a chat, one entry for each endpoint, for as long as the chat goes on. In Redis.

Every method swallows an ailing server: without it a follow-up is read as a new question. What is kept slides: each
write begins its time anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import redis.asyncio as aioredis
import structlog
from pydantic import TypeAdapter, ValidationError

from schemas.base import Frozen
from schemas.endpoints import Endpoint
from schemas.ids import ChatKey
from workers.caching.contexts import LastCall
from workers.caching.responses import REST_S
from workers.runtime.keys import Keys
from workers.runtime.redis import REDIS_AWAY
from workers.runtime.resting import Resting
from workers.runtime.settings import CacheSettings

log = structlog.get_logger(__name__)

_LATEST = ":latest"
_MOST_ENDPOINTS = 8


class Remembered(Frozen):
    """A call as the chat remembers it: what the judgement sees, the endpoint as it was, its place in its turn."""

    last: LastCall
    endpoint: Endpoint
    turn_id: str
    index: int = 0


_ENTRY: TypeAdapter[tuple[Remembered, ...]] = TypeAdapter(tuple[Remembered, ...])


class LastCalls(Frozen):
    """What a chat called, the newest first. `latest` is the turn whose calls a bare "and in Latvia?" leans on."""

    calls: tuple[Remembered, ...] = ()
    latest: str = ""

    @property
    def newest(self) -> tuple[Remembered, ...]:
        """The calls of the latest turn, in their order; none after the person turned to something else."""
        return tuple(sorted((c for c in self.calls if c.turn_id == self.latest), key=lambda c: c.index))


class LastCallStore:
    """Last calls in Redis: a hash for each chat, a field for each endpoint."""

    def __init__(
        self, redis: aioredis.Redis, keys: Keys, settings: CacheSettings, *, resting: Resting | None = None
    ) -> None:
        self._redis = redis
        self._keys = keys
        self._settings = settings
        self._resting = resting or Resting(failures=1, rest_s=REST_S)

    async def load(self, chat: ChatKey) -> LastCalls:
        """Return the chat's last calls; none when there are none, or nobody can tell."""
        found: dict[str, str] = await self._ask(lambda: self._redis.hgetall(self._key(chat))) or {}
        latest = found.pop(_LATEST, "")
        entries = sorted(map(_read, found.values()), key=_age, reverse=True)
        return LastCalls(calls=tuple(call for entry in entries for call in entry), latest=latest)

    async def note(self, chat: ChatKey, calls: Sequence[Remembered], *, before: LastCalls) -> None:
        """Keep the calls of a turn; each takes the place of what its endpoint was called with before."""
        fields: dict[str, list[Remembered]] = {}
        for call in calls:
            fields.setdefault(call.endpoint.endpoint_id, []).append(call)
        if not fields:
            return
        kept = list(dict.fromkeys([*fields, *(call.endpoint.endpoint_id for call in before.calls)]))
        written = {name: _ENTRY.dump_json(tuple(entry)).decode() for name, entry in fields.items()}
        await self._write(chat, {**written, _LATEST: calls[0].turn_id}, drop=kept[_MOST_ENDPOINTS:])

    async def turn_away(self, chat: ChatKey) -> None:
        """Note that the person asks for something else now: a bare follow-up no longer leans on what was before."""
        await self._write(chat, {_LATEST: ""})

    async def drop(self, chat: ChatKey) -> bool:
        """Forget the chat's calls. False when there were none."""
        return bool(await self._ask(lambda: self._redis.delete(self._key(chat))))

    async def _write(self, chat: ChatKey, fields: dict[str, str], *, drop: Sequence[str] = ()) -> None:
        key = self._key(chat)
        pairs: Mapping[Any, Any] = fields  # redis-py's own type is invariant in its keys

        def write() -> Awaitable[Any]:
            return asyncio.gather(
                self._redis.hset(key, mapping=pairs),
                self._redis.expire(key, self._settings.last_call_ttl_seconds),
                *([self._redis.hdel(key, *drop)] if drop else []),
            )

        await self._ask(write)

    async def _ask(self, command: Callable[[], Awaitable[Any] | Any]) -> Any:
        if not self._resting.may_ask():
            return None
        try:
            async with asyncio.timeout(self._settings.cache_timeout_s):
                found = await command()
        except (*REDIS_AWAY, TimeoutError) as error:
            self._resting.failed()
            log.warning("cache_away", error=type(error).__name__)
            return None
        self._resting.answered()
        return found

    def _key(self, chat: ChatKey) -> str:
        return self._keys.last_calls(self._settings.last_call_key_prefix, chat)


def _read(entry: str) -> tuple[Remembered, ...]:
    """Read an entry; one of another release counts as none."""
    try:
        return _ENTRY.validate_json(entry)
    except ValidationError:
        return ()


def _age(entry: tuple[Remembered, ...]) -> float:
    return max((call.last.finished_at.timestamp() for call in entry), default=0.0)
