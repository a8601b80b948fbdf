from __future__ import annotations

import pytest

from tests.unit.workers.classification.tables import table
from workers.classification.smalltalk import Talk, small_talk

_TABLE = table("smalltalk")
TALK = [(kind, said) for kinds in _TABLE.values() for kind, all_said in kinds.items() for said in all_said]


@pytest.mark.parametrize(("kind", "said"), [case for case in TALK if case[0] != "requests"])
def test_small_talk_is_recognised_by_its_kind(kind: str, said: str) -> None:
    assert small_talk(said) is Talk(kind)


@pytest.mark.parametrize("said", [said for kind, said in TALK if kind == "requests"])
def test_a_request_is_never_small_talk(said: str) -> None:
    assert small_talk(said) is None


@pytest.mark.parametrize("said", ["???", "…", "😀", "!"])
def test_a_message_without_words_is_unclear(said: str) -> None:
    assert small_talk(said) is Talk.UNCLEAR


@pytest.mark.parametrize("language", ["en", "et", "ru"])
def test_each_language_has_at_least_forty_utterances(language: str) -> None:
    assert sum(len(said) for said in _TABLE[language].values()) >= 40
