"""What guards find in answers, and what they leave alone."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.evaluation.bench import cases_of
from schemas.base import JsonValue
from schemas.endpoints import Language
from schemas.usage import Judgement
from workers.guarding.guard import Blocked, Said, first_objection
from workers.guarding.numbers import NumbersStandInTheData
from workers.guarding.output import ContactsStandInTheData, NoCards, NoRawData, NoSecrets, RightLanguage
from workers.guarding.sources import Sources
from workers.messages.identifying import likelihoods

DATA: JsonValue = {
    "tax": 127.4, "currency": "EUR", "plate": "123ABC", "from": "2026-02-24", "at": "2026-03-01T15:30:00Z",
    "big": 1234567.891, "days": [{"n": "a"}, {"n": "b"}, {"n": "c"}], "is_open": True,
}  # fmt: skip


likelihoods("warm up")  # loading takes longer than one example of hypothesis may
ASKED: tuple[Judgement, ...] = ("api_answer", "endpoint_disambiguation", "parameter_extraction", "service_intent")


def sentences(told: Any) -> Iterator[str]:
    """What we say ourselves: the texts of a catalogue that are longer than a few words; lists are what people say."""
    if isinstance(told, dict):
        for one in told.values():
            yield from sentences(one)
    elif isinstance(told, str) and len(told.split()) > 4:
        yield told


def objection(text: str, language: Language = "en", *, sources: tuple[JsonValue, ...] = (DATA,)) -> Blocked | None:
    guards = (
        NumbersStandInTheData(), NoRawData(), NoSecrets(), NoCards(), ContactsStandInTheData(), RightLanguage(),
    )  # fmt: skip
    return first_objection(guards, Said(text=text, language=language, sources=Sources(sources)))


@pytest.mark.parametrize(
    "text",
    [
        "The tax for 123ABC is €127.40.",
        "Maks on 127,40 €.",
        "It holds from 24 February 2026, 15:30.",
        "24.02.2026",
        "24/2/2026",
        "1 234 567,89",
        "1,234,567.891",
        "1,234,568",
        "There are 3 of them.",
        "Nothing to count.",
    ],
)
def test_numbers_of_the_data_may_be_said_in_any_custom(text: str) -> None:
    assert objection(text) is None


@pytest.mark.parametrize("text", ["The tax is €128.", "From 25 February 2026.", "There are 4.", "1,234", "127,41 €"])
def test_an_invented_number_is_found(text: str) -> None:
    assert objection(text) == Blocked("numbers", "a number that the data does not hold")


@pytest.mark.parametrize(
    "text",
    [
        "From 24 March 2026.",
        "March 24, 2026",
        "the 24th of Dec",
        "24. märtsil 2026",
        "24 марта 2026 г.",
        "24.03.2026",
        "2026-01-24",
        "Alates 1. veebruarist 2026.",
    ],
)
def test_a_day_that_has_moved_to_another_month_is_found(text: str) -> None:
    assert objection(text, "ru" if "марта" in text else "en", sources=(DATA, {"ends": "2026-12-01"})) == Blocked(
        "numbers", "a date that the data does not hold"
    )


@pytest.mark.parametrize(
    "text",
    [
        "From 24 February to 1 March 2026, 15:30.",
        "24. veebruarist 1. märtsini 2026",
        "с 24 февраля по 1 марта",
        "24.02.2026–01.03.2026",
        "2/24/2026, 24/2/2026",
        "3 may be had, 24 marched on.",
        "March 2026",
        "3 December",
    ],
)
def test_a_day_of_the_data_may_be_said_in_any_custom(text: str) -> None:
    assert objection(text, "ru" if "марта" in text else "en") is None


def test_a_number_of_the_question_may_be_said() -> None:
    assert objection("For 42 people.", sources=(DATA, "a table for 42 people")) is None


@pytest.mark.parametrize(
    "text",
    ['{"tax": 127.4}', "[[ ## answer ## ]] hi", "```json", "<div>127.4</div>", '"tax": 127.4', "{formatted_answer}"],
)
def test_raw_data_is_found(text: str) -> None:
    found = objection(text)
    assert found is not None
    assert found.guard == "raw_data"


@pytest.mark.parametrize(
    "text",
    [
        "The key is sk-proj-abcdefghijklmnop1234.",
        "Authorization: Bearer-abcdefgh",
        "ghp_abcdefghijklmnopqrstuvwxyz012345",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0x.c2lnbmF0dXJl",
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_a_secret_is_found(text: str) -> None:
    found = objection(text, sources=(text,))
    assert found is not None
    assert found.guard == "secrets"


def test_a_card_number_is_found() -> None:
    text = "card 4111 1111 1111 1111"

    assert objection(text, sources=(text,)) == Blocked("cards", "a card number")


@pytest.mark.parametrize(
    ("said", "data"),
    [
        ("Write to help@transport.ee.", {"email": "help@transport.ee"}),
        ("See https://transport.ee/a.", {"page": ["https://transport.ee/a"]}),
        ("EE38 2200 2210 2014 5685", {"iban": "EE382200221020145685"}),
        ("EE382200221020145685", {"EE38 2200 2210 2014 5685": 1}),
    ],
)
def test_a_contact_may_be_said_when_the_data_holds_it(said: str, data: JsonValue) -> None:
    assert objection(said, sources=(data,)) is None
    elsewhere = Said(text=said, language="en", sources=Sources(("22002210 2014 5685 38 EE",)))
    assert ContactsStandInTheData().check(elsewhere) == "a contact that the data does not hold"


@pytest.mark.parametrize("text", ["Your order 4111 1111 1111 1112 is ready.", "Ask for the password at the desk."])
def test_what_only_resembles_a_secret_is_left_alone(text: str) -> None:
    assert objection(text, sources=(text,)) is None


def test_the_wrong_script_is_found() -> None:
    russian = "Налог на ваше транспортное средство составляет сто двадцать семь евро."
    english = "The tax on your vehicle is one hundred and twenty-seven euros and forty cents."

    assert objection(russian, "ru") is None
    assert objection(russian, "en") == Blocked("language", "another language")
    assert objection(english, "ru") == Blocked("language", "another language")
    assert objection("OK, Tallinn.", "ru") is None


OURS: dict[Language, tuple[str, ...]] = {
    language: tuple(
        sentence
        for file in resources.files("workers.messages").iterdir()
        if file.name.startswith(f"{language}.")
        for sentence in sentences(tomllib.loads(file.read_text(encoding="utf-8")))
    )
    for language in ("en", "et")
}


@pytest.mark.parametrize(("language", "other"), [("en", "et"), ("et", "en")])
def test_english_and_estonian_are_told_apart(language: Language, other: Language) -> None:
    said = [
        *OURS[language],
        *(case["message"] for name in ASKED for case in cases_of(name) if case["language"] == language),
    ]
    long = [text for text in said if len(re.findall(r"[^\W\d_]+", text)) >= 10]

    assert len(long) >= 15
    assert [text for text in said if RightLanguage().check(Said(text=text, language=language))] == []
    missed = [text for text in long if not RightLanguage().check(Said(text=text, language=other))]
    assert len(missed) <= len(long) // 10, missed


@pytest.mark.parametrize(
    ("language", "text", "data"),
    [
        (
            "et",
            "Leidsin 2 vastet: Teacher of class 1 in the old town, tähtaeg 3; Driver of the line that is by the sea.",
            {"vacancies": ["Teacher of class 1 in the old town", "Driver of the line that is by the sea"], "n": 3},
        ),
        (
            "en",
            "The newest bill is “Perehüvitiste seaduse ja teiste seaduste muutmise kohta”, which was adopted.",
            {"title": "Perehüvitiste seaduse ja teiste seaduste muutmise kohta"},
        ),
        ("en", "Südaapteek, Kase tn 4, Tartu: open. Raeapteek, Rohu tn 11, Tartu: open all night.", {"n": [4, 11]}),
        ("et", "Open Air Museum, The Old Town, Kadriorg Park, Museum of Art: avatud.", {}),
        ("et", "OK: Tallinn, 5 °C.", {"t": 5}),
    ],
)
def test_names_and_the_datas_own_words_are_of_no_language(language: Language, text: str, data: JsonValue) -> None:
    assert objection(text, language, sources=(data,)) is None


def test_an_answer_that_leaves_the_language_is_found_as_soon_as_it_is_clear() -> None:
    said = "Teie auto maks on nüüd välja arvutatud ja rohkem ei oska ma selle kohta praegu öelda."
    ends = [found.end() for found in re.finditer(r"\w+", said)]

    found = [at for at, end in enumerate(ends, start=1) if objection(said[:end], "en")]

    assert found[0] <= 10
    assert found == list(range(found[0], len(ends) + 1))


@given(
    st.text(max_size=200),
    st.recursive(st.none() | st.text() | st.floats(allow_nan=False, allow_infinity=False), st.lists),
)
def test_nothing_crashes_a_guard(text: str, data: JsonValue) -> None:
    objection(text, sources=(data,))


@given(st.integers(0, 10**12) | st.floats(0, 10**9, allow_nan=False).map(lambda x: round(x, 2)))
def test_a_number_that_stands_in_the_data_is_never_objected_to(number: float) -> None:
    for text in (f"{number}", f"{number:,}", f"{number:,}".replace(",", " "), f"{number}".replace(".", ",")):
        assert objection(f"It is {text}.", sources=({"n": number},)) is None
