"""The sentences that people read exist in all three languages, with the same placeholders."""

from __future__ import annotations

import re
import string
import tomllib
from pathlib import Path

import pytest

from schemas.calls import FailureReason
from schemas.failures import FailureCode
from tests.contracts.sources import REPOSITORY, tracked
from workers.messages import catalog

FOLDER = REPOSITORY / "workers" / "messages"
ROOMS = sorted({file.name.partition(".")[2] for file in FOLDER.glob("*.toml")})
CYRILLIC = re.compile(r"[А-Яа-яЁё]")


def _entries(language: str, room: str) -> dict[str, str | list[str]]:
    file = FOLDER / f"{language}.{room}"
    sections = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return {f"{section}.{name}": value for section, entries in sections.items() for name, value in entries.items()}


def _placeholders(sentence: str | list[str]) -> set[str]:
    if isinstance(sentence, list):
        return set()
    return {field for _, field, _, _ in string.Formatter().parse(sentence) if field is not None}


@pytest.mark.parametrize("language", ["et", "ru"])
@pytest.mark.parametrize("room", ROOMS)
def test_every_sentence_exists_in_every_language_with_the_same_placeholders(room: str, language: str) -> None:
    english, other = _entries("en", room), _entries(language, room)

    assert english
    assert set(other) == set(english)
    differing = {key for key in english if _placeholders(english[key]) != _placeholders(other[key])}
    assert differing == set()
    kinds = {key for key in english if type(english[key]) is not type(other[key])}
    assert kinds == set()


@pytest.mark.parametrize("room", ROOMS)
def test_a_sentence_is_written_in_its_language(room: str) -> None:
    latin = {
        key for key, value in _entries("ru", room).items() if isinstance(value, str) and not _speaks_russian(value)
    }
    cyrillic = {key for key, value in _entries("et", room).items() if isinstance(value, str) and CYRILLIC.search(value)}

    assert latin == set()
    assert cyrillic == set()


def _speaks_russian(value: str) -> bool:
    """A sentence of placeholders, digits and signs alone belongs to no language."""
    letters = re.sub(r"\{[^}]*\}", "", value)
    return not re.search(r"[A-Za-z]{3,}", letters) or CYRILLIC.search(letters) is not None


def test_no_two_files_of_a_language_define_the_same_key() -> None:
    keys = [key for room in ROOMS for key in _entries("en", room)]

    assert sorted(keys) == sorted(set(keys))


@pytest.mark.parametrize("code", list(FailureCode))
def test_every_failure_has_its_sentence(code: FailureCode) -> None:
    assert catalog.text(f"failure.{code.value}", "et", error_id="ERR-1")


@pytest.mark.parametrize("reason", list(FailureReason))
def test_every_reason_of_a_failed_call_has_its_sentence(reason: FailureReason) -> None:
    assert any(f"call.{reason.value}" in _entries("en", room) for room in ROOMS)


def test_every_key_that_the_code_asks_for_exists() -> None:
    asked = re.compile(r"""(?<![\w.])(?:text|phrases)\(\s*"([a-z_]+\.[a-z_0-9]+)\"""")
    known = {key for room in ROOMS for key in _entries("en", room)}
    found: dict[str, Path] = {}
    for file in tracked("workers/**.py", "api_shim/**.py", "tasks/**.py"):
        found |= dict.fromkeys(asked.findall(file.read_text(encoding="utf-8")), file)

    assert {key: str(file) for key, file in found.items() if key not in known} == {}
