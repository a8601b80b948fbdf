"""Access tokens that all workers share in Redis: fetched by one of them at a time, sealed under the client's secret.

Whoever holds that secret may fetch a token anyhow, so nobody learns anything by opening one; no further key is needed,
and a new secret does not find what the old one sealed. While Redis is away each process fetches its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import redis.asyncio as aioredis
import structlog
from pydantic import SecretStr
from redis.exceptions import LockError

from schemas.auth import ClientCredentialsAuth
from workers.runtime.keys import Keys
from workers.runtime.redis import REDIS_AWAY

if TYPE_CHECKING:
    from workers.runtime.sealing import Sealer

log = structlog.get_logger(__name__)

# A shorter secret could be guessed from what it sealed (RFC 6749 section 10.10): its tokens stay in their process.
_SHORTEST_SECRET = 16
_PATIENCE_S = 1.0
_PAUSE_S = 0.05


@dataclass(frozen=True, kw_only=True)
class Fresh:
    """A token, and for how many seconds from now it may be used."""

    token: SecretStr
    left_s: float


Fetch = Callable[[], Awaitable[Fresh]]


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """Where the workers keep one client's token."""

    redis: aioredis.Redis
    key: str
    name: str
    sealer: Sealer = field(repr=False)
    lease_s: float

    async def get(self, fetch: Fetch) -> Fresh:
        """Return the token that lies here; else fetch it, or wait for the worker that does. Raises as `fetch`."""
        try:
            found = await self._read()
            if found is not None:
                return found
            lock = self.redis.lock(
                f"{self.key}:fetching", timeout=self.lease_s, sleep=_PAUSE_S, blocking_timeout=self.lease_s
            )
            is_ours = await lock.acquire()
        except REDIS_AWAY as error:
            log.warning("tokens_not_shared", error=type(error).__name__)
            return await fetch()
        try:
            return await self._read_or(fetch)
        finally:
            if is_ours:
                with contextlib.suppress(LockError, *REDIS_AWAY):
                    await asyncio.shield(lock.release())

    async def drop(self, token: str) -> None:
        """Throw away a token that an API refused; another that lies here by now stays."""
        with contextlib.suppress(*REDIS_AWAY):
            found = await self._read()
            if found is not None and found.token.get_secret_value() == token:
                await self.redis.delete(self.key)

    async def _read_or(self, fetch: Fetch) -> Fresh:
        with contextlib.suppress(*REDIS_AWAY):
            found = await self._read()
            if found is not None:
                return found
        fresh = await fetch()
        sealed = self.sealer.seal(fresh.token, owner=self.name)
        with contextlib.suppress(*REDIS_AWAY):
            await self.redis.set(self.key, sealed, px=max(1, round(fresh.left_s * 1000)))
        return fresh

    async def _read(self) -> Fresh | None:
        """Read the token and how long it lasts: its key's own time, so that no two clocks are compared."""
        async with asyncio.timeout(_PATIENCE_S):
            sealed, left_ms = await asyncio.gather(self.redis.get(self.key), self.redis.pttl(self.key))
        token = self.sealer.open(str(sealed), owner=self.name) if sealed and int(left_ms) > 0 else None
        return None if token is None else Fresh(token=token, left_s=int(left_ms) / 1000)


class SharedTokens:
    """The shelves of this process's clients. A fetch takes at most `lease_s`: then a dead worker lets go."""

    def __init__(self, redis: aioredis.Redis, keys: Keys, *, lease_s: float) -> None:
        self._redis = redis
        self._keys = keys
        self._lease_s = lease_s

    async def shelf(self, auth: ClientCredentialsAuth, secret: SecretStr) -> Shelf | None:
        """Return where the client's token lies; None where it is not shared."""
        if len(secret.get_secret_value()) < _SHORTEST_SECRET:
            return None
        sealer = await asyncio.to_thread(_sealer, secret)
        asked = auth.model_dump(include={"token_url", "client_id", "scope", "audience", "client_in"})
        name = sealer.name(SecretStr(json.dumps(asked, sort_keys=True)))
        return Shelf(
            redis=self._redis, key=self._keys.access_token(name), name=name, sealer=sealer, lease_s=self._lease_s
        )


@functools.lru_cache(maxsize=256)
def _sealer(secret: SecretStr) -> Sealer:
    """Make the key of a secret; off the loop, for the library takes long to load."""
    from workers.runtime.sealing import Sealer

    return Sealer(secret)
