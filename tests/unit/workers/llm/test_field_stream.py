"""Taking one field's text out of a model's stream."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.llm.field_stream import FieldStream


def shown(pieces: list[str]) -> str:
    stream = FieldStream("answer")
    return "".join(stream.feed(piece) for piece in pieces)


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (["[[ ## answer ## ]]\nYes.\n\n[[ ## completed ## ]]"], "Yes."),
        (["[[ ##", " answer", " ## ]]", "\n", "Yes.", "\n\n[[", " ## completed ## ]]"], "Yes."),
        (["[[ ## reasoning ## ]]\nhidden\n[[ ## answer ## ]]\nYes."], "Yes."),
        (["[[ ## answer ## ]]\n", "See [1] and ", "[[2]]", " too"], "See [1] and [[2]] too"),
        (['{"answer": "Yes."}'], ""),
        (["no mark at all"], ""),
    ],
)
def test_only_the_text_of_the_field_leaves(pieces: list[str], text: str) -> None:
    assert shown(pieces) == text


def test_a_word_leaves_with_the_piece_that_brings_it() -> None:
    stream = FieldStream("answer")
    stream.feed("[[ ## answer ## ]]\n")

    assert stream.feed("It") == "It"
    assert stream.feed(" costs") == " costs"


@given(st.text(alphabet=st.sampled_from("ab [#]\n"), max_size=30), st.lists(st.integers(1, 4), min_size=1))
def test_no_way_of_cutting_lets_a_mark_through(text: str, lengths: list[int]) -> None:
    whole = f"[[ ## answer ## ]]\nx{text}y\n\n[[ ## completed ## ]]"
    pieces, at = [], 0
    while at < len(whole):
        for length in lengths:
            pieces.append(whole[at : at + length])
            at += length

    assert shown(pieces) == f"x{text}y"
