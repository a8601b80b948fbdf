"""What goes in and out of the endpoint registry: an endpoint, the state of its index, and what search needs of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schemas.base import AwareDatetime, Frozen
from schemas.endpoints import Endpoint


class IndexState(StrEnum):
    """Whether search can find an endpoint."""

    PENDING = "pending"
    INDEXED = "indexed"
    FAILED = "failed"
    STALE = "stale"


EnrichedBy = Literal["owner", "rules", "model"]
"""Who wrote an endpoint's `enriched_context`."""


class Registered(Frozen):
    """An endpoint as the registry holds it. `reason` says why indexing failed; `model` embedded it."""

    endpoint: Endpoint
    state: IndexState = IndexState.PENDING
    reason: str = ""
    model: str = ""
    updated_at: AwareDatetime


class Sparse(Frozen):
    """A sparse vector: strictly ascending indices (unsigned 32 bit), and one value for each."""

    indices: tuple[int, ...] = ()
    values: tuple[float, ...] = ()


class Searchable(Frozen):
    """An endpoint as search sees it, enriched, with its vectors.

    `dense` is base64 of little-endian float32, as long as the model's dimension. `model` names what made the vectors
    (vectors of two models never meet); `fingerprint` is a digest of everything they were made from; `enriched_by` tells
    who wrote the endpoint's context.
    """

    endpoint: Endpoint
    model: str
    fingerprint: str
    dense: str
    sparse: Sparse = Sparse()
    lexical: Sparse = Sparse()
    enriched_by: EnrichedBy = "rules"
