"""A value that a model read counts only where the person's words carry it, as whole words."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from schemas.base import JsonValue
from schemas.conversations import EndpointProgress
from schemas.endpoints import Endpoint
from tests.unit.workers.extraction.small_catalogue import TAX, WEATHER, endpoint
from workers.extraction.grounding import Speech, grounded

NOW = datetime(2026, 12, 1, 10, 0, tzinfo=ZoneInfo("Europe/Tallinn"))
CAR = endpoint("car_tax", *TAX.params, title="vehicle tax")


def taken(which: Endpoint, name: str, value: JsonValue, words: str, message: str, *earlier: str) -> JsonValue:
    progress = EndpointProgress(endpoint=which)
    speech = Speech(message=message, earlier=earlier, language="en", now=NOW)
    found = grounded({name: {"value": value, "words": words}}, progress, speech)
    return found[name].value if name in found else None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("34ABC", "the tax for 1234ABC please"),
        ("123A", "the tax for 123ABC please"),
        ("456", "the tax for 123 4567 please"),
    ],
)
def test_a_piece_of_a_code_is_no_code(words: str, message: str) -> None:
    assert taken(CAR, "regNr", words, words, message) is None


@pytest.mark.parametrize(
    ("year", "message"), [("2026", "the tax of 20261 cars"), ("2026", "it was 12026"), ("2026", "about 2026.50 euros")]
)
def test_a_piece_of_a_number_is_no_number(year: str, message: str) -> None:
    assert taken(CAR, "calculationYear", int(year), year, message) is None


@pytest.mark.parametrize(
    ("which", "name", "value", "words", "message"),
    [
        (CAR, "regNr", "123ABC", "123ABC", "the tax for (123ABC), please"),
        (CAR, "calculationYear", 2026, "2026", "the tax in 2026."),
        (WEATHER, "city", "Haapsalu", "Haapsalu", "mis ilm Haapsalus praegu on"),
        (WEATHER, "city", "Tartu", "tartu", "ilm: TARTU"),
    ],
)
def test_a_whole_word_in_whatever_case_and_place_is_taken(
    which: Endpoint, name: str, value: JsonValue, words: str, message: str
) -> None:
    assert str(taken(which, name, value, words, message)).casefold() == str(value).casefold()


def test_what_was_said_before_counts_as_well() -> None:
    assert taken(CAR, "regNr", "123ABC", "123ABC", "that one", "I drive 123ABC") == "123ABC"
    assert taken(CAR, "regNr", "23ABC", "23ABC", "that one", "I drive 123ABC") is None
