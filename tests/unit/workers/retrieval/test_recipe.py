from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from schemas.endpoints import Endpoint
from workers.retrieval.calibration import E5, LARGE, card_of
from workers.retrieval.embed_text import embed_text
from workers.retrieval.embedder import LetterEmbedder
from workers.retrieval.recipe import (
    asked_texts,
    fingerprint,
    pack,
    readable_name,
    told_texts,
    unpack,
    vectorize,
)

HOLIDAYS = Endpoint.model_validate(
    {
        "endpoint_id": "h",
        "name": "get_nationalHolidays",
        "description": "Fetch holidays.",
        "descriptions": {"et": "Riigipühad", "en": "Fetch holidays."},
        "titles": {"ru": "Праздники"},
        "examples": {"et": ("Millal on jõulud?",), "en": ("When is Easter?",)},
        "enriched_context": "Days off",
        "url": "https://x.ee/",
        "params": [
            {"name": "country", "type": "string", "required": True, "description": "ISO code"},
            {"name": "from", "type": "date"},
        ],
    }
)


@pytest.mark.parametrize(
    ("name", "readable"),
    [
        ("get_public_holidays", "get public holidays"),
        ("GetAlarms", "get alarms"),
        ("math.HTTPServer-v2", "math http server v2"),
    ],
)
def test_a_name_is_read_as_words(name: str, readable: str) -> None:
    assert readable_name(name) == readable


def test_the_embed_text_has_the_seeds_form() -> None:
    assert embed_text(HOLIDAYS) == (
        "get_nationalHolidays. Fetch holidays.. Days off. "
        "Parameters: country (string, required): ISO code; from (date, optional)"
    )


def test_each_text_is_told_once() -> None:
    assert told_texts(HOLIDAYS) == ("get national holidays", "Fetch holidays.", "Riigipühad", "Праздники")
    assert asked_texts(HOLIDAYS) == ("Millal on jõulud?", "When is Easter?")


def test_the_fingerprint_follows_content_and_model_but_not_the_version() -> None:
    card = card_of(E5)
    first = fingerprint(HOLIDAYS, card)

    assert fingerprint(HOLIDAYS.model_copy(update={"version": 9}), card) == first
    assert fingerprint(HOLIDAYS.model_copy(update={"description": "Other"}), card) != first
    assert fingerprint(HOLIDAYS, dataclasses.replace(card, version=card.version + 1)) != first
    assert fingerprint(HOLIDAYS, card_of(LARGE)) != first


def test_a_packed_vector_comes_back_unchanged() -> None:
    vector = np.array([0.25, -1.5, 3e-7], dtype=np.float32)

    assert unpack(pack(vector)).tolist() == vector.tolist()


async def test_the_averaged_recipe_lies_between_its_texts() -> None:
    embedder = LetterEmbedder()

    (made,) = await vectorize([HOLIDAYS], embedder)

    dense = unpack(made.dense)
    texts = (*told_texts(HOLIDAYS), *asked_texts(HOLIDAYS), embed_text(HOLIDAYS))
    parts = await embedder.embed_passages(texts)
    mean = np.mean(np.stack(parts), axis=0)
    assert dense == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
    assert np.linalg.norm(dense) == pytest.approx(1.0, abs=1e-5)
    assert all(float(dense @ part) > 0.2 for part in parts)
    assert made.sparse.indices
    assert made.lexical.indices
