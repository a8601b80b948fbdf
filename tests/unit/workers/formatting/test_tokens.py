"""Streaming a finished text word by word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.formatting.tokens import tokens


@given(st.text())
def test_the_concatenation_is_the_text(text: str) -> None:
    assert "".join(tokens(text)) == text


def test_a_word_carries_the_space_after_it() -> None:
    assert list(tokens("Tere, ilus  ilm!\n– jah")) == ["Tere, ", "ilus  ", "ilm!\n", "– ", "jah"]


def test_an_amount_is_not_torn_at_its_no_break_space() -> None:
    assert list(tokens("maks on 127,40\u00a0€ kokku")) == ["maks ", "on ", "127,40\u00a0€ ", "kokku"]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "👩‍👩‍👧 perekond", "e\u0301 ö"])
def test_edges_are_kept(text: str) -> None:
    assert "".join(tokens(text)) == text
    assert all(tokens(text))
