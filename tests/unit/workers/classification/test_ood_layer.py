from __future__ import annotations

import pytest

from schemas.endpoints import Language
from schemas.routing import Layer
from tests.unit.workers.classification import twins
from tests.unit.workers.classification.twins import WordSearch
from workers.classification.ood_layer import OodLayer


@pytest.mark.parametrize(
    ("language", "named"),
    [
        ("en", "public holidays and school holidays"),
        ("et", "riigipühad ja koolivaheajad"),
        ("ru", "праздники и каникулы"),
    ],
)
async def test_a_refusal_names_two_things_that_we_can_do(language: Language, named: str) -> None:
    decision = await OodLayer(search=WordSearch()).claim(twins.message("write a poem", language=language))

    assert (decision.layer, decision.language) == (Layer.OOD, language)
    assert named in decision.reply


async def test_with_search_down_the_refusal_is_still_polite() -> None:
    decision = await OodLayer(search=WordSearch(is_down=True)).claim(twins.message("write a poem"))

    assert "What can you do?" in decision.reply
