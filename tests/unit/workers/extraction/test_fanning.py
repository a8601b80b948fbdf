"""One endpoint, several values in a message: a call for each."""

from __future__ import annotations

import pytest

from schemas.endpoints import Endpoint, Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import (
    CURRENCY,
    HOLIDAYS,
    NOW,
    TAX,
    TRAINS,
    WEATHER,
    Talk,
    endpoint,
)
from workers.extraction.loop import Asked, Ready, collect, open_collection
from workers.turn.parking import offered, with_put_off


def values(talk: Talk, name: str) -> list[object]:
    assert talk.collecting is not None
    return [progress.values.get(name) for progress in talk.collecting.endpoints]


@pytest.mark.parametrize(
    ("api", "message", "language", "name", "each"),
    [
        (WEATHER, "weather in Tartu, Tallinn and Narva", "en", "city", ["Tartu", "Tallinn", "Narva"]),
        (WEATHER, "ilm Tartus ja Narvas homme", "et", "city", ["Tartu", "Narva"]),
        (WEATHER, "погода в Тарту и в Нарве", "ru", "city", ["Tartu", "Narva"]),
        (WEATHER, "weather in Tartu today and tomorrow", "en", "date", ["2026-12-01", "2026-12-02"]),
        (TRAINS, "trains from Tartu to Tallinn and Narva tomorrow", "en", "to", ["Tallinn", "Narva"]),
        (HOLIDAYS, "riigipühad Eestis ja Lätis mais 2026", "et", "countryIsoCode", ["EE", "LV"]),
        (CURRENCY, "convert 100 euros to dollars and pounds", "en", "toCurrency", ["USD", "GBP"]),
    ],
)
def test_an_enumeration_is_a_call_for_each_value(
    api: Endpoint, message: str, language: Language, name: str, each: list[object]
) -> None:
    talk = Talk(api, language=language)

    assert isinstance(talk.say(message), Ready)
    assert values(talk, name) == each


def test_what_all_lack_is_asked_once_and_given_to_all() -> None:
    talk = Talk(TAX)

    assert talk.ask("car tax of 123ABC and 456DEF").missing == ("calculationYear",)
    assert isinstance(talk.say("2026"), Ready)
    assert values(talk, "regNr") == ["123ABC", "456DEF"]
    assert values(talk, "calculationYear") == [2026, 2026]


def test_an_answer_may_enumerate() -> None:
    talk = Talk(WEATHER)
    talk.ask("weather")

    assert isinstance(talk.say("Tartu and Narva"), Ready)
    assert values(talk, "city") == ["Tartu", "Narva"]


@pytest.mark.parametrize(
    ("api", "message", "language", "each"),
    [
        (CURRENCY, "what's 100 USD in EUR and 50 GBP in EUR", "en",
         [{"amount": 100, "fromCurrency": "USD", "toCurrency": "EUR"},
          {"amount": 50, "fromCurrency": "GBP", "toCurrency": "EUR"}]),
        (WEATHER, "mis ilm on Tartus ja mis ilm on Narvas?", "et", [{"city": "Tartu"}, {"city": "Narva"}]),
        (TAX, "налог за 123ABC за 2025 год и за 456DEF за 2026 год", "ru",
         [{"regNr": "123ABC", "calculationYear": 2025}, {"regNr": "456DEF", "calculationYear": 2026}]),
    ],
)  # fmt: skip
def test_parts_that_each_say_all_are_a_call_each(
    api: Endpoint, message: str, language: Language, each: list[dict[str, object]]
) -> None:
    talk = Talk(api, language=language)

    assert isinstance(talk.say(message), Ready)
    assert talk.collecting is not None
    assert [dict(progress.values) for progress in talk.collecting.endpoints] == each


