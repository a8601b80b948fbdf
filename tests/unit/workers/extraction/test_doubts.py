"""Words with two readings are asked back, never settled by chance: wrong is worse than missing."""

from __future__ import annotations

import pytest

from schemas.endpoints import Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import HOLIDAYS, PARKING, PRICES, TRAINS, Talk, endpoint
from workers.extraction.loop import Ready

BOX = endpoint(
    "box_volume",
    *(ParamSpec(name=name, type="number", required=True) for name in ("length", "width", "height")),
    title="volume of a box",
)
CALLBACK = endpoint("call_back", ParamSpec(name="phone", required=True, format="phone"), title="callback")
SIZES = endpoint(
    "order_sizes",
    ParamSpec(name="sizes", type="array", required=True, items=ParamSpec(name="size", type="integer")),
    title="order",
)


def asked_for_a_day(language: Language) -> Talk:
    talk = Talk(TRAINS, language=language)
    talk.ask({"en": "from Tallinn to Tartu", "et": "Tallinnast Tartusse", "ru": "из Таллинна в Тарту"}[language])
    return talk


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Friday, 5 December"), ("en", "on 5 December (Friday)"), ("en", "Fri 5.12.2026"),
        ("et", "reedel, 5. detsembril"), ("et", "5. detsembril, reedel"), ("ru", "в пятницу 5 декабря"),
    ],
)  # fmt: skip
def test_a_weekday_that_is_not_the_dates_is_asked_back(language: Language, said: str) -> None:
    """EXT-05: the fifth is a Saturday."""
    talk = asked_for_a_day(language)
    question = talk.ask(said)

    assert "date" not in talk.values()
    assert [choice.payload for choice in question.choices] == ["2026-12-05", "2026-12-04"]
    assert isinstance(talk.say(question.choices[1].payload), Ready)
    assert talk.values()["date"] == "2026-12-04"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "Saturday, 5 December"), ("en", "on 5 December, Saturday"), ("en", "Sat 5.12.2026"),
        ("et", "laupäeval, 5. detsembril"), ("ru", "в субботу, 5 декабря"),
    ],
)  # fmt: skip
def test_a_weekday_that_is_the_dates_is_no_doubt(language: Language, said: str) -> None:
    """EXT-05."""
    talk = asked_for_a_day(language)

    assert isinstance(talk.say(said), Ready)
    assert talk.values()["date"] == "2026-12-05"


def test_the_parameter_decides_what_three_numbers_are() -> None:
    """EXT-09: three quantities, one phone number, one list."""
    told = {}
    for wanted in (BOX, CALLBACK, SIZES):
        talk = Talk(wanted)
        talk.ask("?")
        talk.say("10 10 10")
        told[wanted.name] = talk.values()

    assert told == {
        "box_volume": {"length": 10, "width": 10, "height": 10},
        "call_back": {"phone": "10 10 10"},
        "order_sizes": {"sizes": [10, 10, 10]},
    }


def test_a_period_with_two_readings_is_asked_back_once() -> None:
    talk = Talk(HOLIDAYS)
    asked = talk.ask("public holidays in Estonia from 3/5/2027 to 10/5/2027")
    assert "5 March" in asked.question or "March 5" in asked.question
    first, second = asked.choices
    assert first.payload == "2027-05-03 – 2027-05-10"
    assert second.payload == "2027-03-05 – 2027-10-05"
    ready = talk.say(second.payload)
    assert isinstance(ready, Ready)
    values = ready.collecting.endpoints[0].values
    assert (values["validFrom"], values["validTo"]) == ("2027-03-05", "2027-10-05")


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ("3/5/2027 to 20/5/2027", "2027-05-03", "2027-05-20"),
        ("5/3/2027 to 5/20/2027", "2027-05-03", "2027-05-20"),
        ("from 15/4/2027 to 3/5/2027", "2027-04-15", "2027-05-03"),
    ],
)
def test_one_clear_day_of_a_period_settles_the_other(said: str, first: str, last: str) -> None:
    ready = Talk(HOLIDAYS).say(f"public holidays in Estonia {said}")
    assert isinstance(ready, Ready)
    values = ready.collecting.endpoints[0].values
    assert (values["validFrom"], values["validTo"]) == (first, last)


@pytest.mark.parametrize(("language", "said"), [("et", "3/5/2027–10/5/2027"), ("ru", "с 3/5/2027 по 10/5/2027")])
def test_elsewhere_the_day_comes_first(language: Language, said: str) -> None:
    place = {"et": "riigipühad Eestis", "ru": "праздники в Эстонии"}[language]
    ready = Talk(HOLIDAYS, language=language).say(f"{place} {said}")
    assert isinstance(ready, Ready)
    assert ready.collecting.endpoints[0].values["validTo"] == "2027-05-10"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "electricity prices at 5 pm today"),
        ("et", "elektri hind täna kell 17"),
        ("ru", "цена электричества сегодня в 17:00"),
    ],
)
def test_a_moment_that_is_all_of_a_period_is_its_hour(language: Language, said: str) -> None:
    ready = Talk(PRICES, language=language).say(said)
    assert isinstance(ready, Ready)
    assert ready.collecting.endpoints[0].values == {"start": "2026-12-01T15:00:00Z", "end": "2026-12-01T15:59:59Z"}


def test_a_moment_is_no_hour_for_what_changes_something() -> None:
    assert Talk(PRICES.model_copy(update={"method": "POST"})).ask("prices at 5 pm today").missing == ("end",)


@pytest.mark.parametrize(
    ("language", "said", "zone"),
    [
        ("en", "parking permits for the habrour", "HARBOUR"),
        ("et", "parkimisluba vanalnnas", "OLD_TOWN"),
        ("ru", "парковка старый город", "OLD_TOWN"),
    ],
)
def test_a_misspelt_choice_of_a_first_message_is_read(language: Language, said: str, zone: str) -> None:
    ready = Talk(PARKING, language=language).say(said)
    assert isinstance(ready, Ready)
    assert ready.collecting.endpoints[0].values == {"zone": zone}
