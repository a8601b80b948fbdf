"""README says what is: its links lead somewhere, its routes and commands exist, CI runs its test command."""

from __future__ import annotations

import re

import pytest
import typer
import typer.main

from api_shim.app import routes
from ops.cli.main import app
from tests.contracts.sources import REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [
    "README.md",
    "ops/README.md",
    "CONTRIBUTING.md",
    *sorted(f"ops/runbooks/{f.name}" for f in (REPOSITORY / "ops/runbooks").glob("*.md")),
]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_leads_to_a_file_of_ours(document: str) -> None:
    text = (REPOSITORY / document).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not link.startswith("http")]

    assert [link for link in links if not ((REPOSITORY / document).parent / link).exists()] == []


def test_every_route_that_it_calls_exists() -> None:
    called = {path.split("?")[0].rstrip("'") for path in re.findall(r"http://127\.0\.0\.1:8100(/[^\s'>]*)", README)}
    patterns = [route.path_regex for route in routes()]

    assert len(called) > 8
    assert [path for path in called if not any(pattern.fullmatch(path) for pattern in patterns)] == []


def test_every_command_that_the_documents_name_exists() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    named = {
        word
        for document in DOCUMENTS
        for word in re.findall(
            r"(?:^|`|bin/)signalbox ([a-z]+)", (REPOSITORY / document).read_text(encoding="utf-8"), flags=re.MULTILINE
        )
    }

    assert named == set(commands)


def test_every_make_target_that_it_names_exists() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))

    assert {"setup", "demo", "test", "check", "bench", "chaos", "up"} <= targets
    assert set(re.findall(r"\bmake ([a-z-]+)", README)) <= targets


def test_ci_runs_the_test_command_that_it_gives() -> None:
    script = (REPOSITORY / ".ci/run").read_text(encoding="utf-8")

    assert re.search(r"^make test\b", README, flags=re.MULTILINE)
    assert re.search(r"^make test$", script, flags=re.MULTILINE)
