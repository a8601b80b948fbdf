"""VectorIndex that answers from this process's memory and keeps an engine in step.

The engine holds everything and stays the truth: each change goes there first, whole endpoints are read from there, and
the words of fusion by ranks are weighed there. But asking it for a hundred features took 3 to 9 ms; the same scores
from arrays take a tenth. Nothing is found here before the engine has it too.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from schemas.endpoints import Endpoint
from schemas.registry import Searchable, Sparse
from workers.retrieval.calibration import ModelCard
from workers.retrieval.index import Hit, Query, VectorIndex
from workers.retrieval.scan import Scan

_ENDPOINTS_KEPT = 1_024
"""Whole endpoints kept at hand (some KB each)."""

_SCANNED_AT_ONCE = 2_000
"""Up to so many endpoints of a tenant a scan runs where it is asked for (under a millisecond at 1,000); above, in a
thread, for the event loop would stand still (4 ms at 10,000)."""


class MirroredIndex:
    """Owns its engine. One writer, as every VectorIndex here: the process's follower."""

    def __init__(self, engine: VectorIndex, card: ModelCard) -> None:
        self._engine = engine
        self._card = card
        self._scans: dict[str, Scan] = {}
        self._tenants: dict[str, str] = {}
        self._kept: OrderedDict[str, Endpoint] = OrderedDict()
        self._changes = 0

    async def open(self) -> None:
        await self._engine.open()

    async def apply(self, put: Sequence[Searchable], gone: Sequence[str]) -> None:
        await self._engine.apply(put, gone)
        fresh: defaultdict[str, list[Searchable]] = defaultdict(list)
        stale: defaultdict[str, set[str]] = defaultdict(set)
        for one in put:
            fresh[one.endpoint.tenant].append(one)
        for one_id in (*gone, *(one.endpoint.endpoint_id for one in put)):
            if one_id in self._tenants:
                stale[self._tenants[one_id]].add(one_id)
        old = {tenant: self._scan(tenant) for tenant in {*fresh, *stale}}
        new = await asyncio.to_thread(
            lambda: {tenant: scan.changed(fresh[tenant], stale[tenant]) for tenant, scan in old.items()}
        )
        self._scans |= new
        for one_id in gone:
            self._tenants.pop(one_id, None)
        self._tenants |= {one.endpoint.endpoint_id: one.endpoint.tenant for one in put}
        self._forget({*gone, *(one.endpoint.endpoint_id for one in put)})
        self._remember({one.endpoint.endpoint_id: one.endpoint for one in put})

    def _scan(self, tenant: str) -> Scan:
        return self._scans.get(tenant) or Scan.empty(self._card.dimension)

    def _forget(self, endpoint_ids: set[str]) -> None:
        self._changes += 1
        for one in endpoint_ids & self._kept.keys():
            del self._kept[one]

    async def keep_only(self, endpoint_ids: Sequence[str]) -> None:
        kept = set(endpoint_ids)
        await self._engine.keep_only(endpoint_ids)
        for tenant, scan in list(self._scans.items()):
            gone = [one for one in scan.row_of if one not in kept]
            self._scans[tenant] = await asyncio.to_thread(scan.changed, (), gone)
        self._forget({one for one in self._tenants if one not in kept})
        self._tenants = {one: tenant for one, tenant in self._tenants.items() if one in kept}

    async def find(self, query: Query) -> list[Hit]:
        ranks = await self._ranks(query) if query.sparse.indices else {}
        scan = self._scan(query.tenant)
        if len(scan.ids) > _SCANNED_AT_ONCE:
            return await asyncio.to_thread(scan.find, query, ranks)
        return scan.find(query, ranks)

    async def _ranks(self, query: Query) -> dict[str, int]:
        hits = await self._engine.find(replace(query, lexical=Sparse()))
        return {hit.endpoint_id: hit.sparse_rank for hit in hits if hit.sparse_rank is not None}

    async def endpoints(self, endpoint_ids: Sequence[str]) -> list[Endpoint]:
        missing = [one for one in endpoint_ids if one not in self._kept]
        found = {one: self._kept[one] for one in endpoint_ids if one in self._kept}
        if missing:
            found |= await self._read(missing)
        for one in found.keys() & self._kept.keys():
            self._kept.move_to_end(one)
        return [found[one] for one in endpoint_ids if one in found]

    async def _read(self, endpoint_ids: list[str]) -> dict[str, Endpoint]:
        """Ask the engine. What changes while it answers is not kept: it may be the old state."""
        changes = self._changes
        read = {one.endpoint_id: one for one in await self._engine.endpoints(endpoint_ids)}
        if changes == self._changes:
            self._remember(read)
        return read

    def _remember(self, endpoints: dict[str, Endpoint]) -> None:
        self._kept |= endpoints
        while len(self._kept) > _ENDPOINTS_KEPT:
            self._kept.popitem(last=False)

    async def count(self) -> int:
        return await self._engine.count()

    async def close(self) -> None:
        await self._engine.close()
