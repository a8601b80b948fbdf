"""A real HTTP API on loopback that knows one right value for each path, and complains of any other in its own form."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import httpx

REASONS = {
    "/parcels": "no parcel has this code",
    "/permits": "must be the number of a valid permit",
    "/loans": "The card number is not known here.",
}
RIGHT = {"/parcels": "RR700", "/permits": "4711", "/loans": "K2000"}
UNEXPLAINED = "Z0000"
"""A value for which every path answers 409 and names nothing."""
NAMES = {"/parcels": "parcelCode", "/permits": "permitNumber", "/loans": "cardNumber"}
SAID = {
    "en": ("parcel tracking", "parking permit", "library loans", "parcel code", "permit number", "card number"),
    "et": ("paki jälgimine", "parkimisluba", "raamatukogu laenutused", "paki kood", "loa number", "kaardi number"),
    "ru": (
        "отслеживание посылки",
        "разрешение на парковку",
        "книги из библиотеки",
        "код посылки",
        "номер разрешения",
        "номер карты",
    ),
}
DESCRIPTIONS = {
    "/parcels": "Tracks a parcel: tells where the parcel with a parcel code is now.",
    "/permits": "Tells until when a parking permit is valid, by its permit number.",
    "/loans": "Lists the books that a reader has on loan from the library, by the number of the library card.",
}


class _Api(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """Answer the right value; complain about any other: problem+json, a validation list, or plain text."""
        split = urlsplit(self.path)
        name = NAMES[split.path]
        said = parse_qs(split.query).get(name, [""])[0]
        self.server.seen.append((split.path, said))
        if said == RIGHT[split.path]:
            self._reply(200, "application/json", {"status": f"found {said}"})
        elif said == UNEXPLAINED:
            self._reply(409, "application/json", {"message": "Please come back tomorrow."})
        elif split.path == "/parcels":
            problem = {"name": name, "reason": REASONS[split.path]}
            self._reply(
                422, "application/problem+json", {"title": "Bad request", "status": 422, "invalid-params": [problem]}
            )
        elif split.path == "/permits":
            fault = {"loc": ["query", name], "msg": REASONS[split.path], "type": "value_error"}
            self._reply(400, "application/json", {"detail": [fault]})
        else:
            self._reply(404, "text/plain", REASONS[split.path])

    def _reply(self, status: int, media_type: str, body: object) -> None:
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


class _Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Api)
        self.seen: list[tuple[str, str]] = []


class ComplainingApi:
    """The running API. `seen` are path and value of every call, in order."""

    def __init__(self, server: _Server) -> None:
        self._server = server

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def values_of(self, path: str) -> list[str]:
        return [value for seen, value in self._server.seen if seen == path]


@contextmanager
def running_complaining_api() -> Iterator[ComplainingApi]:
    server = _Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield ComplainingApi(server)
    finally:
        server.shutdown()
        thread.join(timeout=5)
        server.server_close()


def register_all(shim_url: str, api: ComplainingApi) -> None:
    """Register the three endpoints; all are searchable when this returns."""
    for place, (path, name) in enumerate(NAMES.items()):
        titles = {language: said[place] for language, said in SAID.items()}
        labels = {language: said[place + 3] for language, said in SAID.items()}
        body = {
            "endpointId": f"5c1d3f6e-0000-4000-8000-00000000000{place}",
            "name": f"get_{path.removeprefix('/')}",
            "description": DESCRIPTIONS[path],
            "titles": titles,
            "examples": {
                language: [f"{titles[language]}, {labels[language]} {RIGHT[path]}", titles[language]]
                for language in SAID
            },
            "url": f"{api.url}{path}",
            "params": [
                {
                    "name": name,
                    "required": True,
                    "description": labels["en"].capitalize(),
                    "labels": labels,
                    "example": RIGHT[path],
                }
            ],
        }
        reply = httpx.post(f"{shim_url}/api-tools?wait=true", json=body, timeout=30, trust_env=False)
        assert reply.status_code in (200, 201), reply.text
