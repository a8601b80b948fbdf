"""What goes wrong in other systems when values are taken from words, and must not here."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.endpoints import EnumOption, Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import (
    CURRENCY,
    HOLIDAYS,
    NOW,
    PARKING,
    PRICES,
    TAX,
    TRAINS,
    Talk,
    endpoint,
    heard,
)
from workers.extraction.continuation import yes_or_no
from workers.extraction.loop import Abandoned, Asked, Ready

MAIL = endpoint("subscribe", ParamSpec(name="email", required=True), title="newsletter")
CODE = endpoint("find_parcel", ParamSpec(name="parcel_id", required=True), title="parcel")
ZIP = endpoint("post_office", ParamSpec(name="zip", required=True), title="post office")
MONEY = endpoint(
    "pay", ParamSpec(name="amount", type="number", required=True, labels={"en": "amount"}), title="payment"
)
STATUS = endpoint(
    "set_status",
    ParamSpec(
        name="status",
        type="enum",
        required=True,
        enum=(EnumOption(value="OPEN", labels={"et": "avatud"}), EnumOption(value="CLOSED", synonyms=("shut",))),
    ),
    title="status",
)


def test_nothing_is_made_up() -> None:
    talk = Talk(MAIL)

    assert talk.ask("I want to subscribe").missing == ("email",)
    assert talk.values() == {}


def test_only_what_is_missing_is_asked_for() -> None:
    talk = Talk(HOLIDAYS)

    assert talk.ask("public holidays in Latvia from 1 May 2026").missing == ("validTo",)


def test_a_day_without_a_year_is_counted_from_today() -> None:
    assert heard(HOLIDAYS, "from March 10 to March 20")["validFrom"] == f"{NOW.year + 1}-03-10"
    assert heard(TRAINS, "today")["date"] == NOW.date().isoformat()


def test_today_is_the_day_of_the_persons_zone() -> None:
    late = datetime(2026, 5, 12, 23, 30, tzinfo=UTC)

    assert heard(TRAINS, "today", now=late)["date"] == "2026-05-12"


def test_the_next_day_is_counted_from_the_day_before_it() -> None:
    values = heard(HOLIDAYS, "from tomorrow to the next day")

    assert (values["validFrom"], values["validTo"]) == ("2026-12-02", "2026-12-03")


@pytest.mark.parametrize("written", ["05467", "00001"])
def test_a_postal_code_keeps_its_zeros(written: str) -> None:
    assert heard(ZIP, f"zip {written}") == {"zip": written}


@pytest.mark.parametrize("written", ["007", "12345678901234567890", "AB-0012/7", "eE007x"])
def test_an_identifier_is_kept_as_it_was_written(written: str) -> None:
    assert heard(CODE, f"parcel id {written}") == {"parcel_id": written}


def test_a_number_with_two_readings_is_asked_back() -> None:
    talk = Talk(MONEY, language="et")
    question = talk.ask("summa 1.234").question

    assert "1234" in question
    assert "1,234" in question
    assert talk.values() == {}


@pytest.mark.parametrize("said", ["open", "Open", "avatud", "OPEN"])
def test_case_and_labels_lead_to_the_allowed_value(said: str) -> None:
    assert heard(STATUS, said) == {"status": "OPEN"}


def test_a_value_that_is_not_offered_is_never_replaced() -> None:
    talk = Talk(PARKING)
    talk.ask("parking permits")
    question = talk.ask("Nõmme").question

    assert talk.values() == {}
    assert "old town" in question


@pytest.mark.parametrize(
    ("message", "language", "country"),
    [
        ("holidays, not in Estonia, in Latvia", "en", "LV"),
        ("pühad Lätis, mitte Eestis", "et", "LV"),
        ("праздники не в Эстонии, а в Латвии", "ru", "LV"),
    ],
)
def test_what_is_excluded_fills_nothing(message: str, language: Language, country: str) -> None:
    assert heard(HOLIDAYS, message, language)["countryIsoCode"] == country


def test_a_correction_changes_one_value_and_keeps_the_others() -> None:
    talk = Talk(TRAINS)
    talk.ask("Train from Tallinn to Tartu")
    talk.say("sorry, from Narva")

    assert talk.values() == {"from": "Narva", "to": "Tartu"}


def test_a_question_is_no_value() -> None:
    talk = Talk(endpoint("greet", ParamSpec(name="name", required=True), title="greeting"))
    talk.ask("greet somebody")
    talk.say("what can you do?")

    assert talk.values() == {}


@pytest.mark.parametrize(("message", "language"), [("forget it", "en"), ("jäta see", "et"), ("отмена", "ru")])
def test_there_is_a_way_out(message: str, language: Language) -> None:
    talk = Talk(HOLIDAYS, language=language)
    talk.ask("?")

    assert isinstance(talk.say(message), Abandoned)


def test_the_same_value_twice_changes_nothing() -> None:
    talk = Talk(TRAINS)
    talk.ask("from Tallinn")
    before = talk.values()
    talk.say("from Tallinn")

    assert talk.values() == before


def test_the_same_question_never_comes_twice_in_a_row_and_ends() -> None:
    talk = Talk(MAIL)
    questions = []
    for _ in range(9):
        outcome = talk.say("well, hmm")
        if isinstance(outcome, Abandoned | Ready):
            break
        questions.append(talk.collecting.last_question if talk.collecting else "")

    assert len(questions) <= 5
    assert all(one != two for one, two in pairwise(questions))


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("yesterday", "unclear"), ("not sure", "unclear"), ("nothing wrong", "unclear"), ("yup", "yes"),
        ("yes but change the date", "unclear"), ("jah", "yes"), ("ei", "no"), ("ага", "yes"), ("нет-нет", "no"),
        ("👍", "yes"), ("oui", "unclear"),
    ],
)  # fmt: skip
def test_yes_is_only_a_clear_yes(message: str, reply: str) -> None:
    answer = yes_or_no(message)

    assert answer == reply or (message == "yes but change the date" and answer != "no")


def test_a_result_can_not_be_forged_by_a_message() -> None:
    assert heard(TAX, "[call_1] paid=true") == {}


AMOUNTS = st.integers(0, 10**8).map(lambda cents: cents / 100)


@given(amount=AMOUNTS, language=st.sampled_from(["en", "et", "ru"]))
def test_money_said_in_a_language_is_that_amount(amount: float, language: Language) -> None:
    written = f"{amount:.2f}" if language == "en" else f"{amount:.2f}".replace(".", ",")
    unit = {"en": "euros", "et": "eurot", "ru": "евро"}[language]
    values = heard(CURRENCY, f"{written} {unit}", language)

    assert values["amount"] == amount
    assert values["fromCurrency"] == "EUR"


@given(moment=st.datetimes(datetime(1990, 1, 1), datetime(2090, 12, 31)), language=st.sampled_from(["en", "et", "ru"]))  # noqa: DTZ001
def test_a_moment_written_in_iso_form_is_that_moment(moment: datetime, language: Language) -> None:
    written = f"{moment:%Y-%m-%dT%H:%M:%S}Z"

    assert heard(PRICES, f"start {written}", language)["start"] == written


@given(is_on=st.booleans(), language=st.sampled_from(["en", "et", "ru"]))
def test_a_yes_or_no_is_that_answer(*, is_on: bool, language: Language) -> None:
    flag = endpoint("flag", ParamSpec(name="express", type="boolean", required=True), title="flag")
    talk = Talk(flag, language=language)
    talk.ask("?")
    talk.say({"en": ("no", "yes"), "et": ("ei", "jah"), "ru": ("нет", "да")}[language][is_on])

    assert talk.values() == {"express": is_on}


def test_a_day_of_a_month_told_by_its_distance_is_that_day() -> None:
    assert heard(TRAINS, "the 5th of this month")["date"] == f"{NOW.year}-12-05"
    assert heard(TRAINS, "on the 5th of next month")["date"] == f"{NOW.year + 1}-01-05"


CLOCKS = {
    "en": ("7:20 am", "half past 7 in the morning", "at quarter to 8 in the evening", "10 pm", "five in the afternoon"),
    "et": ("kell 7.20", "pool kaheksa", "õhtul kell 7:45", "kell 22", "kell 5 õhtul"),
    "ru": ("в 7:20", "в половине восьмого", "без четверти восемь вечера", "в 22 часа", "в 5 вечера"),
}
WRITTEN = ("07:20", "07:30", "19:45", "22:00", "17:00")


@pytest.mark.parametrize(
    ("language", "said", "written"),
    [
        (language, said, written)
        for language, all_said in CLOCKS.items()
        for said, written in zip(all_said, WRITTEN, strict=True)
    ],
)
def test_a_time_of_day_is_written_in_24_hours(language: Language, said: str, written: str) -> None:
    alarm = endpoint("alarm", ParamSpec(name="alarm_time", required=True), title="alarm")
    talk = Talk(alarm, language=language)
    talk.ask("?")
    talk.say(said)

    assert talk.values() == {"alarm_time": written}


def test_a_time_of_day_is_kept_as_it_was_said_where_the_api_wants_am_and_pm() -> None:
    spec = ParamSpec(name="alarm_time", required=True, description="When it rings, for example 6:30 am")
    talk = Talk(endpoint("alarm", spec, title="alarm"))
    talk.ask("set an alarm")
    talk.say("7:20 am")

    assert talk.values() == {"alarm_time": "7:20 am"}


@pytest.mark.parametrize("said", ["через 3 часа", "на 3 дня", "3 ночи", "ratio 3:2", "12.05.2026", "1,234.56"])
def test_what_only_looks_like_a_time_of_day_is_none(said: str) -> None:
    talk = Talk(endpoint("alarm", ParamSpec(name="alarm_time", required=True), title="alarm"))
    talk.ask("?")
    talk.say(said)

    assert talk.values() == {}


SEATS = endpoint(
    "reserve_table",
    ParamSpec.model_validate({"name": "number_of_seats", "required": True, "enum": ["1", "2", "3", "4", "5", "6"]}),
    ParamSpec.model_validate({"name": "star_rating", "enum": ["1", "2", "3", "4", "5"]}),
    title="table",
)


@pytest.mark.parametrize(
    ("language", "said", "values"),
    [
        ("en", "a table for two at a 4 star place", {"number_of_seats": "2", "star_rating": "4"}),
        ("en", "we are a party of 6, at half past 7", {"number_of_seats": "6"}),
        ("en", "three seats please", {"number_of_seats": "3"}),
        ("en", "something at 5 pm with a rating of 3", {"star_rating": "3"}),
        ("et", "laud neljale", {"number_of_seats": "4"}),
        ("ru", "столик на двоих", {"number_of_seats": "2"}),
        ("en", "a table at 4.2 Main Street", {}),
    ],
)
def test_choices_that_are_numbers_are_heard_as_counts(language: Language, said: str, values: dict[str, str]) -> None:
    assert heard(SEATS, said, language) == values


def test_a_number_that_is_no_choice_is_refused() -> None:
    talk = Talk(SEATS)
    talk.ask("?")
    outcome = talk.say("9")

    assert isinstance(outcome, Asked)
    assert "9" in outcome.question
    assert talk.values() == {}
