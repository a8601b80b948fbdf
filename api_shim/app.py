"""The ASGI app: `uvicorn --factory api_shim.app:create_app`. Starlette's router, one pure ASGI layer, nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypedDict

from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from api_shim.answering import Answering
from api_shim.api_tools import delete_tool, list_tools, register, show_tool
from api_shim.documentation import openapi
from api_shim.door import Door, open_door
from api_shim.failures import NoSuchThing
from api_shim.health import healthz, metrics, readyz
from api_shim.orchestrate import OrchestrateStream, orchestrate, orchestrate_test
from api_shim.pages import page_routes
from api_shim.searching import explain, search_tools
from api_shim.turns import TurnEvents, stop_turn, turn_state
from workers.runtime.logs import configure_logs
from workers.runtime.settings import Settings, settings


class _State(TypedDict):
    door: Door


def routes() -> list[Route]:
    """List every route; the documentation describes each of them."""
    return [
        Route("/orchestrate", orchestrate, methods=["POST"]),
        Route("/orchestrate/stream", OrchestrateStream(), methods=["POST"]),
        Route("/orchestrate/test", orchestrate_test, methods=["POST"]),
        Route("/turns/{turn_id}", turn_state, methods=["GET"]),
        Route("/turns/{turn_id}", stop_turn, methods=["DELETE"]),
        Route("/turns/{turn_id}/events", TurnEvents(), methods=["GET"]),
        Route("/api-tools", register, methods=["POST"]),
        Route("/rag-search/api-tools/index", register, methods=["POST"]),
        Route("/rag-search/api-tools/search", search_tools, methods=["POST"]),
        Route("/explain", explain, methods=["POST"]),
        Route("/api-tools", list_tools, methods=["GET"]),
        Route("/api-tools/{endpoint_id:path}", show_tool, methods=["GET"]),
        Route("/api-tools/{endpoint_id:path}", delete_tool, methods=["DELETE"]),
        Route("/healthz", healthz, methods=["GET"]),
        Route("/readyz", readyz, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Route("/openapi.json", openapi, methods=["GET"], include_in_schema=False),
        *page_routes(),
    ]


async def _nothing_here(scope: Scope, _receive: Receive, _send: Send) -> None:
    if scope["type"] == "http":
        raise NoSuchThing


def create_app(given: Settings | None = None) -> ASGIApp:
    """Build the app; its clients open with the server's lifespan and close with it. A server's app logs as we do."""
    read = given or settings()
    if given is None:
        configure_logs(read.local.log_level)

    @asynccontextmanager
    async def lifespan(_app: object) -> AsyncIterator[_State]:
        async with open_door(read) as door:
            yield {"door": door}

    router = Router(routes(), lifespan=lifespan, default=_nothing_here, redirect_slashes=False)
    return Answering(router)
