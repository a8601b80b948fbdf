"""`signalbox import` as an operator runs it: from a file and from a real HTTP server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ops.cli.main import app

SPEC = {
    "openapi": "3.0.0",
    "info": {"title": "Pets"},
    "servers": [{"url": "/v1"}],
    "paths": {"/pets": {"get": {"summary": "List pets"}, "head": {}}},
}


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_said: object) -> None: ...


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "api.json").write_text(json.dumps(SPEC), encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["import", *arguments])


def test_a_url_is_read_and_its_relative_server_is_found(served: str) -> None:
    result = run(f"{served}/api.json", "--dry-run", "--json")

    told = json.loads(result.stdout)
    assert [(o["method"], o["state"]) for o in told["operations"]] == [("GET", "taken"), ("HEAD", "refused")]
    assert told["operations"][0]["endpoint"]["url"] == f"{served}/v1/pets"
    assert result.exit_code == 1  # one was refused


def test_a_missing_page_and_a_missing_file_are_told(served: str, tmp_path: Path) -> None:
    for source in (f"{served}/gone.json", str(tmp_path / "gone.json"), "http://127.0.0.1:1/x"):
        result = run(source, "--dry-run")

        assert result.exit_code == 1
        assert "can't be read" in result.output


def test_the_report_names_each_operation_and_the_counts(tmp_path: Path) -> None:
    file = tmp_path / "api.json"
    file.write_text(json.dumps(SPEC), encoding="utf-8")

    result = run(str(file), "--dry-run", "--server", "https://pets.ee")

    assert "GET /pets" in result.stdout
    assert "1 taken, 0 changed, 0 skipped, 1 refused" in result.stdout
