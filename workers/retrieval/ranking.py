"""Pure: from what the engine found to an order, and from scores to confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.routing import Confidence
from workers.retrieval.calibration import ModelCard
from workers.retrieval.index import Hit
from workers.retrieval.wanting import LACKING

Scores = NDArray[np.float64]

RRF_K = 60
_DIGITS = 6
"""Engines and processes differ in the seventh digit (they add in another order); no decision may hang on it."""


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """On the product's scale, 0…1: the least score that is a match, that is a clear one, and its least lead."""

    match: float = 0.40
    clear: float = 0.60
    lead: float = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """One endpoint in order. `fused` orders; `score`, calibrated to 0…1, decides. The sides' own scores tell why."""

    endpoint_id: str
    fused: float
    score: float
    dense: float = 0.0
    lexical: float = 0.0
    lacking: int = 0


def fuse(hits: Sequence[Hit], card: ModelCard, *, common: float = 0.0) -> tuple[Ranked, ...]:
    """Order by dense cosine + weight × lexical share, less what is lacking; best first.

    `common` is taken off before scores are judged.

    Reciprocal ranks were measured here and throw the confidence of both sides away (top-1 .77 → .48). Equal scores
    are ordered by endpoint id, so that both engines, and every process, give one order.
    """
    dense, lexical = _sides(hits)
    fused = np.round(dense + card.order_weight * lexical, _DIGITS).tolist()
    ranked = [
        Ranked(
            endpoint_id=hit.endpoint_id,
            fused=order,
            score=score,
            dense=hit.dense,
            lexical=hit.lexical,
            lacking=hit.lacking,
        )
        for hit, order, score in zip(hits, fused, _scores(dense, lexical, card, common), strict=True)
    ]
    return tuple(sorted(ranked, key=lambda one: (-one.fused, one.endpoint_id)))


def _sides(hits: Sequence[Hit]) -> tuple[Scores, Scores]:
    """Return the cosines less what is lacking (n,), and the covered shares (n,).

    One by one, numbers were half of what a search took.
    """
    both = np.array([(hit.dense - LACKING * hit.lacking, hit.lexical) for hit in hits], dtype=np.float64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _scores(dense: Scores, lexical: Scores, card: ModelCard, common: float) -> list[float]:
    evidence = dense - common + card.evidence_weight * lexical
    scores: list[float] = np.round(card.scale_all(evidence), _DIGITS).tolist()
    return scores


def fuse_by_ranks(hits: Sequence[Hit], card: ModelCard, *, common: float = 0.0, k: int = RRF_K) -> tuple[Ranked, ...]:
    """Order by reciprocal ranks of the dense and the sparse side: score = Σ 1 / (k + rank), ranks from 1.

    The calibrated score is the same as in `fuse`: a sum of reciprocal ranks says nothing about likeness. k < 1 raises
    ValueError. Source: Cormack, Clarke, Büttcher, SIGIR 2009 (k = 60 there).
    """
    if k < 1:
        raise ValueError("k must be at least 1")
    dense_order = sorted(hits, key=lambda hit: (-hit.dense, hit.endpoint_id))
    scores = _scores(*_sides(dense_order), card, common)
    ranked = (
        Ranked(
            endpoint_id=hit.endpoint_id,
            fused=1 / (k + rank) + (1 / (k + hit.sparse_rank) if hit.sparse_rank else 0.0),
            score=score,
            dense=hit.dense,
            lexical=hit.lexical,
            lacking=hit.lacking,
        )
        for rank, (hit, score) in enumerate(zip(dense_order, scores, strict=True), start=1)
    )
    return tuple(sorted(ranked, key=lambda one: (-one.fused, one.endpoint_id)))


def confidences(ranked: Sequence[Ranked], thresholds: Thresholds) -> tuple[Confidence | None, ...]:
    """Say for each place whether it is a clear match, a match, or none (None).

    Only the first can be "high": at least `clear`, and at least `lead` above the best of all others, whichever place
    the order gave them.
    """
    found: list[Confidence | None] = ["medium" if one.score >= thresholds.match else None for one in ranked]
    if ranked:
        first = ranked[0].score
        lead = round(first - max((other.score for other in ranked[1:]), default=0.0), _DIGITS)
        if first >= thresholds.clear and lead >= thresholds.lead:
            found[0] = "high"
    return tuple(found)
