"""Registers endpoints: validated here, stored, and handed to the indexing queue."""

from __future__ import annotations

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from api_shim.door import Door, door_of
from api_shim.failures import InvalidRequest, NoSuchThing
from api_shim.reading import faults_of_request, is_set, parse, read_body
from api_shim.tenancy import tenant_of
from schemas.base import DoorModel
from schemas.endpoints import Endpoint, Method
from schemas.failures import FieldError
from schemas.registration import EndpointRegistration
from schemas.registry import IndexState, Registered

_PAGE = 100
_LARGEST_PAGE = 500


class ToolState(DoorModel):
    """An endpoint and whether search finds it. `is_searchable` is known only where the client waited for it."""

    endpoint_id: str
    name: str
    state: IndexState
    reason: str = ""
    version: int
    is_searchable: bool | None = None


class ToolSummary(DoorModel):
    """One line of the list."""

    endpoint_id: str
    name: str
    description: str
    method: Method
    url: str
    state: IndexState
    reason: str = ""
    version: int


class ToolPage(DoorModel):
    """Answer of GET /api-tools; `total` counts all, not only this page."""

    total: int
    offset: int
    items: tuple[ToolSummary, ...]


class ToolDetail(ToolState):
    """Answer of GET /api-tools/{id}."""

    endpoint: Endpoint


async def register(request: Request) -> JSONResponse:
    """POST /api-tools: 202 when indexing is asked for; with ?wait=true 200 once every worker finds it."""
    scope = request.scope
    door = door_of(scope)
    body = await read_body(scope, request.receive, max_bytes=door.settings.shim.max_register_bytes)
    registration = parse(EndpointRegistration, body)
    with faults_of_request():
        endpoint = registration.to_endpoint(tenant_of(scope))
    stored = await door.registry.put(Registered(endpoint=endpoint, updated_at=door.clock()))
    await door.publisher.index(stored.endpoint.endpoint_id)
    if not is_set(scope, "wait"):
        return JSONResponse(_dump(_state(stored)), 202)
    return await _when_searchable(door, stored)


async def _when_searchable(door: Door, stored: Registered) -> JSONResponse:
    now, is_searchable = await _waited(door, stored)
    return JSONResponse(_dump(_state(now, is_searchable=is_searchable)), 200 if is_searchable else 202)


async def _waited(door: Door, stored: Registered) -> tuple[Registered, bool]:
    endpoint_id = stored.endpoint.endpoint_id
    is_searchable = await door.registry.wait_searchable(endpoint_id, door.settings.shim.index_wait_s)
    return await door.registry.get(endpoint_id) or stored, is_searchable


async def list_tools(request: Request) -> JSONResponse:
    """GET /api-tools, a page sorted by name."""
    door = door_of(request.scope)
    tenant = tenant_of(request.scope)
    offset = _number(request.query_params, "offset", default=0, largest=1_000_000_000)
    limit = _number(request.query_params, "limit", default=_PAGE, largest=_LARGEST_PAGE)
    found = await door.registry.list(tenant, offset=offset, limit=limit)
    page = ToolPage(total=await door.registry.count(tenant), offset=offset, items=tuple(_summary(one) for one in found))
    return JSONResponse(_dump(page))


async def show_tool(request: Request) -> JSONResponse:
    """GET /api-tools/{id}; with ?wait=true it answers once every worker finds the endpoint, or time is up."""
    door = door_of(request.scope)
    found = await door.registry.get(request.path_params["endpoint_id"], tenant=tenant_of(request.scope))
    if found is None:
        raise NoSuchThing
    is_searchable = None
    if is_set(request.scope, "wait"):
        found, is_searchable = await _waited(door, found)
    detail = ToolDetail(**_state(found, is_searchable=is_searchable).model_dump(), endpoint=found.endpoint)
    return JSONResponse(_dump(detail))


async def delete_tool(request: Request) -> Response:
    """DELETE /api-tools/{id}: 204, or 404 when it was not there."""
    door = door_of(request.scope)
    if not await door.registry.delete(request.path_params["endpoint_id"], tenant=tenant_of(request.scope)):
        raise NoSuchThing
    return Response(status_code=204)


def _state(registered: Registered, *, is_searchable: bool | None = None) -> ToolState:
    return ToolState(
        endpoint_id=registered.endpoint.endpoint_id,
        name=registered.endpoint.name,
        state=registered.state,
        reason=registered.reason,
        version=registered.endpoint.version,
        is_searchable=is_searchable,
    )


def _summary(registered: Registered) -> ToolSummary:
    endpoint = registered.endpoint
    return ToolSummary(
        endpoint_id=endpoint.endpoint_id,
        name=endpoint.name,
        description=endpoint.description,
        method=endpoint.method,
        url=endpoint.url,
        state=registered.state,
        reason=registered.reason,
        version=endpoint.version,
    )


def _dump(model: DoorModel) -> dict[str, object]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def _number(query: QueryParams, name: str, *, default: int, largest: int) -> int:
    given = query.get(name, str(default))
    if not (given.isascii() and given.isdigit() and len(given) <= len(str(largest)) and int(given) <= largest):
        raise InvalidRequest([FieldError(path=name, message=f"must be a whole number from 0 to {largest}")])
    return int(given)
