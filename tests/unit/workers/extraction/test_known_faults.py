"""The faults of the seed project's loop, by their rows (D-16 … D-35): each must stay mended.

Where a row is about another room, its test is named in that room: D-25 `acceptance/test_complaints.py`, D-27
`integration/turn/test_platform_rows.py`, D-28 and D-29 `classification/test_language.py`, D-31 and D-32
`calling/test_plan.py`, `test_styles.py`.
"""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from schemas.endpoints import Language, ParamSpec
from tests.unit.workers.classification import twins
from tests.unit.workers.extraction.small_catalogue import (
    ADDRESS,
    HOLIDAYS,
    NOW,
    PRICES,
    SCHOOL,
    TAX,
    VOTINGS,
    WEATHER,
    Talk,
    endpoint,
    heard,
)
from workers.classification.api_tools import ApiTools
from workers.classification.collection import Reply, reply_to
from workers.classification.routes import RouteFinder
from workers.extraction.continuation import yes_or_no
from workers.extraction.loop import Abandoned, Asked, Ready

AGE = endpoint("get_fare", ParamSpec(name="age", type="integer", required=True), title="fare")


@pytest.mark.parametrize(
    ("asked", "answer", "name", "value"),
    [
        (HOLIDAYS, "EE", "countryIsoCode", "EE"), (AGE, "22", "age", 22), (AGE, "11", "age", 11), (AGE, "7", "age", 7),
        (AGE, "5", "age", 5),
    ],
)  # fmt: skip
def test_d16_a_short_answer_is_an_answer(asked: object, answer: str, name: str, value: object) -> None:
    talk = Talk(asked)  # type: ignore[arg-type] # an endpoint of the small catalogue
    opened = talk.ask("hello")

    assert reply_to(answer, opened.collecting, wording="en") is Reply.VALUE
    talk.say(answer)
    assert talk.values()[name] == value


@pytest.mark.parametrize(
    "yes", ["Yes.", "yes please", "Jah, jätkame", "Да!", "jah, palun", "yep", "muidugi", "y", "ага", "конечно"]
)
def test_d17_every_shade_of_yes_goes_on(yes: str) -> None:
    talk = Talk(HOLIDAYS)
    for message in ("Estonia", "hmm", "well"):
        talk.ask(message)

    went_on = talk.say(yes)

    assert yes_or_no(yes) == "yes"
    assert isinstance(went_on, Asked)
    assert not went_on.collecting.awaiting_continuation


def test_d18_a_value_at_the_prompt_is_used() -> None:
    talk = Talk(HOLIDAYS)
    for message in ("Estonia from 2026-04-01", "hmm", "well"):
        talk.ask(message)

    assert isinstance(talk.say("2026-04-20"), Ready)


@pytest.mark.parametrize(("language", "no"), [("et", "ei"), ("en", "no"), ("ru", "нет")])
async def test_d19_no_is_acknowledged_and_never_searched(language: Language, no: str) -> None:
    search = twins.WordSearch()
    layer = ApiTools(finder=RouteFinder(search=search, settings=twins.settings()))
    at_prompt = twins.collecting(twins.TAX, awaits_continuation=True)
    decision = await layer.claim(twins.message(no, language=language, chat=twins.conversation(open_=at_prompt)))
    talk = Talk(HOLIDAYS, language=language)
    for message in ("Estonia", "hmm", "well"):
        talk.ask(message)
    end = talk.say(no)

    assert decision is not None
    assert decision.resumes
    assert search.searched == []
    assert isinstance(end, Abandoned)
    assert end.say


@pytest.mark.parametrize(
    "reply",
    ["what are the public holidays and what is the vehicle tax", "for the vehicle tax: 123ABC, 2026", "the tax please"],
    ids=["D-21 the same endpoints", "D-22 one of them", "D-22 in a word"],
)
async def test_d21_d22_an_endpoint_of_the_session_is_no_switch(reply: str) -> None:
    layer = ApiTools(finder=RouteFinder(search=twins.WordSearch(), settings=twins.settings()))
    open_ = twins.collecting(twins.HOLIDAYS, twins.TAX)

    decision = await layer.claim(twins.message(reply, chat=twins.conversation(open_=open_)))

    assert decision is not None
    assert decision.resumes
    assert [one.endpoint_id for one in decision.endpoints] == ["holidays", "tax"]


