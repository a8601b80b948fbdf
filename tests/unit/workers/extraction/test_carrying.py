"""What is taken from earlier in a chat, what is not, and that it is told."""

from __future__ import annotations

import pytest

from schemas.conversations import Given
from schemas.endpoints import Endpoint, Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import NOW, TRAINS, WEATHER, Talk, endpoint
from workers.extraction.carrying import Earlier, given_after, names_told
from workers.extraction.loop import Asked, Outcome, Ready, collect, open_collection

CITY, DAY = ParamSpec(name="city", required=True, format="city"), ParamSpec(name="date", type="date", required=True)
FIND = endpoint("find_tables", CITY, ParamSpec(name="cuisine"), title="restaurants", service_id="tables")
RESERVE = endpoint(
    "reserve_table",
    CITY,
    DAY,
    ParamSpec(name="time", format="time"),
    ParamSpec(name="terrace", type="boolean"),
    title="table",
    service_id="tables",
    method="POST",
)
BUSES = endpoint(
    "find_buses",
    ParamSpec(name="from_city", required=True, format="city"),
    ParamSpec(name="to_city", required=True, format="city"),
    DAY,
    title="buses",
)


def _earlier(*given: tuple[Endpoint, dict[str, str]], offered: str = "") -> Earlier:
    return Earlier(
        given=tuple(
            Given(
                endpoint_id=one.endpoint_id,
                service_id=one.service_id,
                params=tuple(spec for spec in one.params if spec.name in values),
                values=dict(values),
            )
            for one, values in given
        ),
        offered=offered,
    )


def _say(to: Endpoint, message: str, earlier: Earlier, language: Language = "en") -> Outcome:
    return collect(open_collection([to], message), message, language=language, now=NOW, earlier=earlier)


def _values(outcome: Outcome) -> dict[str, object]:
    return dict(outcome.collecting.endpoints[0].values)


def test_a_value_goes_on_to_another_endpoint_of_the_service_and_is_told() -> None:
    outcome = _say(RESERVE, "Book me a table", _earlier((FIND, {"city": "Tartu"})))

    assert isinstance(outcome, Asked)
    assert _values(outcome) == {"city": "Tartu"}
    assert outcome.missing == ("date",)
    assert "Tartu" in outcome.question


def test_what_the_person_says_now_wins() -> None:
    outcome = _say(RESERVE, "Book me a table in Narva", _earlier((FIND, {"city": "Tartu"})))

    assert _values(outcome)["city"] == "Narva"
    assert outcome.collecting.carried == ()


def test_a_call_that_changes_something_shows_first_what_it_took() -> None:
    outcome = _say(RESERVE, "Book me a table on 5 December 2026", _earlier((FIND, {"city": "Tartu"})))

    assert isinstance(outcome, Asked)
    assert outcome.missing == ()
    assert "Tartu" in outcome.question
    yes = collect(outcome.collecting, "yes", language="en", now=NOW)
    assert isinstance(yes, Ready)
    assert _values(yes) == {"city": "Tartu", "date": "2026-12-05"}


def test_another_service_gets_nothing_unless_it_is_pointed_at() -> None:
    assert _values(_say(WEATHER, "What is the weather?", _earlier((FIND, {"city": "Tartu"})))) == {}


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "What is the weather like there?"),
        ("en", "How will the weather be there?"),
        ("en", "the weather in that city please"),
        ("et", "Mis ilm seal on?"),
        ("ru", "Какая там погода?"),
    ],
)
def test_a_place_that_is_pointed_at_is_taken_and_told(language: Language, said: str) -> None:
    outcome = _say(WEATHER, said, _earlier((FIND, {"city": "Tartu"})), language)

    assert isinstance(outcome, Ready)
    assert _values(outcome) == {"city": "Tartu"}
    assert any("Tartu" in told for told in outcome.collecting.carried)


@pytest.mark.parametrize("said", ["Is there rain?", "Hi there, how is the weather?", "Are there any storms?"])
def test_there_is_points_at_nothing(said: str) -> None:
    assert "city" not in _values(_say(WEATHER, said, _earlier((FIND, {"city": "Tartu"}))))


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("Find a bus going there", {"to_city": "Riga"}),
        ("Find a bus from there", {"from_city": "Riga"}),
        ("Find a bus going there on the same day", {"to_city": "Riga", "date": "2026-12-05"}),
    ],
)
def test_a_journey_is_pointed_at_by_its_way(said: str, known: dict[str, str]) -> None:
    earlier = _earlier((TRAINS, {"from": "Tallinn", "to": "Riga", "date": "2026-12-05"}))

    assert _values(_say(BUSES, said, earlier)) == known


