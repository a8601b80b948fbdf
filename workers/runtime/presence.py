"""Which queues somebody serves right now: workers announce themselves, the door reads.

A worker calls `announce` every ANNOUNCE_EVERY_S; one that was silent for SILENT_AFTER_S counts as gone.
"""

from __future__ import annotations

from collections.abc import Iterable

import redis.asyncio as aioredis

from workers.errors import StoreUnavailable
from workers.runtime.clock import Clock, utc_now
from workers.runtime.keys import Keys
from workers.runtime.redis import REDIS_AWAY

ANNOUNCE_EVERY_S = 1.0
SILENT_AFTER_S = 5.0


class Presence:
    """Signs of life, one sorted set per queue. Raises StoreUnavailable when Redis is away."""

    def __init__(self, redis: aioredis.Redis, keys: Keys, clock: Clock = utc_now) -> None:
        self._redis = redis
        self._keys = keys
        self._clock = clock

    async def announce(self, worker: str, queues: Iterable[str]) -> None:
        """Say that this process consumes those queues; also forgets workers that have been silent for long."""
        now_s = self._clock().timestamp()
        async with self._redis.pipeline(transaction=False) as pipe:
            for queue in queues:
                pipe.zadd(self._keys.present(queue), {worker: now_s})
                pipe.zremrangebyscore(self._keys.present(queue), "-inf", now_s - 12 * SILENT_AFTER_S)
            await self._run(pipe)

    async def leave(self, worker: str, queues: Iterable[str]) -> None:
        """Take this process out of the lists at once."""
        async with self._redis.pipeline(transaction=False) as pipe:
            for queue in queues:
                pipe.zrem(self._keys.present(queue), worker)
            await self._run(pipe)

    async def serving(self, queues: Iterable[str]) -> dict[str, int]:
        """Count the live workers of each queue."""
        names = list(queues)
        alive_since = self._clock().timestamp() - SILENT_AFTER_S
        async with self._redis.pipeline(transaction=False) as pipe:
            for queue in names:
                pipe.zcount(self._keys.present(queue), alive_since, "+inf")
            counts = await self._run(pipe)
        return {queue: int(str(count)) for queue, count in zip(names, counts, strict=True)}

    @staticmethod
    async def _run(pipe: aioredis.client.Pipeline) -> list[object]:
        try:
            return list(await pipe.execute())
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not answer") from error
