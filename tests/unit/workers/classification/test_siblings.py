"""From one endpoint to another of the same service, and what leads into a request inside a conversation."""

from __future__ import annotations

import pytest

from schemas.conversations import Utterance
from schemas.endpoints import Endpoint, Language
from schemas.routing import Decision
from tests.unit.workers.classification import twins
from tests.unit.workers.classification.twins import WEATHER, WordSearch, candidate
from workers.classification.api_tools import ApiTools
from workers.classification.matching import judge
from workers.classification.requests import asked_part, asks_outright, asks_somewhere
from workers.classification.routes import RouteFinder
from workers.classification.siblings import accepted_offer, is_sibling


def _of(service: str, name: str, description: str, method: str = "GET") -> Endpoint:
    one = twins.endpoint(name)
    return one.model_copy(
        update={"service_id": service, "name": name, "description": description, "method": method}
    )  # fmt: skip


FIND = _of("tables", "find_restaurants", "Find restaurants by cuisine")
RESERVE = _of("tables", "reserve_table", "Reserve a table at a restaurant", "POST")
SALON = _of("salons", "reserve_chair", "Reserve a chair at a salon", "POST")


async def _said(message: str, rows: dict[str, list[tuple[Endpoint, float]]], bot: str = "It is at Lai 1.") -> Decision:
    found = {text: tuple(candidate(e, score) for e, score in near) for text, near in rows.items()}
    search = WordSearch({message: (), **found})
    chat = twins.conversation(
        open_=twins.collecting(FIND),
        transcript=(Utterance(role="user", text="thai food"), Utterance(role="bot", text=bot)),
    )
    layer = ApiTools(finder=RouteFinder(search=search, settings=twins.settings()))
    decision = await layer.claim(twins.message(message, chat=chat))
    assert decision is not None
    return decision


def _ids(decision: Decision) -> list[str]:
    return [endpoint.endpoint_id for endpoint in decision.endpoints]


async def test_what_was_found_can_be_reserved_at_the_same_service() -> None:
    decision = await _said(
        "Great, reserve a table there", {"reserve a table there": [(SALON, 0.47), (RESERVE, 0.45), (FIND, 0.44)]}
    )

    assert (_ids(decision), decision.rule) == (["reserve_table"], "switch:same_service")


async def test_a_service_that_is_clearly_nearer_is_not_passed_over_for_a_sibling() -> None:
    decision = await _said("Great, reserve a chair", {"reserve a chair": [(SALON, 0.7), (RESERVE, 0.45)]})

    assert _ids(decision) == ["reserve_chair"]


@pytest.mark.parametrize("said", ["Yes please", "Yes, do that", "Sure"])
async def test_a_yes_takes_what_the_last_answer_offered(said: str) -> None:
    question = "Shall I reserve a table for you?"
    decision = await _said(said, {question: [(SALON, 0.5), (RESERVE, 0.45)]}, bot=f"It is at Lai 1. {question}")

    assert (_ids(decision), decision.rule) == (["reserve_table"], "offer_taken")


async def test_a_no_takes_no_offer() -> None:
    question = "Shall I reserve a table for you?"
    decision = await _said("No", {question: [(RESERVE, 0.8)]}, bot=question)

    assert decision.resumes


async def test_a_question_about_what_was_found_stays_where_it_is() -> None:
    said = "What is the phone number?"
    decision = await _said(said, {said: [(RESERVE, 0.62), (FIND, 0.4)]})

    assert decision.resumes


async def test_another_endpoint_needs_a_clear_lead_over_ours() -> None:
    said = "I would like something cheap"
    close = await _said(said, {said: [(WEATHER, 0.56), (FIND, 0.53)]})
    clear = await _said(said, {said: [(WEATHER, 0.66), (FIND, 0.53)]})

    assert close.resumes
    assert _ids(clear) == ["weather"]


def test_endpoints_are_siblings_only_by_a_service_that_both_name() -> None:
    assert is_sibling(FIND, RESERVE)
    assert not is_sibling(FIND, FIND)
    assert not is_sibling(RESERVE, SALON)
    assert not is_sibling(twins.endpoint("a"), twins.endpoint("b"))


@pytest.mark.parametrize(
    ("language", "said", "asked"),
    [
        ("en", "No, not right now. Find me a hotel", "Find me a hotel"),
        ("en", "Thanks a lot, now show the weather", "show the weather"),
        ("en", "in Tartu, please", "in Tartu, please"),
        ("et", "Aitäh! Näita ilma Tartus", "Näita ilma Tartus"),
        ("ru", "Нет, спасибо. Покажи погоду в Риге", "Покажи погоду в Риге"),
    ],
)
def test_what_leads_into_a_request_is_no_part_of_it(language: Language, said: str, asked: str) -> None:
    assert asked_part(said, language) == asked
    assert asks_somewhere(said, language) == (asked != "in Tartu, please")


def test_only_a_question_word_asks_outright() -> None:
    assert asks_outright("Yes. What is its address?", "en")
    assert not asks_outright("Yes, reserve it. What is its address?", "en")
    assert not asks_outright("Tartu", "en")


def test_an_offer_is_accepted_only_where_the_last_answer_made_one() -> None:
    offer = (Utterance(role="bot", text="It is free. Would you like to reserve it?"),)

    assert accepted_offer("yes", offer) == "Would you like to reserve it?"
    assert accepted_offer("no", offer) is None
    assert accepted_offer("yes", (Utterance(role="bot", text="Which date?"),)) is None
    assert accepted_offer("yes", ()) is None


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("please purchase tickets to the event", "BuyEventTickets"),
        ("osta pilet üritusele", "BuyEventTickets"),
        ("купи билет на концерт", "BuyEventTickets"),
        ("I want to see an event", "FindEvents"),
    ],
)
def test_a_word_that_asks_for_a_change_is_heard_whatever_the_endpoint_calls_it(said: str, name: str) -> None:
    buy = _of("events", "BuyEventTickets", "Get tickets to an event", "POST")
    find = _of("events", "FindEvents", "Find events with tickets")

    match = judge(said, [candidate(buy, 0.72, high=True), candidate(find, 0.66)], gap=0.05)

    assert match.winner is not None
    assert match.winner.endpoint.name == name
