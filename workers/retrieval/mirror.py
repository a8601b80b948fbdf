"""VectorIndex that answers from this process's memory and keeps an engine in step.

The engine holds everything and stays the truth: each change goes there first, and the words of fusion by ranks are
weighed there. But asking it for a hundred features took 3 to 9 ms, and for five whole endpoints 0.9 ms; the same
scores from arrays, and the endpoints from their packed text, take a tenth to a fifth. Nothing is found here before the
engine has it too.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from schemas.endpoints import Endpoint
from schemas.registry import Searchable, Sparse
from workers.retrieval.calibration import ModelCard
from workers.retrieval.index import Hit, Query, VectorIndex
from workers.retrieval.scan import Scan

_ENDPOINTS_KEPT = 1_024
"""Endpoints kept unpacked (some KB each)."""

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
        self._packed: dict[str, bytes] = {}

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
        new, packed = await asyncio.to_thread(
            lambda: (
                {tenant: scan.changed(fresh[tenant], stale[tenant]) for tenant, scan in old.items()},
                {one.endpoint.endpoint_id: _pack(one.endpoint) for one in put},
            )
        )
        self._scans |= new
        for one_id in gone:
            self._tenants.pop(one_id, None)
        self._tenants |= {one.endpoint.endpoint_id: one.endpoint.tenant for one in put}
        self._forget(gone)
        self._packed |= packed

    def _scan(self, tenant: str) -> Scan:
        return self._scans.get(tenant) or Scan.empty(self._card.dimension)

    def _forget(self, endpoint_ids: Iterable[str]) -> None:
        for one in endpoint_ids:
            self._packed.pop(one, None)

    async def keep_only(self, endpoint_ids: Sequence[str]) -> None:
        kept = set(endpoint_ids)
        await self._engine.keep_only(endpoint_ids)
        for tenant, scan in list(self._scans.items()):
            gone = [one for one in scan.row_of if one not in kept]
            self._scans[tenant] = await asyncio.to_thread(scan.changed, (), gone)
        self._forget([one for one in self._packed if one not in kept])
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
        return [_unpack(self._packed[one]) for one in endpoint_ids if one in self._packed]

    async def count(self) -> int:
        return await self._engine.count()

    async def close(self) -> None:
        await self._engine.close()


def _pack(endpoint: Endpoint) -> bytes:
    """Write an endpoint small: 0.2 to 1 KB, where the object takes ten times as much.

    Its own defaults need no room; those of its parts stay, for some of them say what the part is (`auth.kind`).
    """
    plain = {name for name, default in _defaults().items() if getattr(endpoint, name) == default}
    return zlib.compress(endpoint.model_dump_json(exclude=plain).encode(), level=1)


@cache
def _defaults() -> dict[str, object]:
    fields = Endpoint.model_fields.items()
    return {name: one.get_default(call_default_factory=True) for name, one in fields if not one.is_required()}


@lru_cache(_ENDPOINTS_KEPT)
def _unpack(packed: bytes) -> Endpoint:
    """Read what `_pack` wrote (35 µs); a changed endpoint has other bytes, so nothing old is kept for it."""
    return Endpoint.model_validate_json(zlib.decompress(packed))
