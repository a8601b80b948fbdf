from __future__ import annotations

import pytest

from schemas.endpoints import Language
from tests.unit.workers.classification.tables import table
from workers.classification.decomposer import decompose

_TABLE = table("decomposition")
WHOLE = [(language, said) for language, kinds in _TABLE.items() for said in kinds["whole"]]
SPLIT = [(language, said, parts) for language, kinds in _TABLE.items() for said, parts in kinds["split"]]


@pytest.mark.parametrize(("language", "said"), WHOLE)
def test_one_request_stays_in_one_piece(language: Language, said: str) -> None:
    assert decompose(said, language).parts == (said,)


@pytest.mark.parametrize(("language", "said", "parts"), SPLIT)
def test_several_requests_come_apart_and_each_stands_alone(language: Language, said: str, parts: list[str]) -> None:
    assert decompose(said, language).parts == tuple(parts)


def test_a_part_without_its_own_opening_is_a_guess() -> None:
    assert not decompose("public holidays and school holidays", "en").is_explicit
    assert decompose("find an address and show my tax", "en").is_explicit


@pytest.mark.parametrize("said", ["", "   ", "?!", ",", "and", "and and and", ", , ,", "(x)", "()", "ja ja ja", "и"])
def test_odd_messages_are_not_split(said: str) -> None:
    assert not decompose(said, "en").is_split


@pytest.mark.parametrize("language", ["en", "et", "ru"])
def test_each_language_has_at_least_forty_utterances(language: str) -> None:
    assert len(_TABLE[language]["whole"]) + len(_TABLE[language]["split"]) >= 40