def test_d23_both_fills_both() -> None:
    talk = Talk(HOLIDAYS, SCHOOL)
    talk.ask("holidays in Estonia")

    assert isinstance(talk.say("both for 2026-01-01 to 2026-03-31"), Ready)
    assert talk.values(0)["validTo"] == talk.values(1)["validTo"] == "2026-03-31"


def test_d23_one_year_said_for_two_names_fills_both() -> None:
    talk = Talk(HOLIDAYS, TAX)
    talk.ask("holidays in Estonia and the vehicle tax of 123ABC")

    talk.say("2026 for both")

    assert talk.values(0)["validFrom"] == "2026-01-01"
    assert talk.values(1)["calculationYear"] == 2026


def test_d24_what_is_complete_is_delivered() -> None:
    talk = Talk(ADDRESS, TAX)
    talk.ask("find an address and my vehicle tax")
    talk.ask("Viru tn 4, Tallinn")
    for message in ("hmm", "well", "yes", "hmm"):
        talk.ask(message)

    end = talk.say("who knows")

    assert isinstance(end, Ready)
    assert [one.endpoint.name for one in end.collecting.endpoints] == ["search_address"]
    assert end.collecting.lacking == ("vehicle tax",)


def test_d26_an_invalid_correction_reopens_the_value() -> None:
    talk = Talk(HOLIDAYS)
    talk.ask("holidays until 2026-12-31")
    assert talk.values()["validTo"] == "2026-12-31"

    again = talk.ask("no, until 31.04.2026")

    assert "validTo" in again.missing


def test_d30_optional_values_are_taken_though_nothing_is_required() -> None:
    assert heard(VOTINGS, "votings of the parliament from 2026-10-01 to 2026-10-31") == {
        "startDate": "2026-10-01",
        "endDate": "2026-10-31",
    }
    assert heard(WEATHER, "weather in Tartu tomorrow") == {"city": "Tartu", "date": "2026-12-02"}


@pytest.mark.parametrize("said", ["nan", "inf", "-inf", "Infinity", "NaN"])
def test_d31_what_is_no_number_is_no_number(said: str) -> None:
    talk = Talk(endpoint("get_area", ParamSpec(name="area", type="number", required=True), title="area"))
    talk.ask("hello")

    talk.ask(said)

    assert talk.values() == {}


def test_d33_the_last_day_ends_with_its_last_second_of_the_persons_clock() -> None:
    values = heard(PRICES, "electricity prices from 2026-01-06 to 2026-01-07")

    assert values == {"start": "2026-01-05T22:00:00Z", "end": "2026-01-07T21:59:59Z"}


def test_d33_today_is_the_persons_today() -> None:
    one_at_night = datetime(2026, 12, 2, 1, tzinfo=ZoneInfo("Europe/Tallinn"))

    assert heard(WEATHER, "ilm Tartus täna", "et", now=one_at_night)["date"] == "2026-12-02"


def test_d33_an_end_before_its_start_is_asked_again() -> None:
    talk = Talk(PRICES)

    assert set(talk.ask("from 2026-01-07 to 2026-01-06").missing) == {"start", "end"}


def test_d35_an_earlier_topic_fills_nothing() -> None:
    earlier = Talk(HOLIDAYS)
    assert isinstance(earlier.say("holidays in Estonia from 2026-01-01 to 2026-03-31"), Ready)

    assert set(Talk(PRICES, now=NOW).ask("electricity prices").missing) == {"start", "end"}


def test_estonian_weather_is_not_taken_for_without() -> None:
    assert heard(WEATHER, "Näita ilma Tartus", language="et") == {"city": "Tartu"}
    talk = Talk(WEATHER, TAX, language="et")
    talk.say("Näita ilma Tartus ja arvuta sõiduki 123ABC maks 2026")

    assert talk.values(0) == {"city": "Tartu"}


def test_estonian_without_still_leaves_out_what_follows() -> None:
    assert heard(WEATHER, "näita kõiki ilma Tartuta", language="et") == {}
