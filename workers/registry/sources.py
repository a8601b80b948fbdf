"""What is known of scheduled sources: their list, whose each endpoint is, who is at work, and how the runs ended."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import cast

import redis.asyncio as aioredis

from schemas.sources import Owned, Source, SourceList, SourceRun
from workers.registry.connection import answering
from workers.runtime.clock import Clock, utc_now
from workers.runtime.keys import Keys

RUN_KEPT_S = 86_400


class SourceStore:
    """All methods raise StoreUnavailable when Redis is away."""

    def __init__(self, redis: aioredis.Redis, keys: Keys, clock: Clock = utc_now) -> None:
        self._redis = redis
        self._keys = keys
        self._clock = clock

    async def put_list(self, known: SourceList) -> None:
        """Keep the list as it was read."""
        with answering():
            await self._redis.set(self._keys.sources(), known.model_dump_json())

    async def get_list(self) -> SourceList | None:
        """Return the list that the workers read last; None when none did."""
        with answering():
            raw = await self._redis.get(self._keys.sources())
        return SourceList.model_validate_json(raw) if raw else None

    async def last_runs(self) -> dict[str, SourceRun]:
        """Return each source's last run that was no dry one."""
        with answering():
            found = cast("dict[str, str]", await self._redis.hgetall(self._keys.source_runs()))
        return {name: SourceRun.model_validate_json(raw) for name, raw in found.items()}

    async def ask(self, source: str, *, dry_run: bool, force: bool, within_s: int) -> SourceRun | None:
        """Claim the source for a new run, for at most `within_s`; None when another run has it."""
        run_id = f"run-{secrets.token_hex(8)}"
        run = SourceRun(run_id=run_id, source=source, asked_at=self._clock(), dry_run=dry_run, force=force)
        await self.put_run(run)
        return run if await self.claim(run, within_s=within_s) else None

    async def claim(self, run: SourceRun, *, within_s: int) -> bool:
        """Whether the source is this run's: it was free, or the run has it already (a message came again)."""
        key = self._keys.source_claim(run.source)
        with answering():
            if await self._redis.set(key, run.run_id, nx=True, ex=within_s):
                return True
            return str(await self._redis.get(key) or "") == run.run_id

    async def release(self, run: SourceRun) -> None:
        """Let the next run begin."""
        if await self.holder(run.source) == run.run_id:
            with answering():
                await self._redis.delete(self._keys.source_claim(run.source))

    async def holder(self, source: str) -> str:
        """Return the id of the run that has the source; empty when none has."""
        with answering():
            return str(await self._redis.get(self._keys.source_claim(source)) or "")

    async def put_run(self, run: SourceRun) -> None:
        """Keep how far a run has come; the end of one that was no dry one is the source's last run."""
        with answering():
            await self._redis.set(self._keys.source_run(run.run_id), run.model_dump_json(), ex=RUN_KEPT_S)
            if run.is_over and not run.dry_run:
                await self._redis.hset(self._keys.source_runs(), run.source, run.model_dump_json())

    async def get_run(self, run_id: str) -> SourceRun | None:
        """Return a run; None when it is no longer kept."""
        with answering():
            raw = await self._redis.get(self._keys.source_run(run_id))
        return SourceRun.model_validate_json(raw) if raw else None

    async def owned(self) -> dict[str, Owned]:
        """Return every endpoint that a source brought, by its id."""
        with answering():
            found = cast("dict[str, str]", await self._redis.hgetall(self._keys.source_owned()))
        return {endpoint_id: Owned.model_validate_json(raw) for endpoint_id, raw in found.items()}

    async def own(self, endpoint_id: str, owned: Owned) -> None:
        """Say whose the endpoint is, and what was brought last."""
        with answering():
            await self._redis.hset(self._keys.source_owned(), endpoint_id, owned.model_dump_json())

    async def disown(self, endpoint_id: str) -> None:
        """Forget that a source brought the endpoint."""
        with answering():
            await self._redis.hdel(self._keys.source_owned(), endpoint_id)


def find(known: SourceList | None, name: str) -> Source | None:
    """Return the source of that name."""
    return next((one for one in known.sources if one.name == name), None) if known else None


def counts(owned: Mapping[str, Owned]) -> dict[str, int]:
    """Count each source's endpoints."""
    told: dict[str, int] = {}
    for one in owned.values():
        told[one.source] = told.get(one.source, 0) + 1
    return told
