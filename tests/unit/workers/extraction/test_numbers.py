"""Numbers as they are written and said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.endpoints import Language
from workers.extraction.text import Text
from workers.extraction.values_numbers import numbers, parse_number

GROUP = {"en": ",", "et": "\u00a0", "ru": "\u00a0"}
POINT = {"en": ".", "et": ",", "ru": ","}


def written(number: float, language: Language, group: str) -> str:
    whole, _, rest = f"{number:,.2f}".partition(".")
    return whole.replace(",", group) + POINT[language] + rest


@given(
    cents=st.integers(-(10**12), 10**12),
    language=st.sampled_from(["en", "et", "ru"]),
    is_grouped=st.booleans(),
)
def test_a_number_written_in_a_language_is_that_number(cents: int, language: Language, *, is_grouped: bool) -> None:
    number = cents / 100

    assert parse_number(written(number, language, GROUP[language] if is_grouped else ""), language) == number


@given(number=st.integers(-(10**18), 10**18), language=st.sampled_from(["en", "et", "ru"]))
def test_a_whole_number_keeps_every_digit(number: int, language: Language) -> None:
    assert parse_number(str(number), language) == number


@pytest.mark.parametrize(
    ("text", "language", "value"),
    [
        ("1 234,56", "et", 1234.56),
        ("1 234,56", "ru", 1234.56),
        ("1.234,56", "et", 1234.56),
        ("1,234.56", "en", 1234.56),
        ("1,234.56", "ru", 1234.56),
        ("1,234", "en", 1234),
        ("1,234", "et", 1.234),
        ("727,242", "en", 727242),
        ("0.5", "en", 0.5),
        ("0,125", "en", 0.125),
        ("10k", "en", 10_000),
        ("2,5 miljonit", "et", 2_500_000),
        ("5 тысяч", "ru", 5_000),
        ("-7", "en", -7),
        ("twenty-five", "en", 25),
        ("kakskümmend viis", "et", 25),
        ("двадцать пять", "ru", 25),
        ("sada", "et", 100),
        ("seventeen", "en", 17),
    ],
)
def test_how_people_write_numbers(text: str, language: Language, value: float) -> None:
    assert parse_number(text, language) == value


@pytest.mark.parametrize("text", ["1,1.1", "12:30", "1.2.3", "", "123ABC", "nan", "inf", "10 10 10", "1,2,3"])
def test_what_is_no_single_number_is_none(text: str) -> None:
    assert parse_number(text, "en") is None


def test_a_dot_before_three_digits_has_two_readings_in_estonian() -> None:
    (mention,) = numbers(Text.of("1.234"), "et")

    assert (mention.value, mention.other) == (1234, 1.234)
    assert parse_number("1.234", "et") is None


def test_three_numbers_in_a_row_stay_three() -> None:
    assert [mention.value for mention in numbers(Text.of("10 10 10"), "en")] == [10, 10, 10]


@pytest.mark.parametrize(
    ("text", "value"), [("12 1/2", 12.5), ("3 3/4", 3.75), ("12½", 12.5), ("7 ¼", 7.25), ("-1 1/2", -1.5)]
)
def test_a_fraction_belongs_to_the_number_before_it(text: str, value: float) -> None:
    assert parse_number(text, "en") == value


@pytest.mark.parametrize("text", ["12 1/2/2026", "12 1/10", "5 6/3 7"])
def test_a_date_or_a_ratio_is_no_fraction(text: str) -> None:
    assert parse_number(text, "en") is None
