"""Where messages go that no task of this worker can take: garbage, and tasks of a newer (or older) release.

They are kept as they came, newest first, in one bounded list. `releasing` hands out those of unknown tasks to be
published anew, which is what a rolling deployment needs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, cast

import redis
import structlog
from redis.exceptions import RedisError

from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.redis import sync_client
from workers.runtime.settings import Settings
from workers.runtime.telemetry import QUARANTINED

log = structlog.get_logger(__name__)

Reason = Literal["unreadable", "unknown_task", "unknown_form", "invalid"]

_LONGEST_BODY = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class Parked:
    """A message in quarantine. `task` and `args` are known when the message was readable; `raw` is cut at 64 KiB."""

    reason: Reason
    queue: str
    raw: str
    error: str
    task: str = ""
    task_id: str = ""
    args: tuple[Any, ...] = ()
    at: str = ""


class Quarantine:
    """Blocking, because Celery's consumer thread is the one that meets these messages."""

    def __init__(self, client: redis.Redis, keys: Keys, *, kept: int) -> None:
        self._redis = client
        self._key = keys.quarantine()
        self._kept = kept

    @classmethod
    def open(cls, settings: Settings) -> Self:
        """Build one on the Redis of our state."""
        client = sync_client(settings.redis)
        return cls(client, Keys(settings.redis.key_prefix), kept=settings.queue.dead_letters_kept)

    def park(self, parked: Parked) -> bool:
        """Keep a message; False says that the store is away and the message must not be acknowledged."""
        record = {**asdict(parked), "raw": parked.raw[:_LONGEST_BODY], "at": utc_now().isoformat()}
        try:
            with self._redis.pipeline(transaction=True) as pipeline:
                pipeline.lpush(self._key, json.dumps(record, default=repr))
                pipeline.ltrim(self._key, 0, self._kept - 1)
                pipeline.execute()
        except RedisError:
            log.exception("quarantine_unreachable", reason=parked.reason, queue=parked.queue)
            return False
        QUARANTINED.labels(parked.reason).inc()
        log.error(
            "message_quarantined",
            reason=parked.reason,
            queue=parked.queue,
            task=parked.task,
            task_id=parked.task_id,
            error=parked.error,
        )
        return True

    def list(self, *, offset: int = 0, limit: int = 50) -> tuple[Parked, ...]:
        """Return a page, newest first."""
        rows = cast("list[str]", self._redis.lrange(self._key, offset, offset + limit - 1))
        return tuple(_parked(row) for row in rows)

    def count(self) -> int:
        return int(self._redis.llen(self._key))

    def releasing(self) -> Iterator[Parked]:
        """Yield the messages whose task was unknown, oldest first; each is dropped once the loop comes back for more.

        So a caller that fails to publish one keeps it, and may publish one twice, which changes nothing.
        """
        for row in reversed(cast("list[str]", self._redis.lrange(self._key, 0, -1))):
            parked = _parked(row)
            if parked.reason == "unknown_task":
                yield parked
                self._redis.lrem(self._key, 1, row)

    def close(self) -> None:
        self._redis.close()


def _parked(row: str) -> Parked:
    record = json.loads(row)
    return Parked(**{**record, "args": tuple(record["args"])})
