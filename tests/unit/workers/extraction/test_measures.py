"""Sums, marks and lengths for text parameters, and days told apart by what is done on them."""

from __future__ import annotations

import pytest

from schemas.base import JsonValue
from schemas.conversations import Collecting
from schemas.endpoints import Endpoint, Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import NOW, endpoint
from workers.extraction.assigning import hear
from workers.extraction.loop import open_collection
from workers.extraction.reading import read
from workers.extraction.said import Said

PAY = endpoint(
    "pay",
    ParamSpec(name="amount", required=True, description="How much to send"),
    ParamSpec(name="receiver", required=True, description="Who gets it"),
    title="payment",
)
STAY = endpoint(
    "reserve_room",
    ParamSpec(name="check_in_date", type="date", required=True),
    ParamSpec(name="check_out_date", type="date", required=True),
    ParamSpec(name="rating", description="Review rating of the house"),
    ParamSpec(name="insurance", type="boolean", labels={"en": "insurance"}),
    title="stay",
)
NIGHTS = endpoint(
    "nights", ParamSpec(name="stay_length", required=True, description="Length of stay in days"), title="n"
)


def heard(one: Endpoint, message: str, language: Language, asked: tuple[str, ...] = ()) -> dict[str, JsonValue]:
    opened: Collecting = open_collection([one], message).model_copy(update={"asked": asked, "turns": len(asked)})
    (found,) = hear(read(message, language=language, now=NOW), opened).found
    return {name: said.value for name, said in found.items() if isinstance(said, Said)}


@pytest.mark.parametrize(
    ("message", "language", "amount"),
    [
        ("Send 155 bucks to Anna", "en", "155 bucks"),
        ("The amount is 119 dollars, and it should come from my card", "en", "119 dollars"),
        ("pay him one hundred and twenty three euros please", "en", "one hundred and twenty three euros"),
        ("Pay Anna $82", "en", "$82"),
        ("saada talle 45 eurot", "et", "45 eurot"),
        ("переведи ей 45 евро", "ru", "45 евро"),
    ],
)
def test_a_sum_of_money_is_taken_as_it_was_said(message: str, language: Language, amount: str) -> None:
    assert heard(PAY, message, language)["amount"] == amount


def test_a_name_is_no_sum_even_where_a_sum_was_asked_for() -> None:
    assert "amount" not in heard(PAY, "Wilson", "en", asked=("amount",))


@pytest.mark.parametrize(
    ("message", "language", "mark"),
    [
        ("a house rated 4.2 or more", "en", "4.2"),
        ("I'd like the rating to be 4.2 or higher", "en", "4.2"),
        ("It should have at least a 4.4 rating", "en", "4.4"),
        ("hinnanguga vähemalt 4", "et", "4"),
        ("рейтинг не ниже 4", "ru", "4"),
    ],
)
def test_a_mark_stands_beside_its_word(message: str, language: Language, mark: str) -> None:
    assert heard(STAY, message, language)["rating"] == mark


@pytest.mark.parametrize(
    ("message", "language"),
    [("I'll stay for six nights", "en"), ("kuueks ööks, see on 6 ööd", "et"), ("на 6 ночей", "ru")],
)
def test_a_length_is_its_number(message: str, language: Language) -> None:
    assert heard(NIGHTS, message, language)["stay_length"] == "6"


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("I'd check out on 14 May 2026 and check in on 12 May 2026", "en"),
        ("Check in 12 May 2026, checking out 14 May 2026", "en"),
        ("Sõidan 12. mail 2026 ja tulen tagasi 14. mail 2026", "et"),
        ("Уезжаю 12 мая 2026, обратно 14 мая 2026", "ru"),
    ],
)
def test_what_is_done_on_a_day_tells_which_end_it_is(message: str, language: Language) -> None:
    said = heard(STAY, message, language)
    assert (said["check_in_date"], said["check_out_date"]) == ("2026-05-12", "2026-05-14")


def test_the_day_of_a_return_is_not_the_departure() -> None:
    assert heard(STAY, "I want to return on 14 May 2026", "en") == {"check_out_date": "2026-05-14"}


def test_a_thing_that_will_not_be_needed_is_refused() -> None:
    assert heard(STAY, "I won't need insurance", "en")["insurance"] is False


def test_a_noun_after_a_number_changes_a_count_that_is_known() -> None:
    seats = ParamSpec(name="number_of_tickets", type="integer", required=True, description="Number of tickets")
    opened = open_collection([endpoint("buy", seats, title="tickets")], "tickets")
    (progress,) = opened.endpoints
    known = progress.model_copy(update={"values": {"number_of_tickets": 1}})
    for message in ("No, make it three tickets", "I want to have 3 tickets"):
        collecting = opened.model_copy(update={"endpoints": (known,), "turns": 1})
        (found,) = hear(read(message, language="en", now=NOW), collecting).found
        said = found["number_of_tickets"]
        assert isinstance(said, Said)
        assert said.value == 3


@pytest.mark.parametrize("place", ["3236 Grand Avenue", "4906 West El Camino Real # A"])
def test_a_street_keeps_its_number(place: str) -> None:
    ride = endpoint("get_ride", ParamSpec(name="destination", required=True, description="Where to go"), title="ride")
    assert heard(ride, f"I need a cab to {place}", "en")["destination"] == place


def test_a_town_in_small_letters_is_a_place_after_its_preposition() -> None:
    flights = endpoint(
        "flights",
        ParamSpec(name="origin_airport", required=True),
        ParamSpec(name="destination_airport", required=True),
        title="flights",
    )
    assert heard(flights, "a ticket from paris please", "en")["origin_airport"] == "paris"


COMPANY = endpoint(
    "lookup_company",
    ParamSpec(
        name="query",
        required=True,
        description="The company's name, a part of it, or its registry code",
        labels={"en": "company name", "et": "ettevõtte nimi", "ru": "название компании"},
    ),
    title="company lookup",
)


@pytest.mark.parametrize(
    ("message", "language", "name"),
    [
        ("who owns the company bolt technology?", "en", "bolt technology"),
        ("look up the firm called tammepuu ehitus", "en", "tammepuu ehitus"),
        ("kes omab firmat bolt technology", "et", "bolt technology"),
        ("otsi firma swedbank", "et", "swedbank"),
        ("найди фирму тамме эхитус", "ru", "тамме эхитус"),
    ],
)
def test_a_company_may_be_named_in_small_letters(message: str, language: Language, name: str) -> None:
    assert heard(COMPANY, message, language) == {"query": name}


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("is the company still active", "en"),
        ("find the company", "en"),
        ("look up the company that I asked about", "en"),
        ("millal firma asutati?", "et"),
        ("kas firma tegutseb veel", "et"),
        ("otsi firma andmed", "et"),
        ("когда фирма основана", "ru"),
        ("какая компания имеет код", "ru"),
    ],
)
def test_what_is_asked_about_a_company_is_no_name(message: str, language: Language) -> None:
    assert heard(COMPANY, message, language) == {}
