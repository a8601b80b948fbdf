"""The chat page and the page of the documentation: read once, served from memory, nothing from other hosts."""

from __future__ import annotations

import hashlib
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_POLICY = (
    "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
    "object-src 'none'"
)


class Page:
    """One file. Browsers keep it and ask whether it changed."""

    def __init__(self, name: str) -> None:
        self._body = (resources.files(__package__) / "static" / name).read_bytes()
        self._headers = {
            "content-type": _TYPES[name[name.rindex(".") :]],
            "etag": f'"{hashlib.sha256(self._body).hexdigest()[:16]}"',
            "cache-control": "no-cache",
            "content-security-policy": _POLICY,
            "x-content-type-options": "nosniff",
            "referrer-policy": "same-origin",
        }

    async def serve(self, request: Request) -> Response:
        """Answer GET and HEAD; 304 when the browser has it."""
        if request.headers.get("if-none-match") == self._headers["etag"]:
            return Response(status_code=304, headers=self._headers)
        return Response(self._body, headers=self._headers)


def page_routes() -> list[Route]:
    """List the pages and their parts."""
    named = {"/": "index.html", "/docs": "docs.html"}
    parts = ("chat.css", "chat.js", "turn.js", "words.js", "sse.js", "docs.css", "docs.js", "icon.svg")
    files = named | {f"/static/{part}": part for part in parts}
    return [Route(path, Page(name).serve, include_in_schema=False) for path, name in files.items()]
