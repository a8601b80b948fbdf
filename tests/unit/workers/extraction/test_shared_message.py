"""One message about several endpoints: each takes what was said for it, and nothing that was said for another."""

from __future__ import annotations

import pytest

from schemas.endpoints import Endpoint, Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import CURRENCY, TAX, WEATHER, Talk, endpoint, heard
from workers.extraction.loop import Ready

CAR_TAX = TAX.model_copy(update={"description": "Vehicle tax of a car", "descriptions": {"ru": "Налог на машину"}})
SKIES = WEATHER.model_copy(update={"description": "The weather in a town", "descriptions": {"ru": "Погода в городе"}})
RATES = CURRENCY.model_copy(update={"params": (*CURRENCY.params, ParamSpec(name="date", type="date"))})
VISAS = endpoint(
    "get_visa_rules",
    ParamSpec(name="fromCountry", required=True, description="The country of your passport, as ISO code"),
    ParamSpec(name="toCountry", required=True, description="The country you travel to, as ISO code"),
    title="visa rules",
)


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "the weather in Tartu and the tax of the car 123ABC in 2026"),
        ("en", "tax 123ABC 2026 and the weather in Tartu"),
        ("en", "the weather in Tartu, also for 123ABC in 2026"),
        ("et", "Ilm Tartus ja auto 123ABC maks 2026"),
        ("et", "Auto 123ABC maks aastal 2026 ning ilm Tartus"),
        ("ru", "погода в Тарту и налог на машину 123ABC за 2026 год"),
        ("ru", "налог за 2026 год на 123ABC, а также погода в Тарту"),
    ],
)
@pytest.mark.parametrize("together", [(SKIES, CAR_TAX), (CAR_TAX, SKIES)], ids=["in order", "the other way round"])
def test_what_was_said_for_each_is_not_asked_for(
    language: Language, message: str, together: tuple[Endpoint, Endpoint]
) -> None:
    talk = Talk(*together, language=language)

    assert isinstance(talk.say(message), Ready)
    values = {one.name: talk.values(place) for place, one in enumerate(together)}
    assert values[SKIES.name] == {"city": "Tartu"}
    assert values[CAR_TAX.name] == {"regNr": "123ABC", "calculationYear": 2026}


def test_a_day_said_for_one_colours_no_optional_day_of_another() -> None:
    talk = Talk(RATES, SKIES)
    talk.say("Convert 100 euros to dollars and the weather in Tartu on 7 December")

    assert "date" not in talk.values(0)
    assert talk.values(1)["date"] == "2026-12-07"


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "a visa for India with an Estonian passport"),
        ("en", "Estonian passport, going to India"),
        ("et", "Eesti passiga Indiasse"),
        ("ru", "с эстонским паспортом в Индию"),
    ],
)
def test_a_country_belongs_to_the_word_behind_it(language: Language, message: str) -> None:
    """`same type twice`: by preposition, by case ending, or by the noun that the name describes."""
    assert heard(VISAS, message, language) == {"fromCountry": "EE", "toCountry": "IN"}


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "pharmacies in Tartu and weather in Tallinn tomorrow"),
        ("et", "apteegid Tartus ja ilm Tallinnas homme"),
        ("ru", "аптеки в Тарту и погода в Таллине завтра"),
        ("et", "Ilm Tallinnas homme ja apteegid Tartus"),
    ],
)
def test_two_towns_for_two_endpoints_are_each_their_own(language: Language, message: str) -> None:
    town = ParamSpec(name="city", required=True, format="city")
    chemists = endpoint(
        "find_pharmacies", town, title="pharmacies", descriptions={"et": "Apteegid linnas", "ru": "Аптеки в городе"}
    )
    skies = SKIES.model_copy(update={"descriptions": {"et": "Ilm linnas", "ru": "Погода в городе"}})

    ready = Talk(chemists, skies, language=language).say(message)

    assert [dict(one.values) for one in ready.collecting.endpoints] == [
        {"city": "Tartu"},
        {"city": "Tallinn", "date": "2026-12-02"},
    ]
