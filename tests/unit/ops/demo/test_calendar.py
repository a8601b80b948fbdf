"""Movable feasts, holidays of countries, school breaks."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.demo.calendar import easter, on_rule, public_holidays, school_holidays
from ops.demo.requests import Given, Refused
from ops.demo.tables import table

TODAY = date(2026, 12, 1)


def asked(**values: str) -> Given:
    return Given(values, today=TODAY)


def days(country: str, year: int) -> list[str]:
    found: Any = public_holidays(
        asked(countryIsoCode=country, validFrom=f"{year}-01-01", validTo=f"{year}-12-31"),
    )
    return [holiday["startDate"] for holiday in found]


@pytest.mark.parametrize(
    ("year", "day"),
    [
        (1961, (4, 2)),
        (2000, (4, 23)),
        (2008, (3, 23)),
        (2024, (3, 31)),
        (2025, (4, 20)),
        (2026, (4, 5)),
        (2038, (4, 25)),
    ],
)
def test_easter_falls_on_the_known_sundays(year: int, day: tuple[int, int]) -> None:
    assert easter(year) == date(year, *day)


@given(st.integers(min_value=1600, max_value=9000))
def test_easter_is_a_sunday_between_22_march_and_25_april(year: int) -> None:
    day = easter(year)

    assert day.weekday() == 6
    assert date(year, 3, 22) <= day <= date(year, 4, 25)


def test_estonia_has_its_twelve_days() -> None:
    assert days("EE", 2026) == [
        "2026-01-01",
        "2026-02-24",
        "2026-04-03",
        "2026-04-05",
        "2026-05-01",
        "2026-05-24",
        "2026-06-23",
        "2026-06-24",
        "2026-08-20",
        "2026-12-24",
        "2026-12-25",
        "2026-12-26",
    ]


def test_finnish_midsummer_is_a_saturday_in_every_year() -> None:
    assert all(on_rule("sat>=06-20", year).weekday() == 5 for year in range(2020, 2040))
    assert "2026-06-20" in days("FI", 2026)


@pytest.mark.parametrize("country", list(table("holidays")["countries"]))
def test_each_country_names_every_day_in_three_languages(country: str) -> None:
    found: Any = public_holidays(asked(countryIsoCode=country, validFrom="2027-01-01", validTo="2027-12-31"))

    assert len(found) >= 9
    assert all([text["language"] for text in holiday["name"]] == ["EN", "ET", "RU"] for holiday in found)
    assert [holiday["startDate"] for holiday in found] == sorted(holiday["startDate"] for holiday in found)


def test_an_unreadable_rule_is_named() -> None:
    with pytest.raises(ValueError, match="no such rule"):
        on_rule("midsummer", 2026)


def test_school_breaks_that_touch_the_period_are_given() -> None:
    found: Any = school_holidays(asked(validFrom="2026-10-01", validTo="2027-01-05"))

    assert [(one["startDate"], one["endDate"]) for one in found] == [
        ("2026-10-19", "2026-10-25"),
        ("2026-12-21", "2027-01-10"),
    ]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"validFrom": "2026-01-01", "validTo": "2026-02-01"}, "countryIsoCode"),
        ({"countryIsoCode": "XX", "validFrom": "2026-01-01", "validTo": "2026-02-01"}, "countryIsoCode"),
        ({"countryIsoCode": "EE", "validFrom": "tomorrow", "validTo": "2026-02-01"}, "validFrom"),
        ({"countryIsoCode": "EE", "validFrom": "2026-03-01", "validTo": "2026-02-01"}, "validTo"),
        ({"countryIsoCode": "EE", "validFrom": "2020-01-01", "validTo": "2026-02-01"}, "validTo"),
    ],
)
def test_a_fault_is_named_by_its_field(values: dict[str, str], field: str) -> None:
    with pytest.raises(Refused) as refused:
        public_holidays(asked(**values))

    assert field in [name for name, _ in refused.value.faults]