def test_what_goes_beyond_three_is_left_for_later() -> None:
    talk = Talk(WEATHER)
    outcome = talk.say("weather in Tartu, Tallinn, Narva, Valga and Haapsalu")

    assert values(talk, "city") == ["Tartu", "Tallinn", "Narva"]
    assert outcome.collecting.later == ("Valga", "Haapsalu")
    assert [one.values for one in outcome.collecting.put_off] == [{"city": "Valga"}, {"city": "Haapsalu"}]


def test_the_limit_is_the_collections_own() -> None:
    message = "weather in Tartu, Tallinn and Narva"
    opened = open_collection([WEATHER], message, most_at_once=1)
    outcome = collect(opened, message, language="en", now=NOW)

    assert [one.values["city"] for one in outcome.collecting.endpoints] == ["Tartu"]
    assert outcome.collecting.later == ("Tallinn", "Narva")


def test_what_was_put_off_waits_with_what_was_asked_once() -> None:
    talk = Talk(TAX)
    talk.ask("car tax of 123ABC, 456DEF, 789GHI and 321JKL")
    complete = talk.say("2026").collecting

    chat = with_put_off(None, complete)
    assert chat is not None
    (parked,) = chat.parked
    assert [one.values for one in parked.endpoints] == [{"regNr": "321JKL", "calculationYear": 2026}]
    offer = offered(chat, language="en", now=NOW)
    assert offer is not None
    assert "vehicle tax" in offer.text
    open_again = offer.conversation.collecting
    assert open_again is not None
    assert isinstance(collect(open_again, "yes", language="en", now=NOW), Ready)


def test_what_changes_something_is_called_once_and_the_rest_is_named() -> None:
    renewal = TAX.model_copy(update={"method": "POST"})
    talk = Talk(renewal)
    outcome = talk.say("register 123ABC and 456DEF for 2026")

    assert values(talk, "regNr") == ["123ABC"]
    assert outcome.collecting.later == ("456DEF",)


@pytest.mark.parametrize(
    ("api", "message"),
    [
        (TRAINS, "trains between Tallinn and Tartu tomorrow"),
        (TRAINS, "from Tallinn and to Tartu tomorrow"),
        (CURRENCY, "euros and dollars"),
        (WEATHER, "Tartu and Tartu"),
        (WEATHER, "weather in Tartu, no, in Narva"),
        (HOLIDAYS, "not Estonia and Latvia"),
        (HOLIDAYS, "holidays in Estonia from 1 May and 5 May"),
    ],
)
def test_what_is_one_request_stays_one(api: Endpoint, message: str) -> None:
    talk = Talk(api)

    assert isinstance(talk.say(message), Ready | Asked)
    assert len(values(talk, "any")) == 1


FACTORIAL = endpoint("factorial", ParamSpec(name="number", type="integer", required=True), title="factorial")
CIRCLE = endpoint("circle_area", ParamSpec(name="radius", type="number", required=True), title="area of a circle")


@pytest.mark.parametrize(
    ("api", "message", "language", "name", "each"),
    [
        (FACTORIAL, "Find the factorial of 5, 10 and 15", "en", "number", [5, 10, 15]),
        (FACTORIAL, "arvuta 5, 10 ja 15 faktoriaal", "et", "number", [5, 10, 15]),
        (FACTORIAL, "факториал 5 и 10", "ru", "number", [5, 10]),
        (CIRCLE, "one circle with a radius of 5 and another with a radius of 10", "en", "radius", [5, 10]),
    ],
)
def test_numbers_in_a_row_are_a_call_each(
    api: Endpoint, message: str, language: Language, name: str, each: list[object]
) -> None:
    talk = Talk(api, language=language)

    assert isinstance(talk.say(message), Ready)
    assert values(talk, name) == each


def test_no_part_is_lost_where_one_says_more() -> None:
    talk = Talk(CIRCLE)
    talk.say("the first circle has a radius of 5, the second a radius of 10 and the third a radius of 15")

    assert len(values(talk, "radius")) != 2
