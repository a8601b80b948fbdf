from __future__ import annotations

import dataclasses

import pytest

from workers.retrieval.calibration import E5, LARGE, card_of
from workers.retrieval.index import Hit
from workers.retrieval.ranking import Ranked, Thresholds, confidences, fuse, fuse_by_ranks

CARD = dataclasses.replace(card_of(LARGE), order_weight=0.5, evidence_weight=0.5)
SEED = Thresholds(match=0.40, clear=0.60, lead=0.05)


def hit(name: str, dense: float, lexical: float = 0.0, rank: int | None = None) -> Hit:
    return Hit(endpoint_id=name, dense=dense, lexical=lexical, sparse_rank=rank)


def ranked(*scores: float) -> tuple[Ranked, ...]:
    return tuple(Ranked(endpoint_id=str(n), fused=1.0 - n / 100, score=s) for n, s in enumerate(scores))


def test_the_dense_side_leads_and_matching_words_lift() -> None:
    order = fuse([hit("a", 0.5), hit("b", 0.4, lexical=0.3), hit("c", 0.3, lexical=0.3)], CARD)

    assert [one.endpoint_id for one in order] == ["b", "a", "c"]
    assert order[0].fused == pytest.approx(0.55)


def test_equal_scores_are_ordered_by_id_and_not_by_arrival() -> None:
    hits = [hit("b", 0.5), hit("c", 0.5), hit("a", 0.5)]

    assert [one.endpoint_id for one in fuse(hits, CARD)] == ["a", "b", "c"]
    assert fuse(hits, CARD) == fuse(hits[::-1], CARD)


def test_a_difference_in_the_seventh_digit_is_no_difference() -> None:
    assert [one.endpoint_id for one in fuse([hit("b", 0.50000002), hit("a", 0.5)], CARD)] == ["a", "b"]


def test_common_likeness_lowers_every_score_and_moves_nobody() -> None:
    hits = [hit("a", 0.7), hit("b", 0.6)]

    plain, lowered = fuse(hits, CARD), fuse(hits, CARD, common=0.2)

    assert [(one.endpoint_id, one.fused) for one in plain] == [(one.endpoint_id, one.fused) for one in lowered]
    assert lowered[0].score == pytest.approx(plain[0].score - 0.2)


def test_reciprocal_ranks_order_but_never_score() -> None:
    order = fuse_by_ranks([hit("a", 0.7), hit("b", 0.6, rank=1)], CARD)

    assert [one.endpoint_id for one in order] == ["b", "a"]
    assert order[0].fused == pytest.approx(1 / 62 + 1 / 61, abs=1e-6)
    assert order[0].score == pytest.approx(0.6)


def test_k_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        fuse_by_ranks([], CARD, k=0)


@pytest.mark.parametrize(
    ("scores", "bands"),
    [
        ((), ()),
        ((0.60,), ("high",)),
        ((0.59,), ("medium",)),
        ((0.40, 0.39), ("medium", None)),
        ((0.70, 0.65), ("high", "medium")),
        ((0.70, 0.66), ("medium", "medium")),
        ((0.39, 0.10), (None, None)),
        ((0.65, 0.80), ("medium", "medium")),
    ],
    ids=["none", "clear", "below clear", "at the least", "lead kept", "lead too small", "no match", "second is better"],
)
def test_bands_follow_least_score_clear_score_and_lead(
    scores: tuple[float, ...], bands: tuple[str | None, ...]
) -> None:
    assert confidences(ranked(*scores), SEED) == bands


def test_a_lead_of_exactly_the_gap_is_a_lead() -> None:
    assert confidences(ranked(0.65, 0.60), SEED)[0] == "high"


def test_the_scale_rises_and_keeps_its_marks() -> None:
    card = card_of(E5)
    marks = [card.scale(x / 50) for x in range(-30, 80)]

    assert marks == sorted(marks)
    assert (marks[0], marks[-1]) == (0.0, 1.0)
    assert card.scale(0.24) == pytest.approx(0.40)
