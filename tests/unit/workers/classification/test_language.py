from __future__ import annotations

import pytest

from schemas.endpoints import Language
from tests.unit.workers.classification.tables import table
from workers.classification.language import detect, written

_TABLE = table("language")
FIRST = [(language, said) for language in ("en", "et", "ru") for said in _TABLE[language]["messages"]]
LATER = [(group["previous"], said, group["next"]) for group in _TABLE["later"] for said in group["said"]]


@pytest.mark.parametrize(("language", "said"), FIRST)
def test_a_first_message_is_answered_in_its_language(language: str, said: str) -> None:
    assert detect(said, previous=None) == language


@pytest.mark.parametrize(("previous", "said", "expected"), LATER)
def test_short_turns_keep_the_language_and_whole_sentences_switch_it(
    previous: Language, said: str, expected: Language
) -> None:
    assert detect(said, previous=previous) == expected


@pytest.mark.parametrize("said", ["123ABC", "Tallinn", "2026-01-01", "", "Steuern für mein Auto berechnen"])
def test_names_values_and_other_languages_are_written_in_none_of_ours(said: str) -> None:
    assert written(said) is None


@pytest.mark.parametrize("language", ["en", "et", "ru"])
def test_each_language_has_at_least_forty_utterances(language: str) -> None:
    assert len(_TABLE[language]["messages"]) >= 40
