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
from workers.runtime.settings import settings

SPEC = {
    "openapi": "3.0.0",
    "info": {"title": "Pets"},
    "servers": [{"url": "/v1"}],
    "paths": {"/pets": {"get": {"summary": "List pets"}, "head": {}}},
}


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_said: object) -> None: ...


@pytest.fixture(autouse=True)
def _loopback_is_allowed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CALLING_ALLOWED_HOSTS", "127.0.0.1")
    settings.cache_clear()
    yield
    settings.cache_clear()


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
    gone = {f"{served}/gone.json": "answered 404"}
    for source in (*gone, str(tmp_path / "gone.json"), "http://127.0.0.1:1/x"):
        result = run(source, "--dry-run")

        assert result.exit_code == 1
        assert gone.get(source, "can't be read") in result.output


def test_the_report_names_each_operation_and_the_counts(tmp_path: Path) -> None:
    file = tmp_path / "api.json"
    file.write_text(json.dumps(SPEC), encoding="utf-8")

    result = run(str(file), "--dry-run", "--server", "https://pets.ee")

    assert "GET /pets" in result.stdout
    assert "1 taken, 0 changed, 0 skipped, 1 refused" in result.stdout


@pytest.mark.parametrize(
    "source", ["http://127.0.0.1:{port}/api.json", "http://2130706433:{port}/api.json", "http://169.254.169.254/latest"]
)
def test_a_document_at_an_inner_address_is_refused_unless_the_operator_opens_it(
    served: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CALLING_ALLOWED_HOSTS")
    settings.cache_clear()

    result = run(source.format(port=served.rpartition(":")[2]), "--dry-run")

    assert result.exit_code == 1
    assert "may not be read" in result.output
    assert "CALLING_ALLOWED_HOSTS" in result.output


def test_files_that_a_document_refers_to_are_fetched_from_its_host(served: str, tmp_path: Path) -> None:
    parameter = {"name": "kind", "in": "query", "schema": {"type": "string"}}
    (tmp_path / "parts.json").write_text(json.dumps({"kind": parameter}), encoding="utf-8")
    refers = {"parameters": [{"$ref": "parts.json#/kind"}], "summary": "List pets"}
    lost = {"parameters": [{"$ref": "gone.json#/kind"}], "summary": "Lists more pets"}
    paths = {"/pets": {"get": refers}, "/more": {"get": lost}}
    (tmp_path / "api.json").write_text(json.dumps(SPEC | {"paths": paths}), encoding="utf-8")

    told = json.loads(run(f"{served}/api.json", "--dry-run", "--json").stdout)["operations"]

    assert (told[0]["state"], [param["name"] for param in told[0]["params"]]) == ("taken", ["kind"])
    assert told[1]["state"] == "refused"
    assert "gone.json#/kind leads out of the document" in told[1]["remarks"][0]["reason"]


def test_a_document_that_redirects_to_another_host_is_not_followed(tmp_path: Path) -> None:
    class Elsewhere(_Silent):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("location", "http://127.0.0.2/api.json")
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Elsewhere, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    result = run(f"http://127.0.0.1:{server.server_port}/api.json", "--dry-run")

    server.shutdown()
    thread.join()
    server.server_close()
    assert result.exit_code == 1
    assert "another host, 127.0.0.2" in result.output
