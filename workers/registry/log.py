"""The log of the registry's changes, as a follower reads it.

A follower loads the snapshot, then reads on from the position it took *before* the snapshot: a change in between is
applied twice, which changes nothing. Entries carry ids only; the newest state is read from the hash, so a burst of
changes to one endpoint costs a follower one read. Places are consecutive numbers, so a gap shows that the bounded log
was trimmed under a slow follower; a changed epoch, that the registry was wiped. Both mean: load the snapshot again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import cast

import redis.asyncio as aioredis

from schemas.registry import Searchable
from workers.registry.connection import answering, load_script
from workers.runtime.keys import Keys

FORGOTTEN_AFTER_S = 10
"""A follower that was silent for so long no longer holds up `wait_searchable`; it reports at least every second."""

_SNAPSHOT_PAGE = 200


@dataclass(frozen=True)
class Position:
    """A place in the log: `seq` is the last change seen, in the registry's life named by `epoch`."""

    epoch: str = ""
    seq: int = 0


@dataclass(frozen=True)
class Change:
    """One step: the endpoint's newest state, or None when it is gone."""

    endpoint_id: str
    searchable: Searchable | None


@dataclass(frozen=True)
class Changes:
    """What happened since a position. `is_broken` means that the log no longer reaches back to it."""

    position: Position
    changes: tuple[Change, ...] = ()
    is_broken: bool = False


def _entries(reply: object) -> list[tuple[str, dict[str, str]]]:
    """Unwrap XREAD's answer for one stream, in either protocol's shape (RESP3 maps, RESP2 lists; empty: none)."""
    if isinstance(reply, dict):
        batches = [batch for found in reply.values() for batch in found]
        reply = [("", batches[0] if batches and isinstance(batches[0], list) else batches)]
    streams = cast("list[tuple[str, list[tuple[str, dict[str, str]]]]]", reply or [])
    return streams[0][1] if streams else []


class RegistryLog:
    """Reads the log, and keeps account of who has read how far. Raises StoreUnavailable when Redis is away."""

    def __init__(self, redis: aioredis.Redis, keys: Keys) -> None:
        self._redis = redis
        self._keys = keys
        self._report = load_script(redis, "report")
        self._progress = load_script(redis, "progress")

    async def head(self) -> Position:
        """Return the newest position."""
        with answering():
            epoch, seq = await self._redis.hmget(self._keys.registry_head(), ["epoch", "seq"])
        return Position(str(epoch or ""), int(seq or 0))

    async def snapshot(self) -> AsyncIterator[tuple[Searchable, ...]]:
        """Yield everything searchable, in pages; an endpoint changed meanwhile may come twice or be missing."""
        cursor = 0
        while True:
            with answering():
                cursor, page = await self._redis.hscan(
                    self._keys.registry_vectors(), cursor=cursor, count=_SNAPSHOT_PAGE
                )
            if page:
                found = cast("dict[str, str]", page).values()
                yield tuple(Searchable.model_validate_json(raw) for raw in found)
            if int(cursor) == 0:
                return

    async def read(self, after: Position, *, block_s: float, limit: int = 500) -> Changes:
        """Wait at most `block_s` for changes after the position; an empty answer is normal."""
        with answering():
            reply = await self._redis.xread(
                {self._keys.registry_log(): f"{after.seq}-0"}, count=limit, block=max(1, int(block_s * 1000))
            )
        entries = _entries(reply)
        if not entries:
            return Changes(after)
        places = [int(place.partition("-")[0]) for place, _ in entries]
        if places[0] != after.seq + 1:
            return Changes(after, is_broken=True)
        ids = list(dict.fromkeys(fields["id"] for _, fields in entries))
        return Changes(Position(after.epoch, places[-1]), await self._newest(ids))

    async def _newest(self, ids: list[str]) -> tuple[Change, ...]:
        with answering():
            found = await self._redis.hmget(self._keys.registry_vectors(), ids)
        return tuple(
            Change(one, Searchable.model_validate_json(raw) if raw else None)
            for one, raw in zip(ids, found, strict=True)
        )

    async def report(self, follower: str, applied: Position) -> Position:
        """Say how far this follower has come (this is also its sign of life) and return the head."""
        with answering():
            epoch, seq = await self._report(
                keys=[self._keys.followers(), self._keys.applied(), self._keys.registry_head()],
                args=[follower, applied.epoch, applied.seq, FORGOTTEN_AFTER_S],
            )
        return Position(epoch, int(seq))

    async def leave(self, follower: str) -> None:
        """Forget a follower that stops."""
        with answering():
            await self._redis.zrem(self._keys.followers(), follower)
            await self._redis.hdel(self._keys.applied(), follower)

    async def is_applied_everywhere(self, seq: int) -> bool:
        """Whether every live follower has come to that place; false while nobody follows."""
        with answering():
            epoch, *live = await self._progress(
                keys=[self._keys.followers(), self._keys.applied(), self._keys.registry_head()],
                args=[FORGOTTEN_AFTER_S],
            )
        reached = [Position(words[0], int(words[1])) for words in (one.split(" ") for one in live)]
        return bool(reached) and all(one.epoch == epoch and one.seq >= seq for one in reached)
