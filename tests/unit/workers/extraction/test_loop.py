"""Conversations: the nine of the seed project, and two endpoints at once."""

from __future__ import annotations

from itertools import pairwise

import pytest

from schemas.endpoints import Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import (
    ADDRESS,
    HOLIDAYS,
    PRICES,
    SCHOOL,
    TAX,
    VOTINGS,
    Talk,
    endpoint,
)
from workers.extraction.loop import Abandoned, Ready, open_collection


def test_1_a_complete_question_is_ready_at_once() -> None:
    talk = Talk(TAX)

    assert isinstance(talk.say("Calculate the vehicle tax for registration number 123ABC for 2026"), Ready)
    assert talk.values() == {"regNr": "123ABC", "calculationYear": 2026}


def test_2_what_is_missing_is_asked_for_and_what_was_said_is_not() -> None:
    talk = Talk(HOLIDAYS)
    question = talk.ask("What are the public holidays in Estonia?")

    assert question.missing == ("validFrom", "validTo")
    assert "country" not in question.question
    assert question.question.endswith("?")
    assert isinstance(talk.say("from 2026-01-01 to 2026-12-31"), Ready)
    assert talk.values() == {"countryIsoCode": "EE", "validFrom": "2026-01-01", "validTo": "2026-12-31"}


def test_3_an_estonian_conversation_is_asked_in_estonian() -> None:
    talk = Talk(SCHOOL, language="et")
    question = talk.ask("Millal on Eestis koolivaheajad?")

    assert "esimene päev" in question.question
    assert isinstance(talk.say("2026-01-01 kuni 2026-12-31"), Ready)


def test_4_an_endpoint_that_needs_nothing_asks_nothing() -> None:
    assert isinstance(Talk(VOTINGS).say("Show me the latest votings in the parliament"), Ready)


def test_5_an_address_is_taken_as_it_stands() -> None:
    talk = Talk(ADDRESS)
    talk.ask("I would like to look up an address")

    assert isinstance(talk.say("Viru tn 4, Tallinn"), Ready)
    assert talk.values() == {"address": "Viru tn 4, Tallinn"}


def test_6_moments_are_taken_over_two_turns() -> None:
    talk = Talk(PRICES)
    talk.ask("Show me electricity market prices")

    assert isinstance(talk.say("from 2026-05-12T00:00:00Z to 2026-05-12T23:59:59Z"), Ready)
    assert talk.values() == {"start": "2026-05-12T00:00:00Z", "end": "2026-05-12T23:59:59Z"}


def test_7_two_collections_share_nothing() -> None:
    first, second = Talk(TAX), Talk(TAX)
    first.ask("Calculate my vehicle tax, the number is 123ABC")
    second.ask("Calculate my vehicle tax")
    second.say("777XYZ, year 2026")

    assert second.values() == {"regNr": "777XYZ", "calculationYear": 2026}
    assert first.values() == {"regNr": "123ABC"}


@pytest.mark.parametrize(
    ("language", "yes"),
    [("en", "yes please"), ("et", "jah, palun"), ("ru", "да, конечно"), ("ru", "ага"), ("en", "👍")],
)
def test_8_yes_at_the_continuation_prompt_goes_on(language: Language, yes: str) -> None:
    talk = Talk(HOLIDAYS, language=language)
    talk.ask("Estonia")
    talk.ask("hmm")
    prompt = talk.ask("…")
    resumed = talk.ask(yes)

    assert prompt.collecting.awaiting_continuation
    assert len(prompt.choices) == 2
    assert resumed.question != prompt.question
    assert not resumed.collecting.awaiting_continuation
    assert isinstance(talk.say("2026-01-01 - 2026-12-31"), Ready)


def test_9_who_never_answers_is_let_go() -> None:
    talk = Talk(HOLIDAYS)
    asked = [
        talk.ask(m).question for m in ("What are the public holidays in Estonia?", "hmm", "well", "yes", "I wonder")
    ]
    end = talk.say("perhaps")

    assert all(one != two for one, two in pairwise(asked))
    assert isinstance(end, Abandoned)
    assert (end.reason, end.say) == ("exhausted", "")


def test_two_endpoints_are_asked_together_and_filled_together() -> None:
    talk = Talk(ADDRESS, TAX)
    first = talk.ask("Can you find an address for me and also calculate my vehicle tax?")
    second = talk.ask("123ABC")

    assert first.missing == ("address", "regNr", "calculationYear")
    assert second.missing == ("address", "calculationYear")
    assert "123ABC" in second.question
    assert isinstance(talk.say("Viru tn 4, Tallinn and year 2026"), Ready)
    assert talk.values(0) == {"address": "Viru tn 4, Tallinn"}
    assert talk.values(1) == {"regNr": "123ABC", "calculationYear": 2026}


def test_a_shared_parameter_is_asked_once_and_given_to_all() -> None:
    talk = Talk(HOLIDAYS, SCHOOL)
    question = talk.ask("public holidays and school holidays")

    assert question.missing == ("countryIsoCode", "validFrom", "validTo")
    assert isinstance(talk.say("Estonia, 2026"), Ready)
    assert talk.values(0) == talk.values(1)


def test_same_named_parameters_of_other_types_are_not_shared() -> None:
    by_text = endpoint("one", ParamSpec(name="code", required=True), title="first thing")
    by_number = endpoint("two", ParamSpec(name="code", type="integer", required=True), title="second thing")
    talk = Talk(by_text, by_number)
    talk.ask("first thing")
    talk.say("first thing code AB12")

    assert talk.values(0) == {"code": "AB12"}
    assert talk.values(1) == {}


def test_limits_are_those_of_the_seed_project() -> None:
    single, parallel = open_collection([TAX], "tax"), open_collection([TAX, ADDRESS], "both", unmatched=["a cake"])

    assert (single.max_turns, single.continuation_turn, single.turns) == (5, 3, 0)
    assert (parallel.max_turns, parallel.continuation_turn) == (6, 4)
    assert parallel.unmatched == ("a cake",)
