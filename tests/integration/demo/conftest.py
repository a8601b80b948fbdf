"""The demo API on loopback, on a fixed day."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import date

import pytest
import uvicorn

from ops.demo.api import create_app
from tests.conftest import free_port

TODAY = date(2026, 12, 1)


@pytest.fixture(scope="session")
def demo_url() -> Iterator[str]:
    port = free_port()
    config = uvicorn.Config(create_app(lambda: TODAY), host="127.0.0.1", port=port, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(timeout=10)
