from __future__ import annotations

import pytest

from schemas.endpoints import Language
from schemas.routing import Candidate, Layer
from tests.unit.workers.classification import twins
from tests.unit.workers.classification.twins import HOLIDAYS, PRICES, SCHOOL, WordSearch
from workers.classification.ood_layer import OodLayer


def layer(search: WordSearch) -> OodLayer:
    return OodLayer(search=search, near_cosine=0.33, match_cosine=0.40)


class Near(WordSearch):
    """Finds no match; these are the nearest."""

    def __init__(self, near: tuple[Candidate, ...]) -> None:
        super().__init__()
        self._near = near

    async def nearest(self, text: str, *, tenant: str, limit: int) -> tuple[Candidate, ...]:
        assert text
        assert tenant == "default"
        return self._near[:limit]


@pytest.mark.parametrize(
    ("language", "named"),
    [
        ("en", "public holidays and school holidays"),
        ("et", "riigipühad ja koolivaheajad"),
        ("ru", "праздники и каникулы"),
    ],
)
async def test_a_refusal_names_two_things_that_we_can_do(language: Language, named: str) -> None:
    decision = await layer(WordSearch()).claim(twins.message("write a poem", language=language))

    assert (decision.layer, decision.language) == (Layer.OOD, language)
    assert named in decision.reply


async def test_with_search_down_the_refusal_is_still_polite() -> None:
    decision = await layer(WordSearch(is_down=True)).claim(twins.message("write a poem"))

    assert "What can you do?" in decision.reply


@pytest.mark.parametrize(
    ("language", "asked"), [("en", "Did you mean"), ("et", "Kas mõtlesite"), ("ru", "Вы имели в виду")]
)
async def test_what_is_almost_a_match_is_offered_beside_the_refusal(language: Language, asked: str) -> None:
    said = "do we work on Midsummer"
    near = (twins.candidate(HOLIDAYS, 0.38), twins.candidate(SCHOOL, 0.31), twins.candidate(PRICES, 0.12))

    decision = await layer(Near(near)).claim(twins.message(said, language=language))

    assert (decision.layer, decision.rule, decision.endpoints) == (Layer.OOD, "nearest_offered", ())
    assert asked in decision.reply
    assert [choice.payload for choice in decision.choices] == [
        "#endpoint:holidays",
        "#endpoint:school",
        "#endpoint:prices",
    ]
    assert not decision.asks_to_choose


async def test_what_is_far_from_all_is_refused_without_choices() -> None:
    near = (twins.candidate(HOLIDAYS, 0.32), twins.candidate(SCHOOL, 0.31), twins.candidate(PRICES, 0.12))

    decision = await layer(Near(near)).claim(twins.message("What is the capital of Peru?"))

    assert (decision.rule, decision.choices) == ("out_of_domain", ())


async def test_a_match_that_was_given_up_is_not_offered_once_more() -> None:
    near = (twins.candidate(HOLIDAYS, 0.55),)

    decision = await layer(Near(near)).claim(twins.message("public holidays"))

    assert (decision.rule, decision.choices) == ("out_of_domain", ())
