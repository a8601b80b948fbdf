from __future__ import annotations

import pytest

from schemas.endpoints import Endpoint, ParamSpec
from schemas.registry import Searchable, Sparse
from workers.retrieval.calibration import LARGE, card_of
from workers.retrieval.corpus import Corpus
from workers.retrieval.index import Hit
from workers.retrieval.ranking import fuse
from workers.retrieval.wanting import LACKING, lacking, numbers_needed, numbers_said


def endpoint(name: str, *params: ParamSpec) -> Endpoint:
    return Endpoint(endpoint_id=name, name=name, description=name, url="https://api.example/x", params=params)


SEATS = ParamSpec(name="seats", type="integer", required=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Book 2 seats to Narva at 17:30", 2),
        ("Broneeri kaks kohta", 1),
        ("Забронируй три места", 1),
        ("1,250.50 EUR", 1),
        ("one of the trains", 0),
        ("", 0),
    ],
)
def test_numbers_are_heard_as_digits_and_as_words(text: str, said: int) -> None:
    assert numbers_said(text) == said


def test_only_numbers_that_a_call_cannot_do_without_are_needed() -> None:
    optional = ParamSpec(name="page", type="integer")
    filled = ParamSpec(name="limit", type="integer", required=True, default=10)
    chosen = ParamSpec.model_validate({"name": "size", "type": "integer", "required": True, "enum": ["1", "2"]})
    text = ParamSpec(name="town", required=True)

    assert numbers_needed(endpoint("a", optional, filled, chosen, text)) == 0
    assert numbers_needed(endpoint("a", SEATS, ParamSpec(name="price", type="number", required=True))) == 2


@pytest.mark.parametrize(("needed", "said", "missing"), [(0, 0, 0), (1, 0, 1), (1, 3, 0), (9, 1, 2)])
def test_at_most_two_are_held_against_an_endpoint(needed: int, said: int, missing: int) -> None:
    assert lacking(needed, said) == missing


def test_of_two_that_are_alike_the_one_whose_numbers_are_said_comes_first() -> None:
    card = card_of(LARGE)
    corpus = Corpus(card)
    for one in (endpoint("book_seats", SEATS), endpoint("list_trains")):
        empty = Sparse()
        corpus.put(Searchable(endpoint=one, model="", fingerprint="", dense="", sparse=empty, lexical=empty))
    hits = [
        Hit(endpoint_id="book_seats", dense=0.51, lexical=0.0),
        Hit(endpoint_id="list_trains", dense=0.50, lexical=0),
    ]

    bare, told = (fuse(corpus.weighed(hits, text), card) for text in ("trains to Narva", "two seats to Narva"))

    assert [one.endpoint_id for one in bare] == ["list_trains", "book_seats"]
    assert [one.endpoint_id for one in told] == ["book_seats", "list_trains"]
    assert bare[1].fused == pytest.approx(0.51 - LACKING)
    assert bare[1].score == pytest.approx(told[0].score - LACKING)


def test_a_dropped_endpoint_needs_nothing_any_more() -> None:
    corpus = Corpus(card_of(LARGE))
    empty = Sparse()
    for one in (endpoint("a", SEATS), endpoint("a")):
        corpus.put(Searchable(endpoint=one, model="", fingerprint="", dense="", sparse=empty, lexical=empty))
    hit = Hit(endpoint_id="a", dense=0.5, lexical=0.0)

    assert corpus.weighed([hit], "anything") == [hit]
