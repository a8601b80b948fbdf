"""What a model's verdict among close endpoints leads to: one of them, none, or the person's choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import pytest

from schemas.routing import Candidate
from tests.unit.workers.classification import twins
from tests.unit.workers.classification.twins import HOLIDAYS, SCHOOL, WordSearch
from workers.classification.disambiguator import Disambiguator, NoVerdict
from workers.classification.routes import Route, RouteFinder

CLOSE = (twins.candidate(HOLIDAYS, 0.50), twins.candidate(SCHOOL, 0.49))


@dataclass
class Says:
    """Stands for the model."""

    verdict: Candidate | NoVerdict
    asked: int = 0

    async def pick(self, text: str, candidates: Sequence[Candidate]) -> Candidate | NoVerdict:
        assert text
        assert [one.endpoint for one in candidates] == [HOLIDAYS, SCHOOL]
        self.asked += 1
        return self.verdict


async def routed(says: Says, *candidates: Candidate) -> Route | None:
    search = WordSearch({"days off": candidates})
    finder = RouteFinder(search=search, settings=twins.settings(), disambiguator=cast("Disambiguator", says))
    return await finder.find("days off", tenant="default", wording="en")


async def test_the_one_that_the_model_picks_is_taken_and_marked() -> None:
    picked = CLOSE[1].model_copy(update={"llm_validated": True})

    route = await routed(Says(picked), *CLOSE)

    assert route is not None
    assert (route.rule, [one.endpoint_id for one in route.found]) == ("model_picked", ["school"])
    assert route.found[0].candidate.llm_validated


async def test_none_of_them_is_an_answer_too() -> None:
    assert await routed(Says(NoVerdict.NONE_FITS), *CLOSE) is None


async def test_a_model_that_is_unsure_leaves_the_choice_to_the_person() -> None:
    route = await routed(Says(NoVerdict.UNSURE), *CLOSE)

    assert route is not None
    assert (route.rule, route.close, route.found) == ("too_close", CLOSE, ())


@pytest.mark.parametrize(
    "candidates",
    [(twins.candidate(HOLIDAYS, 0.70, high=True), CLOSE[1]), (twins.candidate(HOLIDAYS, 0.58), CLOSE[1])],
    ids=["a clear match", "a clear lead"],
)
async def test_where_search_is_sure_no_model_is_asked_and_nothing_is_marked(
    candidates: tuple[Candidate, Candidate],
) -> None:
    says = Says(NoVerdict.NONE_FITS)

    route = await routed(says, *candidates)

    assert route is not None
    assert [one.endpoint_id for one in route.found] == ["holidays"]
    assert (says.asked, route.found[0].candidate.llm_validated) == (0, False)


@pytest.mark.parametrize(
    ("lone", "runner_up", "rule"),
    [(0.42, 0.38, "too_close"), (0.42, 0.36, "clear_winner"), (0.46, 0.39, "clear_winner")],
)
async def test_a_lone_weak_match_is_taken_for_its_lead_over_all_others_only(
    lone: float, runner_up: float, rule: str
) -> None:
    first, second = twins.candidate(HOLIDAYS, lone), twins.candidate(SCHOOL, runner_up)
    search = WordSearch({"days off": (first,)}, nearly={"days off": (first, second)})

    route = await RouteFinder(search=search, settings=twins.settings()).find("days off", tenant="default", wording="en")

    assert route is not None
    assert route.rule == rule
    assert route.close == ((first, second) if rule == "too_close" else ())


async def test_a_lone_weak_match_whose_words_are_said_is_taken() -> None:
    first, second = twins.candidate(SCHOOL, 0.42), twins.candidate(HOLIDAYS, 0.41)
    search = WordSearch({"free at school": (first,)}, nearly={"free at school": (first, second)})

    route = await RouteFinder(search=search, settings=twins.settings()).find(
        "free at school", tenant="default", wording="en"
    )

    assert route is not None
    assert (route.rule, [one.endpoint_id for one in route.found]) == ("distinguished_by_words", ["school"])
