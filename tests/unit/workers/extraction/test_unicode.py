"""Whatever people send, reading it neither crashes nor takes long."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.endpoints import Language
from tests.unit.workers.extraction.small_catalogue import (
    ADDRESS,
    CURRENCY,
    HOLIDAYS,
    PARKING,
    PRICES,
    TAX,
    TRAINS,
    WEATHER,
    Talk,
)
from workers.extraction.continuation import steering, yes_or_no
from workers.extraction.loop import Abandoned, Asked, Ready
from workers.extraction.text import fold

LANGUAGES: tuple[Language, ...] = ("en", "et", "ru")
PIECES = st.sampled_from(
    [
        "2026", "31.04.2026", "1.–5. mai", "с 1 по 31 мая", "next Friday", "99999999999999999999", "Tallinnast", "EE",
        "not", "через 9999 лет", "9999 years ago", "0.0.0", "1,234", "٣", "½", "\x00", "\ud7ff", "🙂", "İ", "ß", "{",
        "[1,", "to", "kuni", "-", ":", "homme", "kell 25", "Viru tn 4", "€", "123ABC", "aasta", "февраль 29",
        "29 February", "9999-12-31", "0001-01-01", "23:59:59Z", "+", "last", "asemel", "q4", "in 0 days", '{"a": NaN}',
    ]
)  # fmt: skip
MESSAGES = st.one_of(st.text(max_size=120), st.lists(PIECES, max_size=12).map(" ".join))


@given(message=MESSAGES, language=st.sampled_from(LANGUAGES))
@settings(max_examples=150, deadline=None)
def test_any_text_is_taken_without_a_crash(message: str, language: Language) -> None:
    talk = Talk(HOLIDAYS, PRICES, TAX, language=language)

    for text in ("holidays", message, message, message):
        assert isinstance(talk.say(text), Asked | Ready | Abandoned)


@given(message=MESSAGES)
@settings(max_examples=100, deadline=None)
def test_any_text_is_taken_for_towns_money_addresses_and_choices(message: str) -> None:
    for endpoint in (TRAINS, CURRENCY, ADDRESS, PARKING, WEATHER):
        talk = Talk(endpoint)
        talk.say("hello")
        talk.say(message)


@given(message=st.text(max_size=200))
@settings(max_examples=200, deadline=None)
def test_folding_keeps_every_character_in_its_place(message: str) -> None:
    assert len(fold(message)) == len(message)
    yes_or_no(message)
    steering(message)


def test_the_last_hours_of_the_calendar_are_shown() -> None:
    talk = Talk(PRICES)
    talk.ask("electricity prices")

    assert "9999" in talk.ask("from 9999-12-31 22:00:00Z").question
