"""The demo API: fourteen public services over HTTP, on loopback.

Run with `python -m ops.demo.api --port 8190`. Every answer is derived from the request (and the day, where a service
has one), so the same question always gets the same answer. Faults are told as problem details (RFC 9457).
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, date, datetime
from typing import Annotated

import typer
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ops.demo.calendar import public_holidays, school_holidays
from ops.demo.civic import Library, companies, convert, votings
from ops.demo.energy import TALLINN, electricity_prices
from ops.demo.places import addresses, pharmacies, trains, weather
from ops.demo.requests import Given, Refused
from ops.demo.vehicles import parking_fines, vehicle_tax
from schemas.base import JsonValue

Today = Callable[[], date]
Service = Callable[[Given], JsonValue]

_TITLES = {400: "Bad request", 404: "Not found", 409: "Conflict", 422: "Unprocessable content"}
_LARGEST_BODY_BYTES = 64 * 1024
_LOG_LINES = 10_000


def today_in_tallinn() -> date:
    return datetime.now(UTC).astimezone(TALLINN).date()


def create_app(today: Today = today_in_tallinn) -> Starlette:
    """Build the application; `today` is the day that open periods end on."""
    library = Library()
    served: deque[str] = deque(maxlen=_LOG_LINES)
    services: dict[str, Service] = {
        "/public-holidays": public_holidays,
        "/school-holidays": school_holidays,
        "/electricity-prices": electricity_prices,
        "/vehicle-tax": vehicle_tax,
        "/parliament/votings": votings,
        "/addresses": addresses,
        "/currency/convert": convert,
        "/weather": weather,
        "/companies": companies,
        "/parking-fines": parking_fines,
        "/trains": trains,
        "/library/loans": library.loans,
        "/pharmacies": pharmacies,
    }
    routes = [Route(path, _get(service, today), methods=["GET"]) for path, service in services.items()]
    routes.append(Route("/library/renewals", _post(library.renew, today), methods=["POST"]))
    routes.append(Route("/healthz", _healthy, methods=["GET"]))
    routes.append(Route("/log", _log(served), methods=["GET"]))
    return Starlette(routes=routes, middleware=[Middleware(_Logged, served=served)])


class _Logged:
    """Notes each request but those about the API itself, so that a test can count what arrived."""

    def __init__(self, app: ASGIApp, served: deque[str]) -> None:
        self._app = app
        self._served = served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in ("/healthz", "/log"):
            query = scope["query_string"].decode("latin-1")
            self._served.append(f"{scope['method']} {scope['path']}{'?' if query else ''}{query}")
        await self._app(scope, receive, send)


def _log(served: deque[str]) -> Callable[[Request], Awaitable[Response]]:
    async def tell(_: Request) -> Response:
        return JSONResponse(list(served))

    return tell


def _get(service: Service, today: Today) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        return _answer(service, dict(request.query_params), today)

    return serve


def _post(service: Service, today: Today) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        body = await request.body()
        try:
            values = json.loads(body[: _LARGEST_BODY_BYTES + 1])
        except (ValueError, RecursionError):
            return _problem(400, "The body must be JSON.", [])
        if not isinstance(values, dict):
            return _problem(400, "The body must be a JSON object.", [])
        return _answer(service, values, today)

    return serve


def _answer(service: Service, values: Mapping[str, object], today: Today) -> Response:
    try:
        return JSONResponse(service(Given(values, today=today())))
    except Refused as refused:
        return _problem(refused.status, " ".join(message for _, message in refused.faults), refused.faults)


def _problem(status: int, detail: str, faults: list[tuple[str, str]]) -> Response:
    body = {"type": "about:blank", "title": _TITLES[status], "status": status, "detail": detail}
    errors = [{"field": field, "message": message} for field, message in faults]
    return JSONResponse({**body, "errors": errors}, status_code=status, media_type="application/problem+json")


async def _healthy(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def main(port: Annotated[int, typer.Option(min=0)] = 8190, host: str = "127.0.0.1") -> None:
    """Serve until stopped."""
    uvicorn.run(create_app(), host=host, port=port, log_level="warning", access_log=False)


if __name__ == "__main__":
    typer.run(main)
