"""A real HTTP API on loopback whose path says how a call to it fails. It notes each request, and when it came."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SLOW_S = 1.5
LARGE_BYTES = 3 * 1024 * 1024
SHORT_WAIT_S = 1
LONG_WAIT_S = 600
LANDING = "/landing"
_STATUSES = {"/denied": 401, "/broken": 500, "/breaking": 503, "/moved": 302, "/slow_down": 429}


class _Api(BaseHTTPRequestHandler):
    server: FailingApi

    def do_GET(self) -> None:
        """Fail as the path says; `/busy_once` and `/away_once` ask for a short wait, and answer after it."""
        path = self.path.partition("?")[0]
        self.server.requests.append((path, time.monotonic()))
        if path == "/slow":
            time.sleep(SLOW_S)
        status = _STATUSES.get(path, 200)
        wait_s = LONG_WAIT_S if path == "/slow_down" else None
        if path.endswith("_once") and len(self.server.moments(path)) == 1:
            status, wait_s = (429 if path == "/busy_once" else 503), SHORT_WAIT_S
        body = b"x" * LARGE_BYTES if path == "/large" else b"Open until nine."
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        if path == "/moved":
            self.send_header("Location", LANDING)
        if wait_s is not None:
            self.send_header("Retry-After", str(wait_s))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Take the request, and hang up."""
        self.server.requests.append((self.path, time.monotonic()))
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


class FailingApi(ThreadingHTTPServer):
    """The running API."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Api)
        self.requests: list[tuple[str, float]] = []

    def moments(self, path: str) -> list[float]:
        """When requests for the path came, in seconds of the monotonic clock."""
        return [moment for asked, moment in self.requests if asked == path]

    def handle_error(self, *_: object) -> None:
        """A client that stops reading is what some paths are for."""


@contextmanager
def running_failing_api() -> Iterator[FailingApi]:
    """Serve on loopback."""
    server = FailingApi()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(timeout=5)
        server.server_close()
