"""What goes in and out of the endpoint registry: an endpoint and the state of its index."""

from __future__ import annotations

from enum import StrEnum

from schemas.base import AwareDatetime, Frozen
from schemas.endpoints import Endpoint


class IndexState(StrEnum):
    """Whether search can find an endpoint."""

    PENDING = "pending"
    INDEXED = "indexed"
    FAILED = "failed"
    STALE = "stale"


class Registered(Frozen):
    """An endpoint as the registry holds it. `reason` says why indexing failed; `model` embedded it."""

    endpoint: Endpoint
    state: IndexState = IndexState.PENDING
    reason: str = ""
    model: str = ""
    updated_at: AwareDatetime
