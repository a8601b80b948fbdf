from __future__ import annotations

from dataclasses import replace

import pytest

from workers.retrieval.calibration import E5, card_of
from workers.retrieval.fitting import Asked, TooFewQuestions, everyday_questions, fit

CARD = card_of(E5)


def inside(evidence: float, *, is_right: bool = True) -> Asked:
    return Asked(evidence=evidence, is_inside=True, is_right=is_right)


def outside(evidence: float) -> Asked:
    return Asked(evidence=evidence, is_inside=False, is_right=False)


PARTED = [*(inside(0.5 + n / 100) for n in range(40)), *(outside(0.1 + n / 100) for n in range(40))]


def test_questions_that_part_cleanly_put_the_match_between_them() -> None:
    found = fit(PARTED, CARD)

    scaled = replace(CARD, curve=found.curve).scale
    assert scaled(0.5) == pytest.approx(0.40)
    assert scaled(0.49) < 0.40
    assert scaled(0.9) > 0.60


def test_a_clear_match_begins_where_nineteen_of_twenty_answers_are_right() -> None:
    doubtful = [inside(0.4 + n / 1000, is_right=n % 2 == 0) for n in range(40)]

    found = fit([*PARTED, *doubtful], CARD)

    (_, (match, _), (clear, _), _) = found.curve
    answered = [one for one in [*PARTED, *doubtful] if one.evidence >= clear]
    assert match < clear
    assert sum(one.is_right for one in answered) / len(answered) >= 0.95


def test_the_curve_rises_even_when_nothing_parts() -> None:
    same = [*(inside(0.3) for _ in range(30)), *(outside(0.3) for _ in range(30))]

    places = [at for at, _ in fit(same, CARD).curve]

    assert places == sorted(set(places))


def test_the_points_tell_precision_and_recall_from_everything_to_nothing() -> None:
    points = fit(PARTED, CARD, steps=5).points

    assert (points[0].recall, points[0].precision, points[0].outside_answered) == (1.0, 0.5, 1.0)
    assert points[-1].outside_answered == 0.0
    assert [point.recall for point in points] == sorted((point.recall for point in points), reverse=True)


@pytest.mark.parametrize("few", [PARTED[:40], PARTED[40:], []], ids=["no foreign", "no inside", "none"])
def test_too_few_questions_are_no_ground_for_a_curve(few: list[Asked]) -> None:
    with pytest.raises(TooFewQuestions, match="20 of each"):
        fit(few, CARD)


def test_everyday_questions_come_in_three_languages() -> None:
    assert len(everyday_questions()) > 60
