"""The API behind the scripted dialogues: the demo's services and a town's, with a log of every call that came in."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from ops.demo.api import create_app
from ops.local.catalogue import DEMO_CATALOGUE, read_catalogue

TOWN_CATALOGUE = Path(__file__).parent / "town_catalogue.yaml"
_VACANCIES = [
    {
        "title": title,
        "field": field,
        "salary": 1500 + 90 * place,
        "currency": "EUR",
        "deadline": f"2026-12-{place + 10}",
    }
    for place, (title, field) in enumerate(
        [(f"Teacher of class {grade}", "education") for grade in range(1, 12)]
        + [(f"Driver of line {line}", "transport") for line in range(1, 5)]
    )
]

Entries = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Seen:
    """One call as it came in: the endpoint's name, and every value by its parameter's name."""

    endpoint: str
    values: dict[str, Any]


@dataclass
class TownApi:
    """Where it listens, what it offers, and what it has seen."""

    url: str
    entries: Entries
    seen: list[Seen] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, seen: Seen) -> None:
        with self._lock:
            self.seen.append(seen)

    def name_of(self, method: str, path: str) -> tuple[str, dict[str, str]]:
        """Name the endpoint that a request is for, and the values in its path."""
        for entry in self.entries:
            template = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(urlsplit(entry["url"]).path))
            found = re.fullmatch(template, path)
            if found and entry["method"] == method:
                return str(entry["name"]), found.groupdict()
        return f"{method} {path}", {}


class _Log(BaseHTTPMiddleware):
    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        api: TownApi = request.app.state.api
        name, values = api.name_of(request.method, request.url.path)
        given: dict[str, Any] = dict(values)
        for key in request.query_params:
            said = request.query_params.getlist(key)
            given[key] = said if len(said) > 1 else said[0]
        if request.method == "POST":
            given |= json.loads(await request.body())
        api.note(Seen(name, given))
        return await call_next(request)


async def _air(request: Request) -> Response:
    towns = [town for said in request.query_params.getlist("towns") for town in said.split(",")]
    return JSONResponse([{"town": town, "airQualityIndex": 10 + len(town)} for town in towns])


async def _halls(request: Request) -> Response:
    body = await request.json()
    return JSONResponse({"reservation": "H-2041", "start": body["start"], "end": body["end"]})


async def _certificates(request: Request) -> Response:
    return JSONResponse({"status": "ordered", "sentTo": request.query_params["email"]})


async def _transfer_fee(request: Request) -> Response:
    return JSONResponse({"fee": 3.5, "currency": request.query_params["currency"]})


async def _potholes(_request: Request) -> Response:
    return JSONResponse({"report": "P-77", "status": "received"})


async def _visas(request: Request) -> Response:
    needs = request.query_params["toCountry"] in ("IN", "CN")
    return JSONResponse({"visaRequired": needs, "longestStayDays": 90})


async def _building(request: Request) -> Response:
    code = request.path_params["code"]
    rooms = {"flats": 12, "offices": 2}
    return JSONResponse({"building": {"register": {"entry": {"code": code, "use": "dwelling house", "rooms": rooms}}}})


async def _vacancies(request: Request) -> Response:
    wanted = request.query_params.get("field", "all")
    found = [dict(one) for one in _VACANCIES if wanted in ("all", one["field"])]
    return JSONResponse({"vacancies": found, "total": len(found)})


async def _tax_debts(request: Request) -> Response:
    return JSONResponse({"registryCode": request.query_params["registryCode"], "debt": 1234.56, "currency": "EUR"})


def _application(api: TownApi) -> Starlette:
    services = {
        "/air": _air, "/certificates": _certificates, "/transfer-fee": _transfer_fee, "/visas": _visas,
        "/buildings/{code}": _building, "/vacancies": _vacancies, "/tax-debts": _tax_debts,
    }  # fmt: skip
    routes = [Route(path, service, methods=["GET"]) for path, service in services.items()]
    routes += [Route("/halls", _halls, methods=["POST"]), Route("/potholes", _potholes, methods=["POST"])]
    app = Starlette(routes=[*routes, Mount("/", create_app())], middleware=[Middleware(_Log)])
    app.state.api = api
    return app


@contextmanager
def running_town_api() -> Iterator[TownApi]:
    """Serve on a free port of loopback, in a thread, until the block ends."""
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    entries = [entry for file in (DEMO_CATALOGUE, TOWN_CATALOGUE) for entry in read_catalogue(file, demo_url=url)]
    api = TownApi(url=url, entries=entries)
    server = uvicorn.Server(uvicorn.Config(_application(api), log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield api
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listening.close()
