"""What search asks of a vector engine. Two engines answer: Qdrant Edge (in process) and a Qdrant server."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from schemas.endpoints import Endpoint
from schemas.registry import Searchable, Sparse
from workers.errors import PermanentError
from workers.retrieval.calibration import ModelCard, Vector
from workers.retrieval.embed_text import embed_text

DENSE = "dense"
SPARSE = "sparse"
LEXICAL = "lexical"
COLLECTION = "api_tool_collection"
FULL_SCAN_THRESHOLD = 1
"""Below its default of 5,000 filtered points the engine scores every point by itself: 1.0 ms at 1,000 points and
questions of a hundred features, where the inverted index takes 0.13 ms."""
_NAMESPACE = uuid.UUID("3b1f7a52-6f0d-5a53-8e1e-6c1d6a2f9d10")
_FIELDS = frozenset(Endpoint.model_fields)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class DimensionMismatch(PermanentError):
    """Vectors of another size than the collection's. Nothing is recreated: somebody must choose."""

    def __init__(self, collection: str, *, expected: int, found: int) -> None:
        super().__init__(
            f"{collection} holds vectors of {found} dimensions, the model makes {expected}; "
            "index into a collection of its own, or delete this one by hand"
        )
        self.expected = expected
        self.found = found


@dataclass(frozen=True, kw_only=True)
class Query:
    """One question as vectors. `limit` bounds each side; an empty side is left out.

    `among`, when not empty, names the only endpoints that may be found.
    """

    tenant: str
    dense: Vector
    sparse: Sparse = field(default_factory=Sparse)
    lexical: Sparse = field(default_factory=Sparse)
    among: frozenset[str] = frozenset()
    limit: int = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One endpoint that some side found, with the scores of all sides.

    `dense` is the cosine, `lexical` the covered share, `sparse_rank` the place (from 1) among the IDF-weighted hits,
    or None. `lacking`: how many numbers the endpoint needs that the question does not say (no engine knows it).
    """

    endpoint_id: str
    dense: float
    lexical: float
    sparse_rank: int | None = None
    lacking: int = 0


class VectorIndex(Protocol):
    """Points of one model. A point is replaced whole, in one operation; it is found as soon as `apply` returns."""

    async def open(self) -> None:
        """Make the collection, or check the one that is there. Raises DimensionMismatch."""
        ...

    async def apply(self, put: Sequence[Searchable], gone: Sequence[str]) -> None:
        """Put points (instead of those of the same endpoints) and take points away. Raises DimensionMismatch."""
        ...

    async def keep_only(self, endpoint_ids: Sequence[str]) -> None:
        """Take away every point of an endpoint that is not named."""
        ...

    async def find(self, query: Query) -> list[Hit]:
        """Return the union of what the sides find among the tenant's public endpoints, in no particular order."""
        ...

    async def endpoints(self, endpoint_ids: Sequence[str]) -> list[Endpoint]:
        """Return the stored endpoints in the order of the ids; unknown ids are left out."""
        ...

    async def count(self) -> int:
        """Return the number of points."""
        ...

    async def close(self) -> None: ...


def collection_name(card: ModelCard) -> str:
    """Name the collection of a model: vectors of two models never meet."""
    return f"{COLLECTION}.{card.tag}"


def point_id(endpoint_id: str) -> str:
    """Return the endpoint id itself when it is a UUID, else a UUID derived from it (the engine takes no other text)."""
    return endpoint_id.lower() if _UUID.fullmatch(endpoint_id) else str(uuid.uuid5(_NAMESPACE, endpoint_id))


def payload_of(searchable: Searchable) -> dict[str, object]:
    """Return what stands beside the vectors: the fields that are filtered by, the embed text, the whole endpoint."""
    endpoint = searchable.endpoint
    return {
        "endpoint_id": endpoint.endpoint_id,
        "tenant": endpoint.tenant,
        "visibility": endpoint.visibility,
        "fingerprint": searchable.fingerprint,
        "embed_text": embed_text(endpoint),
        **endpoint.model_dump(mode="json", exclude={"endpoint_id", "tenant", "visibility"}),
    }


def endpoint_of(payload: dict[str, object]) -> Endpoint:
    """Read the endpoint back from its payload."""
    return Endpoint.model_validate({key: value for key, value in payload.items() if key in _FIELDS})
