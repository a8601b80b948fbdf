"""Counts how often a message came back, so that a task that kills its worker is not run for ever.

Only a message that the broker marks as redelivered is counted: the ordinary task costs nothing. A worker's death is
the only thing this can count, since whatever a coroutine raises is settled before its message is acknowledged.
"""

from __future__ import annotations

import redis.asyncio as aioredis
from redis.exceptions import RedisError

from workers.errors import StoreUnavailable
from workers.runtime.keys import Keys


class Deliveries:
    """One counter per task id; it expires with the message. Methods raise StoreUnavailable."""

    def __init__(self, redis: aioredis.Redis, keys: Keys, *, kept_s: int) -> None:
        self._redis = redis
        self._keys = keys
        self._kept_s = kept_s

    async def count(self, task_id: str) -> int:
        """Note a redelivery. Returns which delivery this is, from 2."""
        return 1 + await self._add(task_id, 1)

    async def forgive(self, task_id: str) -> None:
        """Take one back: the worker is stopping in order and gave the message back itself."""
        await self._add(task_id, -1)

    async def forget(self, task_id: str) -> None:
        """Drop the counter of a task that has ended."""
        try:
            await self._redis.delete(self._keys.deliveries(task_id))
        except (RedisError, OSError) as error:
            raise StoreUnavailable("deliveries") from error

    async def _add(self, task_id: str, step: int) -> int:
        key = self._keys.deliveries(task_id)
        async with self._redis.pipeline(transaction=True) as pipeline:
            pipeline.incrby(key, step)
            pipeline.expire(key, self._kept_s)
            try:
                counted, _ = await pipeline.execute()
            except (RedisError, OSError) as error:
                raise StoreUnavailable("deliveries") from error
        return int(counted)
