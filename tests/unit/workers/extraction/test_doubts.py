"""Words with two readings are asked back, never settled by chance: wrong is worse than missing."""

from __future__ import annotations

import pytest

from schemas.endpoints import Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import TRAINS, Talk, endpoint
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
