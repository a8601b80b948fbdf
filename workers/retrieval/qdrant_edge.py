"""VectorIndex on Qdrant Edge: the same engine, in this process, in a private shard in a temporary folder.

A shard belongs to one process (its log takes a lock; two writers corrupt it), so each process follows the registry
into its own. Nothing here needs to survive the process: the registry does.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import qdrant_edge as edge

from schemas.endpoints import Endpoint
from schemas.registry import Searchable, Sparse
from workers.retrieval.calibration import ModelCard
from workers.retrieval.index import (
    DENSE,
    FULL_SCAN_THRESHOLD,
    LEXICAL,
    SPARSE,
    DimensionMismatch,
    Hit,
    Query,
    collection_name,
    endpoint_of,
    payload_of,
    point_id,
)
from workers.retrieval.recipe import unpack

T = TypeVar("T")


def _vector(sparse: Sparse) -> Any:
    return edge.SparseVector(list(sparse.indices), list(sparse.values))


def _visible(query: Query) -> Any:
    conditions: list[Any] = [
        edge.FieldCondition("tenant", match=edge.MatchValue(query.tenant)),
        edge.FieldCondition("visibility", match=edge.MatchValue("public")),
    ]
    if query.among:
        conditions.append(edge.HasIdCondition({point_id(one) for one in query.among}))
    return edge.Filter(must=conditions)


class EdgeIndex:
    """One thread owns the shard: calls are serialized, and the event loop never waits for the engine.

    `has_words=False` leaves the lexical side out (80 of 300 MB at 10,000 endpoints): whoever mirrors this private shard
    answers it alone.
    """

    def __init__(self, card: ModelCard, *, has_words: bool = True) -> None:
        self._card = card
        self._has_words = has_words
        self._folder = ""
        self._shard: Any = None
        self._ids: dict[str, str] = {}
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="index")

    async def _run(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    async def open(self) -> None:
        await self._run(self._open)

    def _open(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="signalbox-index-")
        size = self._card.dimension
        config = edge.EdgeConfig(
            vectors={DENSE: edge.EdgeVectorParams(size=size, distance=edge.Distance.Cosine)},
            sparse_vectors={
                SPARSE: edge.EdgeSparseVectorParams(
                    full_scan_threshold=FULL_SCAN_THRESHOLD, modifier=edge.Modifier.Idf
                ),
                LEXICAL: edge.EdgeSparseVectorParams(full_scan_threshold=FULL_SCAN_THRESHOLD),
            },
            wal_enabled=False,
        )
        self._shard = edge.EdgeShard.create(self._folder, config)
        for name in ("tenant", "visibility"):
            self._shard.update(edge.UpdateOperation.create_field_index(name, edge.PayloadSchemaType.Keyword))

    async def apply(self, put: Sequence[Searchable], gone: Sequence[str]) -> None:
        points = [self._point(one) for one in put]
        await self._run(lambda: self._apply(points, [point_id(one) for one in gone]))

    def _point(self, one: Searchable) -> Any:
        dense = unpack(one.dense)
        if len(dense) != self._card.dimension:
            raise DimensionMismatch(collection_name(self._card), expected=len(dense), found=self._card.dimension)
        vectors = {DENSE: dense.tolist(), SPARSE: _vector(one.sparse)}
        if self._has_words:
            vectors[LEXICAL] = _vector(one.lexical)
        return edge.Point(point_id(one.endpoint.endpoint_id), vectors, payload_of(one))

    def _apply(self, points: list[Any], gone: list[str]) -> None:
        if points:
            self._shard.update(edge.UpdateOperation.upsert_points(points))
            self._ids |= {str(point.id): point.payload["endpoint_id"] for point in points}
        if gone:
            self._shard.update(edge.UpdateOperation.delete_points(list[Any](gone)))
            for one in gone:
                self._ids.pop(one, None)

    async def keep_only(self, endpoint_ids: Sequence[str]) -> None:
        kept = set(endpoint_ids)
        await self.apply((), [one for one in list(self._ids.values()) if one not in kept])

    async def find(self, query: Query) -> list[Hit]:
        return await self._run(lambda: self._find(query))

    def _find(self, query: Query) -> list[Hit]:
        visible = _visible(query)
        dense_side = query.dense.tolist()
        dense = self._nearest(dense_side, DENSE, visible, query.limit)
        lexical = self._nearest(_vector(query.lexical), LEXICAL, visible, query.limit) if query.lexical.indices else {}
        sparse = self._nearest(_vector(query.sparse), SPARSE, visible, query.limit) if query.sparse.indices else {}
        ranks = {one: rank for rank, one in enumerate(sparse, start=1)}
        found = dense.keys() | lexical.keys() | sparse.keys()
        dense |= self._rest(found - dense.keys(), dense_side, DENSE)
        if query.lexical.indices:
            lexical |= self._rest(found - lexical.keys(), _vector(query.lexical), LEXICAL)
        return [
            Hit(
                endpoint_id=self._ids[one],
                dense=dense.get(one, 0.0),
                lexical=lexical.get(one, 0.0),
                sparse_rank=ranks.get(one),
            )
            for one in found
        ]

    def _rest(self, missing: set[str], vector: Any, side: str) -> dict[str, float]:
        """Score the points that only another side found."""
        if not missing:
            return {}
        return self._nearest(vector, side, edge.Filter(must=[edge.HasIdCondition(set[Any](missing))]), len(missing))

    def _nearest(self, vector: Any, side: str, wanted: Any, limit: int) -> dict[str, float]:
        nearest = edge.Query.Nearest(vector, using=side)
        request = edge.QueryRequest(limit=limit, query=nearest, filter=wanted, with_payload=False)
        return {str(point.id): float(point.score) for point in self._shard.query(request)}

    async def endpoints(self, endpoint_ids: Sequence[str]) -> list[Endpoint]:
        ids = [point_id(one) for one in endpoint_ids]
        records = await self._run(lambda: self._shard.retrieve(ids, with_payload=True, with_vector=False))
        found = {str(record.id): record.payload for record in records}
        return [endpoint_of(found[one]) for one in ids if one in found]

    async def count(self) -> int:
        return int(await self._run(lambda: self._shard.count(edge.CountRequest(exact=True))))

    async def close(self) -> None:
        if self._shard is not None:
            await self._run(self._shard.close)
            self._shard = None
        self._executor.shutdown(wait=True)
        shutil.rmtree(self._folder, ignore_errors=True)
