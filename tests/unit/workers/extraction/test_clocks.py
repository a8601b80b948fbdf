"""Times of day, as people say them in three languages."""

from __future__ import annotations

import pytest

from schemas.endpoints import Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import Talk, endpoint, heard
from workers.extraction.loop import Asked

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
