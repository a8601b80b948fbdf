"""The embedding server's client, against a real HTTP server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from workers.retrieval.calibration import E5
from workers.retrieval.embedder import EmbedderAway, EmbedderRefused, ServedEmbedder


class Server:
    def __init__(self) -> None:
        self.status = 200
        self.dimension = 384
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(asked)
                outer.keys.append(self.headers["Authorization"])
                data = [
                    {"index": n, "embedding": [float(len(text))] * outer.dimension}
                    for n, text in enumerate(asked["input"])
                ]
                body = json.dumps({"data": data[::-1]}).encode()
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                del args

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"


@pytest.fixture
def server() -> Iterator[Server]:
    served = Server()
    thread = threading.Thread(target=served.http.serve_forever, daemon=True)
    thread.start()
    yield served
    served.http.shutdown()
    served.http.server_close()
    thread.join()


async def test_texts_go_out_with_the_models_prefix_and_come_back_in_order(server: Server) -> None:
    embedder = ServedEmbedder(url=server.url, model=E5, api_key="k")

    vectors = await embedder.embed_queries(["a", "bcd"])
    await embedder.close()

    assert server.requests == [{"model": E5, "input": ["query: a", "query: bcd"]}]
    assert server.keys == ["Bearer k"]
    assert [vector[0] for vector in vectors] == [8.0, 10.0]


async def test_many_texts_go_out_in_batches(server: Server) -> None:
    embedder = ServedEmbedder(url=server.url, model=E5)

    assert len(await embedder.embed_passages(["x"] * 70)) == 70
    await embedder.close()
    assert [len(asked["input"]) for asked in server.requests] == [32, 32, 6]


@pytest.mark.parametrize(("status", "error"), [(429, EmbedderAway), (503, EmbedderAway), (401, EmbedderRefused)])
async def test_a_status_says_whether_to_try_again(server: Server, status: int, error: type[Exception]) -> None:
    server.status = status
    embedder = ServedEmbedder(url=server.url, model=E5)

    with pytest.raises(error):
        await embedder.embed_queries(["a"])
    await embedder.close()


async def test_vectors_of_another_size_are_refused(server: Server) -> None:
    server.dimension = 3
    embedder = ServedEmbedder(url=server.url, model=E5)

    with pytest.raises(EmbedderRefused, match="384"):
        await embedder.embed_queries(["a"])
    await embedder.close()


async def test_a_server_that_is_away_may_come_back() -> None:
    embedder = ServedEmbedder(url="http://127.0.0.1:1", model=E5)

    with pytest.raises(EmbedderAway):
        await embedder.embed_queries(["a"])
    await embedder.close()
