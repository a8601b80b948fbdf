from __future__ import annotations

import pytest

from schemas.calls import FailureReason
from schemas.endpoints import LANGUAGES, Language
from workers.messages.catalog import text


@pytest.mark.parametrize("reason", FailureReason)
def test_every_reason_has_a_sentence_of_its_own_in_each_language(reason: FailureReason) -> None:
    sentences = {text(f"call.{reason}", language) for language in LANGUAGES}

    assert len(sentences) == len(LANGUAGES)
    assert all(sentence.endswith(".") for sentence in sentences)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_reasons_share_a_sentence(language: Language) -> None:
    assert len({text(f"call.{reason}", language) for reason in FailureReason}) == len(FailureReason)
