"""Reads a turn's events. They are written by the scripts of `workers/sessions`, together with the state.

Ids are dense ("1-0", "2-0", …), so a reader sees a gap at once. The same events are published on
`keys.live(turn)` as `{"id": "<n>-0", "event": {…}}` in the very script that stored them: a reader that subscribes
first and replays second misses nothing.
"""

from __future__ import annotations

import redis.asyncio as aioredis

from schemas.events import EVENT, TurnEvent
from schemas.ids import TurnId
from workers.errors import StoreUnavailable
from workers.runtime.keys import Keys
from workers.runtime.redis import REDIS_AWAY


class EventLog:
    """Read access to the event streams of turns."""

    def __init__(self, redis: aioredis.Redis, keys: Keys) -> None:
        self._redis = redis
        self._keys = keys

    async def read(self, turn_id: str, *, after: str = "0") -> list[tuple[str, TurnEvent]]:
        """Return (id, event) pairs with ids above `after`, in order; empty when nothing is kept.

        Raises StoreUnavailable when Redis is away.
        """
        try:
            entries = await self._redis.xrange(self._keys.events(TurnId(turn_id)), min=f"({after}")
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not answer") from error
        return [(str(entry_id), EVENT.validate_json((fields or {})["e"])) for entry_id, fields in entries or []]
