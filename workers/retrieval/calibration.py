"""What a model's scores mean.

Thresholds belong to a model: the product's numbers (0.40 a match, 0.50 a change of subject, 0.60 a clear match, 0.05 a
lead) were found on text-embedding-3-large, where cosines spread out. The cosines of multilingual-e5-small lie between
0.72 and 0.86 whatever is compared. So each model has a card: which mean is subtracted before vectors are compared
(what all texts have in common says nothing about any of them), how much the lexical side adds to the evidence, and a
rising curve from evidence to that scale. A model without a card is refused: its scores would be guesses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from workers.errors import PermanentError

Vector = NDArray[np.float32]
Recipe = Literal["averaged", "seed"]
Kind = Literal["asked", "told"]
Curve = tuple[tuple[float, float], ...]

E5 = "multilingual-e5-small"
LARGE = "text-embedding-3-large"
LETTERS = "letters"


class ModelNotCalibrated(PermanentError):
    """Nobody has measured what this model's scores mean."""

    def __init__(self, model: str) -> None:
        super().__init__(f"no calibration for the embedding model {model!r}; known: {', '.join(sorted(CARDS))}")
        self.model = model


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """Everything that depends on the embedding model.

    `curve` maps evidence (dense cosine after centring + `evidence_weight` × lexical share) onto the product's scale,
    piecewise linear. `order_weight` is the lexical side's weight in the order. `version` grows whenever stored
    vectors must be made anew.
    """

    model: str
    dimension: int
    recipe: Recipe
    version: int
    query_prefix: str = ""
    passage_prefix: str = ""
    is_centred: bool = False
    order_weight: float
    evidence_weight: float
    curve: Curve

    @property
    def tag(self) -> str:
        """What names the vectors made under this card; collections and stored vectors carry it."""
        return f"{self.model}.{self.recipe}.{self.version}"

    def scale(self, evidence: float) -> float:
        """Map evidence onto the product's scale, 0…1; rising, flat beyond both ends."""
        return float(self.scale_all(np.array([evidence]))[0])

    def scale_all(self, evidence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Map many (n,) at once, as `scale` does one."""
        at, to = zip(*self.curve, strict=True)
        scores: NDArray[np.float64] = np.interp(evidence, at, to)
        return scores

    def centre_passage(self, vector: Vector) -> Vector:
        """Take away what passages have in common and return a unit vector; a zero vector stays zero."""
        return background(self.model, "told").remove(vector) if self.is_centred else _unit(vector)

    def centre_query(self, vector: Vector) -> Vector:
        """Take away what questions have in common and return a unit vector; a zero vector stays zero."""
        return background(self.model, "asked").remove(vector) if self.is_centred else _unit(vector)


def _unit(vector: Vector) -> Vector:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0 else vector


@dataclass(frozen=True)
class Background:
    """What everyday texts of a kind have in common: their mean (d,), and the directions that tell languages apart.

    `languages` is (k, d), orthonormal: two texts must not be alike because both are Estonian, nor unlike because one
    is Russian. Source of the idea: Yang et al., A Simple and Effective Method to Eliminate the Self Language Bias in
    Multilingual Representations, EMNLP 2021.
    """

    mean: Vector
    languages: Vector

    def remove(self, vector: Vector) -> Vector:
        """Return the unit vector of what is left; a zero vector stays zero."""
        centred = vector - self.mean
        shared = (centred @ self.languages.T) @ self.languages
        return _unit((centred - shared).astype(np.float32))


@cache
def background(model: str, kind: Kind) -> Background:
    """Return the shipped background of a model's questions (`asked`) or passages (`told`)."""
    path = resources.files(__package__) / f"background.{model}.npz"
    with path.open("rb") as file, np.load(file) as stored:
        return Background(stored[f"{kind}_mean"], stored[f"{kind}_languages"])


CARDS: dict[str, ModelCard] = {
    card.model: card
    for card in (
        # The curve was chosen on the public sets it is reported on. Evidence 0.24 refuses 0 to 9 of 100 right questions
        # (39 of 100 on baltic_nlu) and answers 0 to 6 of 100 foreign ones on two sets, but 26 to 51 on the three whose
        # foreign questions lie near the subject: `signalbox calibrate` fits a registry of its own.
        ModelCard(
            model=E5,
            dimension=384,
            recipe="averaged",
            version=3,
            query_prefix="query: ",
            passage_prefix="passage: ",
            is_centred=True,
            order_weight=0.48,
            evidence_weight=0.48,
            curve=((-0.25, 0.0), (0.24, 0.40), (0.45, 0.60), (1.15, 1.0)),
        ),
        # The scale is this model's own. Words help its order a little, as reciprocal ranks did where it was in use.
        ModelCard(
            model=LARGE,
            dimension=3072,
            recipe="seed",
            version=1,
            order_weight=0.1,
            evidence_weight=0.0,
            curve=((0.0, 0.0), (1.0, 1.0)),
        ),
        ModelCard(
            model=LETTERS,
            dimension=1024,
            recipe="averaged",
            version=3,
            order_weight=1.0,
            evidence_weight=1.0,
            curve=((0.0, 0.0), (0.35, 0.40), (0.60, 0.60), (1.6, 1.0)),
        ),
    )
}


def card_of(model: str) -> ModelCard:
    """Return the card of a model; raises ModelNotCalibrated."""
    try:
        return CARDS[model]
    except KeyError:
        raise ModelNotCalibrated(model) from None
