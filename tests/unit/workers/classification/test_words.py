from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.classification.decomposer import decompose
from workers.classification.language import detect
from workers.classification.requests import is_bare_value
from workers.classification.smalltalk import small_talk
from workers.classification.vocabulary import expand
from workers.classification.words import fold, folded_words


@pytest.mark.parametrize(
    ("word", "expected"),
    [("Aitäh", "aitah"), ("ещё", "еще"), ("Мой", "мой"), ("what's", "whats"), ("heiiii", "hei"), ("ŠÕBER", "sober")],
)
def test_words_are_folded_for_comparison(word: str, expected: str) -> None:
    assert fold(word) == expected


def test_punctuation_separates_words() -> None:
    assert folded_words("Tere-tere, 2026-01-01!") == ("tere", "tere", "2026", "01", "01")


def test_a_pattern_allows_alternatives_and_omissions() -> None:
    assert set(expand("what can|could you? do")) == {
        ("what", "can", "you", "do"),
        ("what", "could", "you", "do"),
        ("what", "can", "do"),
        ("what", "could", "do"),
    }


@settings(deadline=None)  # the first call loads the word lists and the language model
@given(st.text(max_size=200))
def test_no_text_breaks_the_rules(text: str) -> None:
    language = detect(text, previous=None)

    small_talk(text)
    is_bare_value(text, language)
    assert all(part.strip() or part == text for part in decompose(text, language).parts)
