"""Reading answers that miss the asked form."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.llm.repair import read_loosely

OBJECT = {"found": dict[str, Any]}


@pytest.mark.parametrize(
    "answer",
    [
        '[[ ## found ## ]]\n{"a": 1}\n[[ ## completed ## ]]',
        '[[## found ##]] {"a": 1}',
        '```json\n{"found": {"a": 1}}\n```',
        '```\n{"a": 1}',
        'Here you are: {"a": 1}. Anything else?',
        "{'found': {'a': 1,}}",
        '{"found": {"a": 1',
    ],
)
def test_the_object_is_found(answer: str) -> None:
    assert read_loosely(answer, OBJECT) == {"found": {"a": 1}}


@pytest.mark.parametrize("answer", ["", "I do not know.", "[1, 2]", '[[ ## other ## ]]\n"x"', "null"])
def test_what_holds_no_object_is_unreadable(answer: str) -> None:
    assert read_loosely(answer, OBJECT) is None


def test_prose_is_an_answer_only_where_one_is_asked_for() -> None:
    assert read_loosely("It rains.", {"text": str}) is None
    assert read_loosely("It rains.", {"text": str}, prose_is_answer=True) == {"text": "It rains."}


@pytest.mark.parametrize("answer", ['{"rain": true}', "```\nrain\n```", "[1]"])
def test_json_is_never_prose(answer: str) -> None:
    assert read_loosely(answer, {"text": str}, prose_is_answer=True) is None


def test_several_fields_must_all_be_there() -> None:
    fields = {"mode": str, "parts": list[str]}

    assert read_loosely('{"mode": "single", "parts": []}', fields) == {"mode": "single", "parts": []}
    assert read_loosely('{"mode": "single"}', fields) is None


@given(st.text(max_size=200))
def test_nothing_crashes_it(answer: str) -> None:
    read_loosely(answer, OBJECT)
