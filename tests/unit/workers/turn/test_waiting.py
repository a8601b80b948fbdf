"""A second request while a collection is open: what waits is told, and what was said for it in passing is kept."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schemas.conversations import Collecting, Conversation
from schemas.endpoints import Endpoint, Language
from schemas.routing import Decision, Layer, PutOff
from tests.unit.workers.extraction.small_catalogue import TAX, TRAINS, WEATHER, Talk
from workers.turn.parking import left_by, waiting_behind

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def open_(endpoint: Endpoint, message: str) -> Collecting:
    return Talk(endpoint).ask(message).collecting


def to(*endpoints: Endpoint, resumes: bool = False, later: tuple[PutOff, ...] = ()) -> Decision:
    return Decision(layer=Layer.SERVICE, language="en", rule="any", endpoints=endpoints, resumes=resumes, later=later)


def values_of(chat: Conversation | None, place: int = -1) -> dict[str, object]:
    assert chat is not None
    return dict(chat.parked[place].endpoints[0].values)


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "After this I'll come to vehicle tax."), ("et", "Pärast seda tegelen teemaga: vehicle tax."),
        ("ru", "После этого вернусь к теме: vehicle tax."),
    ],
)  # fmt: skip
def test_what_is_left_for_another_question_is_named(language: Language, told: str) -> None:
    before = Conversation(collecting=open_(TAX, "vehicle tax"))
    after = left_by(to(WEATHER), before, now=NOW, message="what is the weather?")

    assert waiting_behind(before, after, language=language) == told
    assert waiting_behind(after, after, language=language) == ""
    assert waiting_behind(None, None, language=language) == ""


@pytest.mark.parametrize(
    "message", ["123ABC and what is the weather in Tartu?", "It's 123ABC. What is the weather in Tartu?"]
)
def test_what_is_said_in_passing_is_kept(message: str) -> None:
    before = Conversation(collecting=open_(TAX, "vehicle tax"))

    assert values_of(left_by(to(WEATHER), before, now=NOW, message=message)) == {"regNr": "123ABC"}


def test_what_is_said_for_the_new_question_fills_nothing_of_the_old_one() -> None:
    before = Conversation(collecting=open_(TRAINS, "trains from Tallinn"))
    after = left_by(to(WEATHER), before, now=NOW, message="what is the weather in Tartu on 5 December 2026?")

    assert values_of(after) == {"from": "Tallinn"}


def test_a_part_that_asks_for_something_else_waits_with_its_values() -> None:
    before = Conversation(collecting=open_(TAX, "vehicle tax"))
    put_off = PutOff(part="show the weather in Tartu", endpoint=WEATHER)
    after = left_by(to(TAX, resumes=True, later=(put_off,)), before, now=NOW)

    assert after is not None
    assert after.collecting == before.collecting
    assert values_of(after) == {"city": "Tartu"}
    assert waiting_behind(before, after, language="en") == "After this I'll come to weather."
    again = left_by(to(TAX, resumes=True, later=(put_off,)), after, now=NOW)
    assert again is not None
    assert len(again.parked) == 1
