"""A file is read in one sitting, a function without scrolling."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.contracts.sources import label, tracked

FILE_LINES = 300
FUNCTION_LINES = 50
VAGUE_NAMES = {"utils", "helpers", "common", "misc", "manager"}
PYTHON = tracked("*.py")


@pytest.mark.parametrize("file", PYTHON, ids=label)
def test_a_file_has_at_most_300_lines_and_its_functions_50(file: Path) -> None:
    text = file.read_text(encoding="utf-8")

    assert len(text.splitlines()) <= FILE_LINES
    long = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > FUNCTION_LINES
    ]
    assert not long


def test_every_file_is_named_by_its_thought() -> None:
    assert PYTHON
    assert [label(file) for file in PYTHON if file.stem in VAGUE_NAMES] == []
