from __future__ import annotations

import numpy as np
import pytest

from workers.retrieval.background import measure_background
from workers.retrieval.calibration import CARDS, E5, LARGE, ModelNotCalibrated, background, card_of
from workers.retrieval.embedder import E5Embedder, EmbedderRefused, LetterEmbedder, open_embedder
from workers.retrieval.index import collection_name
from workers.runtime.settings import RetrievalSettings


def test_a_model_without_calibration_is_refused_by_name() -> None:
    with pytest.raises(ModelNotCalibrated, match="brand-new-model"):
        card_of("brand-new-model")
    with pytest.raises(ModelNotCalibrated):
        open_embedder(RetrievalSettings(embedder="brand-new-model", embedder_url="http://127.0.0.1:1"))


def test_a_served_model_needs_its_url() -> None:
    with pytest.raises(EmbedderRefused, match="RETRIEVAL_EMBEDDER_URL"):
        open_embedder(RetrievalSettings(embedder=LARGE))


def test_the_collection_of_each_model_has_its_own_name() -> None:
    assert len({collection_name(card) for card in CARDS.values()}) == len(CARDS)
    assert E5 in collection_name(card_of(E5))


def test_the_seeds_own_model_keeps_its_cosines() -> None:
    card = card_of(LARGE)

    assert [card.scale(x) for x in (0.0, 0.4, 0.55, 1.0)] == pytest.approx([0.0, 0.4, 0.55, 1.0])
    vector = np.array([3.0, 4.0], dtype=np.float32)
    assert card.centre_query(vector) == pytest.approx([0.6, 0.8])


async def test_the_shipped_background_is_what_the_model_makes_of_the_shipped_texts() -> None:
    embedder = E5Embedder()

    measured = await measure_background(embedder)
    await embedder.close()

    for kind, found in measured.items():
        shipped = background(E5, kind)
        assert found.mean == pytest.approx(shipped.mean, abs=1e-4)
        overlap = np.linalg.svd(found.languages @ shipped.languages.T, compute_uv=False)
        assert overlap == pytest.approx([1.0, 1.0], abs=1e-3)


async def test_centring_makes_a_question_unlike_what_it_is_not_about() -> None:
    embedder = E5Embedder()
    card = embedder.card
    (asked,) = await embedder.embed_queries(["Какая завтра погода?"])
    told = await embedder.embed_passages(["Weather forecast for a town.", "Renew a library loan."])
    await embedder.close()

    raw = [float(asked @ one) for one in told]
    weather, library = (float(card.centre_query(asked) @ card.centre_passage(one)) for one in told)

    assert min(raw) > 0.65
    assert weather > 0.3
    assert library < 0.15


async def test_a_zero_vector_stays_finite() -> None:
    (empty,) = await LetterEmbedder().embed_queries(["?"])

    assert not np.isnan(LetterEmbedder().card.centre_query(empty)).any()


async def test_letters_alone_find_what_shares_words() -> None:
    letters = LetterEmbedder()
    (asked,) = await letters.embed_queries(["mootorsõidukite maks"])
    near, far = await letters.embed_passages(["mootorsõiduki aastamaks", "ilmaprognoos linnale"])

    assert asked @ near > 0.3
    assert asked @ far < 0.1
