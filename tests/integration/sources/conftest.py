"""Real Redis, worker and beat, and a folder served over HTTP from which sources are read."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from ops.local.options import StackOptions
from ops.local.stack import Stack
from schemas.sources import SourceRun
from tests.conftest import free_port
from workers.runtime.keys import Keys

Cli = Callable[..., Any]


class _Quiet(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path.startswith("/elsewhere"):
            self.send_response(302)
            self.send_header("location", "http://localhost:1/secret.json")
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, *_said: object) -> None: ...


@dataclass
class Sources:
    """The folder, its address, and the stack that reads from it."""

    folder: Path
    url: str
    stack: Stack
    known: list[dict[str, object]] = field(default_factory=list)

    def write(self, file: str, content: object) -> None:
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        (self.folder / file).write_text(text, encoding="utf-8")

    def add(self, **source: object) -> None:
        """Put one more source into the list; those of other tests stay."""
        self.known.append(source)
        self.write("sources.yaml", {"sources": self.known})

    def listed(self) -> dict[str, dict[str, Any]]:
        reply = httpx.get(f"{self.stack.url}/api-tools?limit=500", trust_env=False, timeout=30)
        return {one["name"]: one for one in reply.json()["items"]}

    def last(self, source: str) -> SourceRun | None:
        """The source's last run, as the workers noted it."""
        with redis.Redis.from_url(self.stack.redis_url, decode_responses=True) as client:
            raw = client.hget(Keys().source_runs(), source)
        return SourceRun.model_validate_json(str(raw)) if raw else None

    def wait_for_state(self, source: str, state: str) -> SourceRun:
        """Wait until the last run came to that, and return it."""

        def has_come() -> bool:
            last = self.last(source)
            return last is not None and last.state == state

        self.wait_for(has_come, f"{source} is {state}")
        last = self.last(source)
        assert last is not None
        return last

    def wait_for(self, is_so: Callable[[], object], what: str, within_s: float = 60.0) -> None:
        deadline = time.monotonic() + within_s
        while not is_so():
            assert time.monotonic() < deadline, f"{what}; listed: {self.listed()}"
            time.sleep(0.2)


def entry(name: str, text: str = "", **changes: object) -> dict[str, object]:
    return {
        "name": name,
        "description": text or f"Tell what {name} says.",
        "url": f"https://api.example.ee/{name}",
        "params": [{"name": "day", "type": "date", "required": True, "description": "The day"}],
        **changes,
    }


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sources]:
    folder = tmp_path_factory.mktemp("served")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (folder / "sources.yaml").write_text("[]", encoding="utf-8")
    options = StackOptions(
        data_dir=tmp_path_factory.mktemp("stack"),
        shim_port=free_port(),
        with_demo=False,
        environment={
            "INDEXING_SOURCES_FILE": str(folder / "sources.yaml"),
            "INDEXING_LOOK_EVERY_S": "1",
            "CALLING_ALLOWED_HOSTS": f"127.0.0.1:{server.server_port}",
        },
    )
    with Stack(options) as stack:
        yield Sources(folder, f"http://127.0.0.1:{server.server_port}", stack)
    server.shutdown()
    server.server_close()
