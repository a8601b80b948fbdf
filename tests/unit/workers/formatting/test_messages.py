"""The room's sentences stand in all three languages, with the same places to fill."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

MESSAGES = Path(__file__).parents[4] / "workers" / "messages"
PLURALS = {"en": 2, "et": 2, "ru": 3}


def flat(language: str) -> dict[str, Any]:
    sections = tomllib.loads((MESSAGES / f"{language}.formatting.toml").read_text(encoding="utf-8"))
    return {f"{section}.{name}": value for section, entries in sections.items() for name, value in entries.items()}


def places(value: Any) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", " ".join(value) if isinstance(value, list) else value))


@pytest.mark.parametrize("language", ["et", "ru"])
def test_a_language_has_the_same_sentences_and_places(language: str) -> None:
    english, other = flat("en"), flat(language)

    assert english.keys() == other.keys()
    assert {key: places(value) for key, value in english.items()} == {key: places(v) for key, v in other.items()}


@pytest.mark.parametrize("language", PLURALS)
def test_counted_sentences_have_every_plural_form(language: str) -> None:
    sentences = flat(language)

    assert len(sentences["formatting.found_list"]) == PLURALS[language]
    assert len(sentences["formatting.entries"]) == PLURALS[language]
    assert len(sentences["calendar.months"]) == 12
    assert len(sentences["calendar.weekdays"]) == 7
