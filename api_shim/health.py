"""Is the process alive, can the product answer, and what do the meters say."""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from api_shim.door import Door, door_of
from schemas.base import DoorModel
from schemas.registry import IndexState
from tasks.queues import QueueName
from workers.errors import StoreUnavailable
from workers.runtime.presence import Presence

_NEEDED = tuple(queue for queue in QueueName if queue is not QueueName.MAINTENANCE)
_LOOKED_AT = 500


class Readiness(DoorModel):
    """Answer of /readyz. `missing` says in words what is not there; empty means ready."""

    is_ready: bool
    missing: tuple[str, ...] = ()
    workers: dict[str, int] = Field(default_factory=dict)
    endpoints_registered: int = 0
    endpoints_indexed: int = 0


@dataclass(frozen=True)
class _Indexed:
    registered: int
    indexed: int


async def healthz(_request: Request) -> JSONResponse:
    """GET /healthz: the process answers; says nothing about its surroundings."""
    return JSONResponse({"status": "ok"})


async def readyz(request: Request) -> JSONResponse:
    """GET /readyz: 200 when a turn could be answered now, else 503 and what is missing."""
    readiness = await _readiness(door_of(request.scope))
    body = readiness.model_dump(mode="json", by_alias=True)
    return JSONResponse(body, 200 if readiness.is_ready else 503, {"cache-control": "no-store"})


async def _readiness(door: Door) -> Readiness:
    try:
        workers = await Presence(door.redis, door.keys, door.clock).serving(_NEEDED)
        endpoints = await _count_endpoints(door)
    except StoreUnavailable:
        return Readiness(is_ready=False, missing=("redis does not answer",))
    missing = [f"no worker serves the queue {queue}" for queue, count in workers.items() if not count]
    if not endpoints.registered:
        missing.append("no endpoint is registered")
    elif not endpoints.indexed:
        missing.append("no endpoint is indexed yet")
    return Readiness(
        is_ready=not missing,
        missing=tuple(missing),
        workers=workers,
        endpoints_registered=endpoints.registered,
        endpoints_indexed=endpoints.indexed,
    )


async def _count_endpoints(door: Door) -> _Indexed:
    """Count all, and how many of the first page are indexed: one is enough to be ready."""
    found = await door.registry.list("default", limit=_LOOKED_AT)
    indexed = sum(one.state is IndexState.INDEXED for one in found)
    return _Indexed(await door.registry.count("default"), indexed)


async def metrics(request: Request) -> Response:
    """GET /metrics, for Prometheus."""
    door = door_of(request.scope)
    door.metrics.queued.set(door.backlog.queued)
    return Response(generate_latest(door.metrics.registry), media_type=CONTENT_TYPE_LATEST)
