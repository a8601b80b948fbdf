"""A scripted OpenAI-compatible server on loopback, with every fault that real ones have.

It answers each request with the next line of its script; when the script has run out, with `otherwise`.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Request = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer of the server. `pieces` are what a stream sends, by default the content's words.

    `pause_s` follows each piece, and the half of an answer that is not streamed. `dies_after`: the connection is cut
    after so many pieces, or after that half (0: before any byte). `counts`: usage is given.
    `raw`: a body that is no completion at all.
    """

    content: str = ""
    status: int = 200
    retry_after: str | None = None
    delay_s: float = 0.0
    pieces: Sequence[str] | None = None
    pause_s: float = 0.0
    dies_after: int | None = None
    counts: bool = True
    finish: str | None = "stop"
    raw: bytes | None = None


Line = str | int | Reply | Callable[[Request], "str | int | Reply"]


@dataclass
class Script:
    """What the server will say, and what it was asked. `sent_at` are moments at which pieces left (monotonic)."""

    lines: list[Line]
    otherwise: Line = 500
    requests: list[Request] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    sent_at: list[float] = field(default_factory=list)
    base_url: str = ""

    def next(self, request: Request) -> Reply:
        line: Any = self.lines.pop(0) if self.lines else self.otherwise
        if callable(line):
            line = line(request)
        if isinstance(line, int):
            return Reply(status=line)
        return Reply(content=line) if isinstance(line, str) else line


def marked(**fields: str) -> str:
    """Write fields in DSPy's chat form."""
    return "\n\n".join(f"[[ ## {name} ## ]]\n{text}" for name, text in fields.items()) + "\n\n[[ ## completed ## ]]"


_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        script = self.script
        script.requests.append(request)
        script.headers.append({name.lower(): value for name, value in self.headers.items()})
        script.paths.append(self.path)
        reply = script.next(request)
        time.sleep(reply.delay_s)
        if reply.dies_after == 0:
            self._die()
        elif reply.status != 200 or reply.raw is not None or not request.get("stream"):
            self._whole(reply)
        else:
            self._stream(reply)

    def _die(self) -> None:
        self.close_connection = True
        self.connection.close()

    def _whole(self, reply: Reply) -> None:
        choice = {"index": 0, "message": {"role": "assistant", "content": reply.content}, "finish_reason": reply.finish}
        body: dict[str, Any] = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        if reply.counts:
            body["usage"] = _USAGE
        if reply.status != 200:
            body = {"error": {"message": "scripted", "type": "scripted", "code": "scripted"}}
        data = reply.raw if reply.raw is not None else json.dumps(body).encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if reply.retry_after is not None:
            self.send_header("Retry-After", reply.retry_after)
        self.end_headers()
        half = len(data) // 2
        self.wfile.write(data[:half])
        if reply.dies_after:
            self._die()
            return
        time.sleep(reply.pause_s)
        self.wfile.write(data[half:])

    def _stream(self, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        pieces = reply.pieces if reply.pieces is not None else re.findall(r"\s*\S+|\s+$", reply.content)
        for number, piece in enumerate(pieces, start=1):
            self._event({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]})
            self.script.sent_at.append(time.monotonic())
            time.sleep(reply.pause_s)
            if reply.dies_after == number:
                self._die()
                return
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish}]})
        if reply.counts:
            self._event({"choices": [], "usage": _USAGE})
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _event(self, fields: dict[str, Any]) -> None:
        body = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", **fields}
        self._chunk(b"data: " + json.dumps(body).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up in the middle is part of the script."""


@contextmanager
def scripted_model(*lines: Line, otherwise: Line = 500) -> Iterator[Script]:
    script = Script(list(lines), otherwise=otherwise)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"script": script}))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    script.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
