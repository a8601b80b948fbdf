"""The tokens that people bring along for the APIs they use: one a turn, sealed, gone with the turn's deadline.

The HTTP process seals, the calling worker opens; nobody else sees one, and no record, message or event holds it.
"""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Self

import redis.asyncio as aioredis
import structlog
from pydantic import SecretStr

from schemas.ids import TurnId
from workers.errors import StoreUnavailable
from workers.runtime.keys import Keys
from workers.runtime.redis import REDIS_AWAY
from workers.runtime.settings import CallingSettings

if TYPE_CHECKING:
    from workers.runtime.sealing import Sealer

log = structlog.get_logger(__name__)


class UserTokens:
    """Keeps them where some host may be handed one (`CALLING_USER_TOKEN_HOSTS`); drops them at once where none may."""

    def __init__(self, redis: aioredis.Redis, keys: Keys, *, key: SecretStr | None) -> None:
        self._redis = redis
        self._keys = keys
        self._key = key

    @classmethod
    def open(cls, redis: aioredis.Redis, keys: Keys, settings: CallingSettings) -> Self:
        return cls(redis, keys, key=settings.user_token_key if settings.user_token_hosts else None)

    @property
    def are_kept(self) -> bool:
        """Whether a token would be of any use here."""
        return self._key is not None

    def name(self, token: SecretStr) -> str:
        """Return a keyed hash that stands for the token, in cache keys for one; empty where none is kept."""
        return self._sealer.name(token) if self.are_kept else ""

    async def keep(self, turn_id: str, token: SecretStr, *, until: datetime) -> None:
        """Seal the turn's token away until then. Raises StoreUnavailable."""
        if not self.are_kept:
            return
        sealed = self._sealer.seal(token, owner=turn_id)
        try:
            await self._redis.set(self._keys.own_token(TurnId(turn_id)), sealed, pxat=round(until.timestamp() * 1000))
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not keep a person's token") from error

    async def of(self, turn_id: str) -> SecretStr | None:
        """Open the turn's token; None when none came, its time is over, or another key sealed it.

        Raises StoreUnavailable.
        """
        if not self.are_kept:
            return None
        try:
            sealed = await self._redis.get(self._keys.own_token(TurnId(turn_id)))
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not give a person's token") from error
        if sealed is None:
            return None
        token = self._sealer.open(str(sealed), owner=turn_id)
        if token is None:
            log.error("user_token_not_opened", hint="CALLING_USER_TOKEN_KEY must be the same in every process")
        return token

    @cached_property
    def _sealer(self) -> Sealer:
        from workers.runtime.sealing import Sealer

        if self._key is None:
            raise LookupError("no key to seal with")
        return Sealer(self._key)
