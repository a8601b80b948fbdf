"""What other systems broke on, by the ids of the list of what we must not repeat (SEL: choosing)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from schemas.routing import Candidate, Decision, Layer
from tests.unit.workers.classification import twins
from tests.unit.workers.classification.twins import HOLIDAYS, NOON, SCHOOL, WEATHER, WordSearch
from workers.classification.api_tools import ApiTools
from workers.classification.chain import Advice, Classifier
from workers.classification.decomposer import decompose
from workers.classification.disambiguator import Disambiguator
from workers.classification.intent_detector import IntentDetector
from workers.classification.routes import RouteFinder
from workers.llm.model import LanguageModel


class Empty:
    """A model that answers with nothing, whatever is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, _: type, **fields: str) -> SimpleNamespace:
        self.asked.append(next(value for name, value in fields.items() if name in {"candidates", "available_services"}))
        return SimpleNamespace(best_endpoint_id="", matched_service_id="", confidence=0.0, entities={})


async def decided(said: str, *candidates: Candidate, advice: Advice | None = None) -> Decision:
    search = WordSearch({said: candidates} if candidates else None)
    classifier = Classifier(search=search, settings=twins.settings(), advice=advice)
    return await classifier.decide(twins.request(said), None, now=NOON)


def ids(decision: Decision) -> list[str]:
    return [endpoint.endpoint_id for endpoint in decision.endpoints]


@pytest.mark.parametrize("cosine", [0.50, 0.44])
async def test_sel_02_an_empty_reply_of_the_model_leaves_what_search_found(cosine: float) -> None:
    empty = Empty()
    model = cast("LanguageModel", empty)
    advice = Advice(
        disambiguator=Disambiguator(model),
        intents=IntentDetector(model=model, engine="dspy", settings=twins.settings()),
    )
    close = (twins.candidate(HOLIDAYS, 0.50), twins.candidate(SCHOOL, cosine))

    decision = await decided("days off", *close, advice=advice)

    assert empty.asked
    assert decision.layer is Layer.SERVICE
    assert ids(decision) == ["holidays"] or [one.payload for one in decision.choices] == [
        "#endpoint:holidays",
        "#endpoint:school",
    ]


@pytest.mark.parametrize("said", ["thanks", "ok", "how are you?", "aitäh", "kuidas läheb?", "спасибо", "как дела?"])
async def test_sel_05_small_talk_is_never_searched_even_if_something_would_match(said: str) -> None:
    decision = await decided(said, twins.candidate(HOLIDAYS, 0.9, high=True))

    assert decision.layer is Layer.CONTEXT
    assert decision.endpoints == ()


@pytest.mark.parametrize("lead", [0.0, 0.01, 0.03])
async def test_sel_06_two_that_are_close_are_asked_about_by_name(lead: float) -> None:
    close = (twins.candidate(HOLIDAYS, 0.50), twins.candidate(SCHOOL, 0.50 - lead))

    decision = await decided("days off", *close)

    assert (decision.layer, decision.rule) == (Layer.SERVICE, "choice_offered")
    assert "Public holidays or School holidays" in decision.reply


async def test_sel_06_a_sure_match_is_taken_without_a_question() -> None:
    sure = (twins.candidate(HOLIDAYS, 0.70, high=True), twins.candidate(SCHOOL, 0.60))

    decision = await decided("days off", *sure)

    assert (ids(decision), decision.choices) == (["holidays"], ())


async def test_sel_09_a_decision_keeps_the_rule_and_the_score_of_each_candidate() -> None:
    decision = await decided("days off", twins.candidate(HOLIDAYS, 0.50), twins.candidate(WEATHER, 0.42))

    kept = Decision.model_validate_json(decision.model_dump_json())

    assert (kept.rule, kept.scores) == ("clear_winner", {"holidays": 0.50, "weather": 0.42})


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ("What is the status of my pizza, and order two more", ("What is the status of my pizza", "order two more")),
        ("Show my bookings and cancel my parking permit", ("Show my bookings", "cancel my parking permit")),
    ],
)
def test_sel_10_both_requests_of_a_message_are_kept_in_their_order(said: str, parts: tuple[str, ...]) -> None:
    assert decompose(said, "en").parts == parts


async def test_sel_10_both_are_done_in_the_order_they_were_asked() -> None:
    finder = RouteFinder(search=WordSearch(), settings=twins.settings())

    decision = await ApiTools(finder=finder).claim(
        twins.message("show the weather forecast and list the public holidays")
    )

    assert decision is not None
    assert (decision.rule, ids(decision)) == ("parallel", ["weather", "holidays"])


async def test_sel_11_with_search_down_the_person_is_still_answered() -> None:
    classifier = Classifier(search=WordSearch(is_down=True), settings=twins.settings())

    decision = await classifier.decide(twins.request("public holidays"), None, now=NOON)

    assert (decision.layer, bool(decision.reply)) == (Layer.OOD, True)
