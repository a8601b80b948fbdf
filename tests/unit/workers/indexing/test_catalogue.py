from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from workers.indexing.catalogue import load

GOOD = """
endpoints:
  - name: get_weather
    description: Weather forecast.
    url: https://x.ee/weather
    examples: {et: ["Milline ilm on homme?"]}
  - name: broken
    description: No scheme.
    url: x.ee
  - just a text
  - name: get_tax
    description: Vehicle tax.
    url: https://x.ee/tax
    method: TRACE
"""


def test_one_bad_entry_never_stops_the_rest() -> None:
    endpoints, problems = load(GOOD)

    assert [one.name for one in endpoints] == ["get_weather"]
    assert [(p.entry, p.name, p.path) for p in problems] == [
        (1, "broken", "url"),
        (2, "", ""),
        (3, "get_tax", "method"),
    ]


def test_a_list_and_json_are_read_too(tmp_path: Path) -> None:
    file = tmp_path / "catalogue.json"
    file.write_text('[{"name": "a", "description": "b", "url": "https://x.ee/"}]', encoding="utf-8")

    assert [one.tenant for one in load(file, tenant="acme")[0]] == ["acme"]
    assert load(str(file))[0] == load(file)[0]


def test_an_entry_seen_twice_is_kept_once() -> None:
    entry = '{"name": "a", "description": "b", "url": "https://x.ee/"}'

    endpoints, problems = load(f"[{entry}, {entry}]")

    assert len(endpoints) == 1
    assert [(p.entry, p.path) for p in problems] == [(1, "endpointId")]


@pytest.mark.parametrize(
    "text", ["{not: [yaml", "endpoints: 5\n", "\n", "[" * 5_000], ids=["broken", "number", "empty", "deep"]
)
def test_a_document_that_is_no_catalogue_is_one_problem(text: str) -> None:
    endpoints, problems = load(text)

    assert endpoints == []
    assert [p.entry for p in problems] == [None]


def test_a_missing_file_is_an_error() -> None:
    with pytest.raises(OSError, match="nowhere"):
        load(Path("/nowhere/catalogue.yaml"))


def test_indexing_loads_no_language_model() -> None:
    code = (
        "import sys, workers.indexing.indexer, workers.indexing.catalogue;"
        "print([m for m in ('dspy', 'litellm', 'openai', 'qdrant_client') if m in sys.modules])"
    )

    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert said.stdout.strip() == "[]"
