"""Counts what search made of labelled questions. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import Field

from schemas.base import Frozen
from workers.retrieval.questions import Case
from workers.retrieval.ranking import Ranked, Thresholds, confidences
from workers.runtime.settings import RoutingSettings

_OFFERED = 3


class Figures(Frozen):
    """The numbers of one group. Shares are of in-domain questions, except `auc` and `out_of_domain_answered`.

    `n` counts all questions, those that nothing answers too (`n_out_of_domain` of them; left out of the JSON).
    `resolved`: the right one is chosen (a clear match), or offered among at most three, be it beside a refusal; of the
    questions that nothing answers, `out_of_domain_offered` counts those whose refusal offers (left out too). `auc`: how
    well the best score tells in-domain questions from others. Shares of nothing are None.
    """

    n: int
    n_out_of_domain: int = Field(exclude=True)
    top1: float | None
    top3: float | None
    resolved: float | None
    auc: float | None
    in_domain_refused: float | None
    out_of_domain_answered: float | None
    out_of_domain_offered: float | None = Field(default=None, exclude=True)


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A case with what search made of it, best first; `offered` are at most three that are matches.

    Where nothing is, `near` are the nearest three, if they are near enough to be offered beside the refusal.
    """

    case: Case
    ranked: tuple[str, ...]
    best_score: float
    offered: tuple[str, ...]
    near: tuple[str, ...] = ()


def figures(answers: Sequence[Answered]) -> Figures:
    """Count. Pure."""
    inside = [one for one in answers if one.case.expected]
    outside = [one for one in answers if not one.case.expected]
    return Figures(
        n=len(answers),
        n_out_of_domain=len(outside),
        top1=_share(bool(one.case.expected & set(one.ranked[:1])) for one in inside),
        top3=_share(bool(one.case.expected & set(one.ranked[:3])) for one in inside),
        resolved=_share(bool(one.case.expected & {*one.offered, *one.near}) for one in inside),
        auc=area_under_curve([one.best_score for one in inside], [one.best_score for one in outside]),
        in_domain_refused=_share(not one.offered for one in inside),
        out_of_domain_answered=_share(bool(one.offered) for one in outside),
        out_of_domain_offered=_share(bool(one.near) for one in outside),
    )


def _share(truths: Iterable[bool]) -> float | None:
    seen = list(truths)
    return round(sum(seen) / len(seen), 4) if seen else None


def area_under_curve(inside: Sequence[float], outside: Sequence[float]) -> float | None:
    """Return the chance that a random inside score exceeds a random outside one, ties half; None when one is empty.

    Source: Mann and Whitney, 1947 (the U statistic over the number of pairs).
    """
    if not inside or not outside:
        return None
    wins = sum((a > b) + 0.5 * (a == b) for a in inside for b in outside)
    return round(wins / (len(inside) * len(outside)), 4)


def judge(case: Case, ranked: Sequence[Ranked], routing: RoutingSettings) -> Answered:
    """Say what a person would have got: the clear match alone, up to three matches, or the nearest three. Pure."""
    thresholds = Thresholds(match=routing.min_cosine, clear=routing.high_cosine, lead=routing.gap)
    banded = list(zip(ranked, confidences(ranked, thresholds), strict=True))
    clear = [one.endpoint_id for one, confidence in banded if confidence == "high"]
    matches = [one.endpoint_id for one, confidence in banded if confidence is not None]
    best_score = max((one.score for one in ranked), default=0.0)
    is_near = not matches and best_score >= routing.near_cosine
    return Answered(
        case=case,
        ranked=tuple(one.endpoint_id for one in ranked),
        best_score=best_score,
        near=tuple(one.endpoint_id for one in ranked[:_OFFERED]) if is_near else (),
        offered=tuple(clear or matches[:_OFFERED]),
    )