def test_the_latest_place_is_meant() -> None:
    earlier = _earlier((FIND, {"city": "Tartu"}), (RESERVE, {"city": "Narva", "date": "2026-12-05"}))

    assert _values(_say(WEATHER, "the weather there that day", earlier)) == {"city": "Narva", "date": "2026-12-05"}


def test_what_was_offered_is_taken_with_a_yes_and_shown() -> None:
    offer = _earlier(offered="There is a table in Tartu on 5 December 2026 at 19:00, on the terrace. Shall I book it?")
    outcome = _say(RESERVE, "Yes", offer)

    assert isinstance(outcome, Asked)  # a call that changes something
    assert _values(outcome) == {"city": "Tartu", "date": "2026-12-05", "time": "19:00"}
    assert "19:00" in outcome.question


@pytest.mark.parametrize("said", ["No", "How much is it?", "Book me a table"])
def test_nothing_that_was_offered_is_taken_without_a_yes(said: str) -> None:
    assert _values(_say(RESERVE, said, _earlier(offered="There is one in Tartu on 5 December 2026."))) == {}


def test_a_chat_gives_what_its_collections_hold_now() -> None:
    talk = Talk(WEATHER)
    talk.say("the weather in Tartu")
    first = given_after((), talk.collecting)
    other = open_collection([WEATHER], "again")

    assert [(one.endpoint_id, one.values) for one in first] == [("get_weather", {"city": "Tartu"})]
    assert given_after(first, None) == first
    assert given_after(first, other) == ()


VISIT = endpoint(
    "book_visit",
    ParamSpec(name="salon_name", required=True),
    DAY,
    title="visit",
    service_id="tables",
    method="POST",
)


@pytest.mark.parametrize(
    ("told", "said", "name"),
    [
        ("I found 3. How about Golden Fleece at 12 Lai Street in Tartu?", "Great, book it", "Golden Fleece"),
        ("Golden Fleece is a good one. Its address is 12 Lai Street.", "Book me a visit there", "Golden Fleece"),
        ("You could try Golden Fleece or Silver Comb.", "Book a visit to Silver Comb", "Silver Comb"),
        ("You could try Golden Fleece or Silver Comb.", "Book a visit", None),
        ("They are at 12 Lai Street. That is all.", "Book a visit", None),
    ],
)
def test_the_name_of_what_was_found_is_taken_where_it_can_be_no_other(told: str, said: str, name: str | None) -> None:
    given = _earlier((FIND, {"city": "Tartu"})).given

    outcome = _say(VISIT, said, Earlier(given=given, told=(told,)))

    assert _values(outcome).get("salon_name") == name


def test_a_name_told_by_another_service_is_not_taken() -> None:
    earlier = Earlier(given=_earlier((WEATHER, {"city": "Tartu"})).given, told=("How about Golden Fleece?",))

    assert "salon_name" not in _values(_say(VISIT, "Book a visit", earlier))


def test_to_whom_and_how_much_is_never_carried_on() -> None:
    who, much = ParamSpec(name="receiver", required=True), ParamSpec(name="amount", required=True)
    pay = endpoint("pay", who, much, service_id="bank", method="POST", title="payment")
    ask = endpoint("request_money", who, much, service_id="bank", method="POST", title="request")

    assert _values(_say(pay, "Make another payment", _earlier((ask, {"receiver": "Anna", "amount": "$5"})))) == {}


def test_a_search_takes_from_an_offer_only_what_it_must_have() -> None:
    stars = ParamSpec(name="stars", type="integer")
    offered = "There is a 5 star hotel in Riga, with 5 stars."
    hotels = endpoint("hotels", CITY, stars, title="hotels")

    assert _values(_say(hotels, "sounds good", _earlier(offered=offered))) == {"city": "Riga"}


def test_a_name_told_in_degrees_or_after_in_is_no_name_of_what_was_found() -> None:
    told = "It is 90 degrees Fahrenheit in Rapla. How about Golden Fleece?"

    assert names_told(told, NOW) == ["Golden Fleece"]
