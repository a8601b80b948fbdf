"""Scheduled sources: what is due is read again, what changed is indexed anew, what vanished is taken away.

Everything is written endpoint by endpoint, its digest last: a run that is killed leaves what is done done, and the next
one goes on from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import structlog

from schemas.endpoints import Endpoint
from schemas.registry import Registered
from schemas.sources import Owned, Source, SourceList, SourceProblem, SourceRun, Tally
from workers.errors import DocumentUnreadable, IndexRefused
from workers.indexing.source_list import read_source_list
from workers.indexing.source_reading import Fetch, Found, digest_of, parse, read_text
from workers.registry.sources import SourceStore, find
from workers.registry.store import RegistryStore
from workers.runtime.clock import Clock, utc_now

log = structlog.get_logger(__name__)

Index = Callable[[str], Awaitable[object]]
"""Asks for an endpoint to be indexed; returns when the queue has it."""

RETRY_S = 300
"""A source that could not be read is tried again after this, or after its own time when that is shorter."""

_AT_ONCE = 32
_REPORT_EVERY = 500
_PROBLEMS_KEPT = 200


@dataclass(kw_only=True)
class _Plan:
    """What a run is about to do. `held_back` names what vanished and stays."""

    added: list[Endpoint] = field(default_factory=list)
    changed: list[Endpoint] = field(default_factory=list)
    unchanged: int = 0
    removed: dict[str, str] = field(default_factory=dict)
    held_back: dict[str, str] = field(default_factory=dict)
    problems: list[SourceProblem] = field(default_factory=list)


class Refresher:
    """Keeps the registry in step with its sources. `claimed_s` is how long a run may rest on the queue."""

    def __init__(
        self,
        *,
        registry: RegistryStore,
        sources: SourceStore,
        fetch: Fetch,
        file: Path | None,
        claimed_s: int,
        clock: Clock = utc_now,
    ) -> None:
        self._registry = registry
        self._sources = sources
        self._fetch = fetch
        self._file = file
        self._claimed_s = claimed_s
        self._clock = clock

    async def due(self) -> list[SourceRun]:
        """Read the list of sources, publish it, and claim a run for each one whose time has come."""
        if self._file is None:
            return []
        known = await asyncio.to_thread(read_source_list, self._file, self._clock)
        await self._sources.put_list(known)
        if known.faults:
            log.warning("sources_have_faults", faults=known.faults)
        last = await self._sources.last_runs()
        runs = []
        for source in known.sources:
            if self._is_due(source, last.get(source.name)) and not await self._sources.holder(source.name):
                run = await self._sources.ask(source.name, dry_run=False, force=False, within_s=self._claimed_s)
                runs += [run] if run is not None else []
        return runs

    def _is_due(self, source: Source, last: SourceRun | None) -> bool:
        if last is None:
            return True
        pause_s = min(source.every_s, RETRY_S) if last.state == "failed" else source.every_s
        return self._clock() >= last.asked_at + timedelta(seconds=pause_s)

    async def refresh(self, run_id: str, *, index: Index) -> None:
        """Carry out a run. What of the source is bad ends in its report; a run that another holds up is not begun.

        Raises StoreUnavailable, to be tried again.
        """
        run = await self._sources.get_run(run_id)
        if run is None or run.is_over:
            return
        if not await self._sources.claim(run, within_s=self._claimed_s):
            await self._end(run, state="failed", reason="another run of this source is under way")
            return
        source = find(await self._known(), run.source)
        if source is None:
            await self._end(run, state="failed", reason="no source of that name is in the list")
        else:
            await self._carry_out(run, source, index)
        await self._sources.release(run)

    async def _known(self) -> SourceList | None:
        if self._file is None:
            return None
        return await asyncio.to_thread(read_source_list, self._file, self._clock)

    async def _carry_out(self, run: SourceRun, source: Source, index: Index) -> None:
        try:
            text = await read_text(source, self._fetch)
            digest = text.digest(source)
            if not run.force and not run.dry_run and await self._is_as_before(source, digest):
                await self._end(run, state="unchanged", digest=digest)
                return
            found = await asyncio.to_thread(parse, source, text)
        except DocumentUnreadable as error:
            await self._end(run, state="failed", reason=str(error))
            return
        await self._apply(run, source, found, digest=digest, index=index)

    async def _is_as_before(self, source: Source, digest: str) -> bool:
        """Whether the very text was carried out wholly the last time, and nobody deleted any of it meanwhile."""
        last = (await self._sources.last_runs()).get(source.name)
        if last is None or last.digest != digest or last.state == "failed" or last.held_back.count:
            return False
        mine = {one for one, owned in (await self._sources.owned()).items() if owned.source == source.name}
        return mine <= await self._registry.ids(source.tenant)

    async def _apply(self, run: SourceRun, source: Source, found: Found, *, digest: str, index: Index) -> None:
        plan = await self._plan(source, found, force=run.force)
        run = run.model_copy(
            update={
                "state": "running",
                "total": len(plan.added) + len(plan.changed) + len(plan.removed),
                "added": Tally.of([one.name for one in plan.added]),
                "changed": Tally.of([one.name for one in plan.changed]),
                "removed": Tally.of(list(plan.removed.values())),
                "held_back": Tally.of(list(plan.held_back.values())),
                "unchanged": plan.unchanged,
            }
        )
        if not run.dry_run:
            await self._sources.put_run(run)
            run = await self._put_all(run, source, plan, index)
            for endpoint_id in plan.removed:
                await self._registry.delete(endpoint_id, tenant=source.tenant)
                await self._sources.disown(endpoint_id)
        problems = plan.problems
        await self._end(
            run,
            state="done",
            digest=digest,
            done=run.total,
            problems=tuple(problems[:_PROBLEMS_KEPT]),
            problem_count=len(problems),
        )

    async def _plan(self, source: Source, found: Found, *, force: bool) -> _Plan:
        owned = await self._sources.owned()
        present = await self._registry.ids(source.tenant)
        plan = _Plan(problems=list(found.problems))
        for endpoint_id, endpoint in found.endpoints.items():
            before = owned.get(endpoint_id)
            if before is not None and before.source != source.name:
                message = f"the source {before.source} brought this endpoint already"
                plan.problems.append(SourceProblem(where=endpoint_id, name=endpoint.name, message=message))
            elif before is None or endpoint_id not in present:
                plan.added.append(endpoint)
            elif force or before.digest != digest_of(endpoint):
                plan.changed.append(endpoint)
            else:
                plan.unchanged += 1
        mine = {one: known.name for one, known in owned.items() if known.source == source.name}
        vanished = {one: name for one, name in mine.items() if one not in found.endpoints and name not in found.unsure}
        if force or len(vanished) <= source.most_removed * len(mine):
            plan.removed = vanished
        else:
            plan.held_back = vanished
        return plan

    async def _put_all(self, run: SourceRun, source: Source, plan: _Plan, index: Index) -> SourceRun:
        """Register what is new or changed, some at once, telling now and then how far it is."""
        endpoints = [*plan.added, *plan.changed]
        for batch in _batches(endpoints, _AT_ONCE):
            refused = await asyncio.gather(*(self._put(source, one, index) for one in batch))
            plan.problems += [problem for problem in refused if problem is not None]
            before, done = run.done, run.done + len(batch)
            run = run.model_copy(update={"done": done})
            if done // _REPORT_EVERY > before // _REPORT_EVERY:
                await self._sources.put_run(run)
        return run

    async def _put(self, source: Source, endpoint: Endpoint, index: Index) -> SourceProblem | None:
        """Register one endpoint and ask for its indexing; note its digest when both are done."""
        try:
            await self._registry.put(Registered(endpoint=endpoint, updated_at=self._clock()))
        except IndexRefused as refused:
            return SourceProblem(where=endpoint.endpoint_id, name=endpoint.name, message=refused.reason)
        await index(endpoint.endpoint_id)
        owned = Owned(source=source.name, name=endpoint.name, digest=digest_of(endpoint))
        await self._sources.own(endpoint.endpoint_id, owned)
        return None

    async def _end(self, run: SourceRun, **update: object) -> None:
        ended = run.model_copy(update={**update, "ended_at": self._clock()})
        await self._sources.put_run(ended)
        told = log.warning if ended.state == "failed" or ended.held_back.count else log.info
        told(
            "source_refreshed",
            source=ended.source,
            state=ended.state,
            reason=ended.reason,
            dry_run=ended.dry_run,
            added=ended.added.count,
            changed=ended.changed.count,
            removed=ended.removed.count,
            held_back=ended.held_back.count,
            problems=ended.problem_count,
        )


def _batches(endpoints: list[Endpoint], size: int) -> Iterable[list[Endpoint]]:
    return (endpoints[at : at + size] for at in range(0, len(endpoints), size))
