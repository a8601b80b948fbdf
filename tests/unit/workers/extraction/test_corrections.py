"""Answers that correct, contradict or leave open what was said before."""

from __future__ import annotations

import pytest

from schemas.endpoints import Endpoint, Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import CURRENCY, HOLIDAYS, PARKING, TRAINS, WEATHER, Talk, endpoint
from workers.extraction.loop import Ready


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("no, Latvia", "en"), ("not Estonia, Latvia", "en"), ("No, use Latvia instead of Estonia", "en"),
        ("ei, hoopis Läti", "et"), ("mitte Eesti, vaid Läti", "et"), ("не Эстония, а Латвия", "ru"),
        ("нет, Латвия", "ru"),
    ],
)  # fmt: skip
def test_a_correction_overwrites_and_keeps_the_rest(message: str, language: Language) -> None:
    talk = Talk(HOLIDAYS, language=language)
    talk.ask("Estonia from 2026-01-01")
    talk.ask(message)

    assert talk.values() == {"countryIsoCode": "LV", "validFrom": "2026-01-01"}


def test_the_last_of_two_periods_in_one_message_counts() -> None:
    talk = Talk(HOLIDAYS, language="et")
    talk.ask("Millised on riigipühad Eestis?")
    talk.ask("Alates 1. jaanuarist 2026")
    talk.say("Minu viga, õige periood on 01.04.2026 kuni 31.12.2026. Tegelikult tahan 2026-04-01 kuni 2026-12-31.")

    assert talk.values() == {"countryIsoCode": "EE", "validFrom": "2026-04-01", "validTo": "2026-12-31"}


def test_an_impossible_correction_reopens_what_it_was_meant_to_correct() -> None:
    dated = endpoint(
        "report",
        ParamSpec(name="validTo", type="date", required=True),
        ParamSpec(name="code", required=True, description="The report's code"),
    )
    talk = Talk(dated)
    talk.ask("until 2026-12-31")
    question = talk.ask("no, until 31.04.2026")

    assert "validTo" in question.missing
    assert "31.04.2026" in question.question


def test_an_end_before_its_start_is_asked_again() -> None:
    talk = Talk(HOLIDAYS)
    talk.ask("Estonia from 2026-05-10")
    question = talk.ask("until 2026-05-01")

    assert question.missing == ("validTo",)
    assert talk.values()["validFrom"] == "2026-05-10"


def test_an_ambiguous_date_is_asked_back_with_both_readings() -> None:
    talk = Talk(WEATHER)
    question = talk.ask("weather in Tartu on 3/5/2026")

    assert [choice.title for choice in question.choices] == ["3 May 2026", "5 March 2026"]
    assert isinstance(talk.say(question.choices[1].payload), Ready)
    assert talk.values() == {"city": "Tartu", "date": "2026-03-05"}


def test_an_ambiguous_amount_is_asked_back() -> None:
    talk = Talk(CURRENCY, language="et")
    question = talk.ask("1.234 eurot dollaritesse")

    assert len(question.choices) == 2
    assert isinstance(talk.say(question.choices[1].payload), Ready)
    assert talk.values()["amount"] == 1.234


def test_a_wrong_choice_is_named_and_the_choices_are_offered() -> None:
    talk = Talk(PARKING)
    talk.ask("a parking permit")
    question = talk.ask("Suburbs")

    assert "Suburbs" in question.question
    assert "old town" in question.question
    assert talk.values() == {}


def test_a_small_typo_in_a_choice_is_understood_when_it_was_asked_for() -> None:
    talk = Talk(PARKING)
    talk.ask("a parking permit")

    assert isinstance(talk.say("harbuor"), Ready)
    assert talk.values() == {"zone": "HARBOUR"}


@pytest.mark.parametrize("answer", ["EE", "ee", "Estonia", "Eesti", "эстония"])
def test_a_bare_answer_of_two_letters_is_an_answer(answer: str) -> None:
    talk = Talk(HOLIDAYS)
    talk.ask("holidays in 2026")

    assert isinstance(talk.say(answer), Ready)
    assert talk.values()["countryIsoCode"] == "EE"


def test_the_same_answer_twice_changes_nothing() -> None:
    talk = Talk(HOLIDAYS)
    talk.ask("Estonia")
    once = talk.ask("from 2026-05-01").collecting.endpoints
    twice = talk.ask("from 2026-05-01").collecting.endpoints

    assert once == twice


def test_from_and_to_are_told_apart_by_case_endings() -> None:
    talk = Talk(TRAINS, language="et")
    talk.ask("rongiajad")
    talk.ask("Tallinna Tartust")

    assert talk.values() == {"from": "Tartu", "to": "Tallinn"}


def test_a_town_that_could_be_either_end_is_not_guessed() -> None:
    talk = Talk(TRAINS)
    talk.ask("train times")
    talk.ask("Tartu")

    assert talk.values() == {}


def test_what_a_bare_answer_was_taken_for_is_told_and_can_be_turned_round() -> None:
    talk = Talk(CURRENCY)
    talk.ask("convert 100")
    asked = talk.ask("EUR")

    assert talk.values() == {"amount": 100, "fromCurrency": "EUR"}
    assert "EUR" in asked.question
    talk.ask("no, to EUR")
    assert talk.values() == {"amount": 100, "toCurrency": "EUR"}


@pytest.mark.parametrize(
    ("api", "ask", "language", "said", "values"),
    [
        (CURRENCY, "convert 100", "en", ("EUR", "USD"), {"amount": 100, "fromCurrency": "EUR", "toCurrency": "USD"}),
        (TRAINS, "rongiajad homme", "et", ("Tallinn", "Tartu"), {"from": "Tallinn", "to": "Tartu"}),
        (TRAINS, "train times tomorrow", "en", ("to Tallinn", "Tartu"), {"from": "Tartu", "to": "Tallinn"}),
    ],
)
def test_a_bare_answer_is_for_the_first_of_two_that_were_asked(
    api: Endpoint, ask: str, language: Language, said: tuple[str, ...], values: dict[str, object]
) -> None:
    """What it was taken for is told with the next question."""
    talk = Talk(api, language=language)
    talk.ask(ask)
    for message in said:
        talk.say(message)

    assert values.items() <= talk.values().items()
