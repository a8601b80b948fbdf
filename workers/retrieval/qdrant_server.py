"""VectorIndex on a Qdrant server: one collection per model, shared by all processes.

Every process follows the registry and applies what it reads; a point that is already there as it should be is not
written again, so the second process to come costs a look-up. Writes wait until they can be found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import ApiException

from schemas.endpoints import Endpoint
from schemas.registry import Searchable, Sparse
from workers.errors import StoreUnavailable
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

_PAGE = 1_000
Scores = dict[str, float]


@contextmanager
def _answering() -> Iterator[None]:
    """Raise StoreUnavailable where the server is away or answers with an error; `from` tells which."""
    try:
        yield
    except ApiException as error:
        raise StoreUnavailable(f"the Qdrant server did not do it: {type(error).__name__}") from error


def _vector(sparse: Sparse) -> models.SparseVector:
    return models.SparseVector(indices=list(sparse.indices), values=list(sparse.values))


def _visible(query: Query) -> models.Filter:
    conditions: list[models.Condition] = [
        models.FieldCondition(key="tenant", match=models.MatchValue(value=query.tenant)),
        models.FieldCondition(key="visibility", match=models.MatchValue(value="public")),
    ]
    if query.among:
        conditions.append(models.HasIdCondition(has_id=[point_id(one) for one in sorted(query.among)]))
    return models.Filter(must=conditions)


class ServerIndex:
    """Speaks to the server through one client, which it closes."""

    def __init__(self, client: AsyncQdrantClient, card: ModelCard) -> None:
        self._client = client
        self._card = card
        self._name = collection_name(card)

    async def open(self) -> None:
        with _answering():
            if not await self._client.collection_exists(self._name):
                await self._create()
            await self._check()
            # One that is there already costs nothing; the process that made the collection may have died before them.
            for name in ("tenant", "visibility"):
                await self._client.create_payload_index(self._name, name, models.PayloadSchemaType.KEYWORD)

    async def _create(self) -> None:
        try:
            await self._client.create_collection(
                self._name,
                vectors_config={DENSE: models.VectorParams(size=self._card.dimension, distance=models.Distance.COSINE)},
                sparse_vectors_config={
                    SPARSE: models.SparseVectorParams(
                        index=models.SparseIndexParams(full_scan_threshold=FULL_SCAN_THRESHOLD, on_disk=False),
                        modifier=models.Modifier.IDF,
                    ),
                    LEXICAL: models.SparseVectorParams(
                        index=models.SparseIndexParams(full_scan_threshold=FULL_SCAN_THRESHOLD, on_disk=False)
                    ),
                },
            )
        except ApiException:  # another process may have made it since we looked
            if not await self._client.collection_exists(self._name):
                raise

    async def _check(self) -> None:
        vectors = (await self._client.get_collection(self._name)).config.params.vectors
        params = vectors.get(DENSE) if isinstance(vectors, dict) else None
        if params is None or params.size != self._card.dimension:
            raise DimensionMismatch(
                self._name, expected=self._card.dimension, found=params.size if params is not None else 0
            )

    async def apply(self, put: Sequence[Searchable], gone: Sequence[str]) -> None:
        with _answering():
            for one in put:
                size = len(unpack(one.dense))
                if size != self._card.dimension:
                    raise DimensionMismatch(self._name, expected=size, found=self._card.dimension)
            points = [self._point(one) for one in await self._changed(put)]
            if points:
                await self._client.upsert(self._name, points, wait=True)
            if gone:
                ids = models.PointIdsList(points=[point_id(one) for one in gone])
                await self._client.delete(self._name, ids, wait=True)

    async def _changed(self, put: Sequence[Searchable]) -> list[Searchable]:
        """Leave out the points that another process has already put."""
        ids = [point_id(one.endpoint.endpoint_id) for one in put]
        fields = ["fingerprint", "version"]
        known = await self._client.retrieve(self._name, ids, with_payload=fields) if ids else []
        stored = {str(record.id): record.payload for record in known}
        return [
            one
            for one, found in zip(put, (stored.get(i) for i in ids), strict=True)
            if found != {"fingerprint": one.fingerprint, "version": one.endpoint.version}
        ]

    def _point(self, one: Searchable) -> models.PointStruct:
        return models.PointStruct(
            id=point_id(one.endpoint.endpoint_id),
            vector={DENSE: unpack(one.dense).tolist(), SPARSE: _vector(one.sparse), LEXICAL: _vector(one.lexical)},
            payload=payload_of(one),
        )

    async def keep_only(self, endpoint_ids: Sequence[str]) -> None:
        """As the protocol says, but an empty list changes nothing: a wiped registry must not empty a shared index."""
        with _answering():
            kept = {point_id(one) for one in endpoint_ids}
            if not kept:
                return
            offset = None
            gone: list[str] = []
            while True:
                records, offset = await self._client.scroll(
                    self._name, limit=_PAGE, offset=offset, with_payload=False, with_vectors=False
                )
                gone += [str(record.id) for record in records if str(record.id) not in kept]
                if offset is None:
                    break
            if gone:
                await self._client.delete(self._name, models.PointIdsList(points=list(gone)), wait=True)

    async def find(self, query: Query) -> list[Hit]:
        with _answering():
            return await self._find(query)

    async def _find(self, query: Query) -> list[Hit]:
        sides: dict[str, list[float] | models.SparseVector] = {DENSE: query.dense.tolist()}
        if query.lexical.indices:
            sides[LEXICAL] = _vector(query.lexical)
        if query.sparse.indices:
            sides[SPARSE] = _vector(query.sparse)
        visible = _visible(query)
        first = await self._nearest({side: (vector, visible, query.limit) for side, vector in sides.items()})
        found = set().union(*first.values())
        rest = {
            side: (vector, models.Filter(must=[models.HasIdCondition(has_id=list(missing))]), len(missing))
            for side, vector in sides.items()
            if side != SPARSE and (missing := found - first[side].keys())
        }
        second = await self._nearest(rest) if rest else {}
        dense, lexical = ({**first.get(side, {}), **second.get(side, {})} for side in (DENSE, LEXICAL))
        ranks = {one: rank for rank, one in enumerate(first.get(SPARSE, {}), start=1)}
        names = await self._endpoint_ids(found)
        return [
            Hit(
                endpoint_id=names[one],
                dense=dense.get(one, 0.0),
                lexical=lexical.get(one, 0.0),
                sparse_rank=ranks.get(one),
            )
            for one in found
            if one in names
        ]

    async def _nearest(
        self, asked: dict[str, tuple[list[float] | models.SparseVector, models.Filter, int]]
    ) -> dict[str, Scores]:
        """Ask several sides in one round trip."""
        requests = [
            models.QueryRequest(query=vector, using=side, filter=wanted, limit=limit, with_payload=False)
            for side, (vector, wanted, limit) in asked.items()
        ]
        replies = await self._client.query_batch_points(self._name, requests)
        return {
            side: {str(point.id): point.score for point in reply.points}
            for side, reply in zip(asked, replies, strict=True)
        }

    async def _endpoint_ids(self, points: set[str]) -> dict[str, str]:
        if not points:
            return {}
        records = await self._client.retrieve(self._name, list(points), with_payload=["endpoint_id"])
        return {str(record.id): str((record.payload or {})["endpoint_id"]) for record in records}

    async def endpoints(self, endpoint_ids: Sequence[str]) -> list[Endpoint]:
        with _answering():
            ids = [point_id(one) for one in endpoint_ids]
            if not ids:
                return []
            records = await self._client.retrieve(self._name, list(ids), with_payload=True)
            found = {str(record.id): record.payload or {} for record in records}
            return [endpoint_of(found[one]) for one in ids if one in found]

    async def count(self) -> int:
        with _answering():
            return (await self._client.count(self._name, exact=True)).count

    async def close(self) -> None:
        await self._client.close()
