"""Numbers, money and plurals in three languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.endpoints import LANGUAGES, Language
from tests.unit.workers.formatting.saying import NBSP
from workers.formatting.locale import counted, listing, plural_form, spoken_money, spoken_number, spoken_percent

BOOKS: dict[Language, tuple[str, ...]] = {
    "en": ("book", "books"),
    "et": ("raamat", "raamatut"),
    "ru": ("книга", "книги", "книг"),
}


@pytest.mark.parametrize(
    ("value", "language", "said"),
    [
        (1234.5, "en", "1,234.5"),
        (1234.5, "et", "1234,5"),
        (12345.5, "et", f"12{NBSP}345,5"),
        (1234.5, "ru", f"1{NBSP}234,5"),
        (0, "en", "0"),
        (-5, "et", "−5"),
        (-0.0, "en", "0"),
        (0.1 + 0.2, "en", "0.3"),
        (999_999.9999999, "en", "1,000,000"),
        (1e300, "en", f"1{NBSP}×{NBSP}10³⁰⁰"),
        (1.5e-9, "et", f"1,5{NBSP}×{NBSP}10⁻⁹"),
        (float("nan"), "en", ""),
        (float("inf"), "en", ""),
    ],
)
def test_a_number_has_the_languages_marks(value: float, language: Language, said: str) -> None:
    assert spoken_number(value, language) == said


def test_a_number_longer_than_python_prints_is_said_as_a_power() -> None:
    assert spoken_number(10**5000, "ru") == f"1{NBSP}×{NBSP}10⁵⁰⁰⁰"


@pytest.mark.parametrize(
    ("value", "currency", "language", "said"),
    [
        (127.4, "EUR", "en", "€127.40"),
        (127.4, "EUR", "et", f"127,40{NBSP}€"),
        (127.4, "eur", "ru", f"127,40{NBSP}€"),
        (-12, "USD", "en", "−$12.00"),
        (1078.04, "SEK", "en", f"SEK{NBSP}1,078.04"),
        (1078.04, "SEK", "et", f"1078,04{NBSP}SEK"),
        (1500, "JPY", "en", "¥1,500"),
        (12.345, "PLN", "en", f"12.35{NBSP}zł"),
        (2.675, "EUR", "en", "€2.68"),
        (0, "EUR", "en", "€0.00"),
        (float("nan"), "EUR", "en", ""),
    ],
)
def test_an_amount_has_its_currency_in_its_place(value: float, currency: str, language: Language, said: str) -> None:
    assert spoken_money(value, currency, language) == said


def test_a_percentage_has_a_space_in_russian_only() -> None:
    assert [spoken_percent(24.5, language) for language in LANGUAGES] == ["24.5%", "24,5%", f"24,5{NBSP}%"]


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 книг"),
        (1, "1 книга"),
        (2, "2 книги"),
        (5, "5 книг"),
        (11, "11 книг"),
        (12, "12 книг"),
        (21, "21 книга"),
        (22, "22 книги"),
        (111, "111 книг"),
        (1.5, "1,5 книги"),
    ],
)
def test_russian_chooses_among_three_forms(count: float, said: str) -> None:
    assert counted(count, "ru", BOOKS["ru"]) == said


@pytest.mark.parametrize(("count", "said"), [(1, "1 raamat"), (0, "0 raamatut"), (2, "2 raamatut")])
def test_estonian_says_the_partitive_after_any_number_but_one(count: int, said: str) -> None:
    assert counted(count, "et", BOOKS["et"]) == said


def test_missing_forms_fall_back_to_the_last_one() -> None:
    assert plural_form(5, "ru", ("книга", "книг")) == "книг"
    assert plural_form(5, "en", ()) == ""


def test_things_are_listed_with_and() -> None:
    assert listing(["a", "b", "c"], "en") == "a, b and c"
    assert listing(["a", "b"], "et") == "a ja b"
    assert listing(["a"], "ru") == "a"
    assert listing(["a", "b"], "en", left_out=7) == "a, b and 7 more"
    assert listing([], "en") == ""


@given(st.floats() | st.integers(), st.sampled_from(LANGUAGES))
def test_any_number_can_be_said_shortly(value: float, language: Language) -> None:
    assert len(spoken_number(value, language)) <= 40
    assert len(spoken_money(value, "EUR", language)) <= 40
