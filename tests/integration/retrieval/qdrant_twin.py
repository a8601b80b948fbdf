"""A Qdrant server for machines that have none: qdrant-client's in-memory twin behind the server's own REST routes.

Several processes may share it, as they share a server; what they send goes through the client's real wire form.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from typing import Any

from pydantic import BaseModel, TypeAdapter
from qdrant_client import QdrantClient
from qdrant_client.http import models

Body = dict[str, Any]
Answer = Callable[[QdrantClient, str, Body], Any]

_DONE = {"operation_id": 1, "status": "completed"}
_VECTORS: TypeAdapter[Any] = TypeAdapter(dict[str, models.VectorParams])
_SPARSE: TypeAdapter[Any] = TypeAdapter(dict[str, models.SparseVectorParams])


def _create(twin: QdrantClient, name: str, body: Body) -> bool:
    return twin.create_collection(
        name,
        vectors_config=_VECTORS.validate_python(body["vectors"]),
        sparse_vectors_config=_SPARSE.validate_python(body["sparse_vectors"]),
    )


def _scroll(twin: QdrantClient, name: str, body: Body) -> Body:
    asked = models.ScrollRequest.model_validate(body)
    points, then = twin.scroll(name, limit=asked.limit or 10, offset=asked.offset, with_payload=asked.with_payload)
    return {"points": points, "next_page_offset": then}


def _delete(twin: QdrantClient, name: str, body: Body) -> Body:
    twin.delete(name, models.PointIdsList.model_validate(body))
    return _DONE


def _upsert(twin: QdrantClient, name: str, body: Body) -> Body:
    twin.upsert(name, models.PointsList.model_validate(body).points)
    return _DONE


def _retrieve(twin: QdrantClient, name: str, body: Body) -> Any:
    asked = models.PointRequest.model_validate(body)
    return twin.retrieve(name, asked.ids, with_payload=asked.with_payload)  # type: ignore[arg-type]


def _query(twin: QdrantClient, name: str, body: Body) -> Any:
    return twin.query_batch_points(name, models.QueryRequestBatch.model_validate(body).searches)


ROUTES: dict[tuple[str, str], Answer] = {
    ("GET", "/exists"): lambda twin, name, _: {"exists": twin.collection_exists(name)},
    ("GET", ""): lambda twin, name, _: twin.get_collection(name),
    ("PUT", ""): _create,
    ("DELETE", ""): lambda twin, name, _: twin.delete_collection(name),
    ("PUT", "/index"): lambda *_: _DONE,  # the twin needs none
    ("PUT", "/points"): _upsert,
    ("POST", "/points"): _retrieve,
    ("POST", "/points/delete"): _delete,
    ("POST", "/points/scroll"): _scroll,
    ("POST", "/points/count"): lambda twin, name, _: twin.count(name, exact=True),
    ("POST", "/points/query/batch"): _query,
}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    twin: QdrantClient
    lock: threading.Lock

    def _answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        found = re.fullmatch(r"/collections/([^/?]+)([^?]*)(\?.*)?", self.path)
        if found is None:
            self._send(200, {"title": "qdrant - twin", "version": metadata.version("qdrant-client")})
            return
        answer = ROUTES.get((self.command, found[2]))
        if answer is None:
            self._send(404, {"status": {"error": f"no route {self.command} {found[2]}"}, "time": 0.0})
            return
        try:
            with self.lock:
                result = answer(self.twin, found[1], body)
        except ValueError as error:
            self._send(400, {"status": {"error": str(error)}, "time": 0.0})
            return
        self._send(200, {"result": _plain(result), "status": "ok", "time": 0.0})

    def do_GET(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _send(self, status: int, content: Body) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_said: object) -> None: ...


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no fault of a test."""


def _plain(result: Any) -> Any:
    if isinstance(result, BaseModel):
        return result.model_dump(mode="json")
    if isinstance(result, list | tuple):
        return [_plain(one) for one in result]
    return {key: _plain(value) for key, value in result.items()} if isinstance(result, dict) else result


@contextmanager
def running_twin() -> Iterator[str]:
    """Serve an empty twin on loopback; yield its address."""
    twin = QdrantClient(":memory:")
    handler = type("Handler", (_Handler,), {"twin": twin, "lock": threading.Lock()})
    server = _Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        twin.close()
