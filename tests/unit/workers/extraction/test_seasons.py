"""Seasons, "right now", and hours between bare numbers, seen from Tuesday, 1 December 2026."""

from __future__ import annotations

from datetime import date, time

import pytest

from workers.extraction.calendar_math import Calendar
from workers.extraction.text import Text
from workers.extraction.values_dates import Days
from workers.extraction.values_ranges import read_days

TODAY = date(2026, 12, 1)


def read(message: str, *, today: date = TODAY, looks_back: bool = False) -> list[Days]:
    return read_days(Text.of(message), Calendar(today=today, looks_back=looks_back))


@pytest.mark.parametrize(
    ("message", "first", "last"),
    [
        ("in summer 2026", "2026-06-01", "2026-08-31"),
        ("summer 2026", "2026-06-01", "2026-08-31"),
        ("this spring", "2027-03-01", "2027-05-31"),
        ("last autumn", "2026-09-01", "2026-11-30"),
        ("during the winter", "2026-12-01", "2027-02-28"),
        ("next winter", "2027-12-01", "2028-02-29"),
        ("in the fall", "2027-09-01", "2027-11-30"),
        ("suvel", "2027-06-01", "2027-08-31"),
        ("2026. aasta kevadel", "2026-03-01", "2026-05-31"),
        ("eelmisel sügisel", "2026-09-01", "2026-11-30"),
        ("весной", "2027-03-01", "2027-05-31"),
        ("летом 2027 года", "2027-06-01", "2027-08-31"),
        ("прошлой зимой", "2025-12-01", "2026-02-28"),
        ("at the moment", "2026-12-01", "2026-12-01"),
        ("praegu", "2026-12-01", "2026-12-01"),
        ("сейчас", "2026-12-01", "2026-12-01"),
    ],
)
def test_a_season_is_its_three_months(message: str, first: str, last: str) -> None:
    assert [(str(days.first), str(days.last)) for days in read(message)] == [(first, last)]


@pytest.mark.parametrize(
    "message", ["spring rolls", "the prices fall", "Suvi Tamm", "5 лет", "winter tyres", "kevadvaheaeg", "talvepood"]
)
def test_a_word_that_only_begins_like_a_season_is_none(message: str) -> None:
    assert read(message) == []


def test_the_winter_of_a_year_may_begin_or_end_in_it_and_is_not_guessed() -> None:
    assert [days.grain for days in read("winter 2026")] == ["year"]


def test_the_season_that_is_on_is_the_one_to_come() -> None:
    (days,) = read("in winter", today=date(2027, 2, 3))

    assert (str(days.first), str(days.last)) == ("2026-12-01", "2027-02-28")


def test_who_speaks_of_the_past_means_the_season_gone_by() -> None:
    (days,) = read("suvel", looks_back=True)

    assert str(days.first) == "2026-06-01"


@pytest.mark.parametrize("message", ["tomorrow from 10 to 12", "tomorrow between 10 and 12", "завтра с 10 до 12"])
def test_two_numbers_behind_a_day_are_its_hours(message: str) -> None:
    (days,) = read(message)

    assert (days.at_first, days.at_last) == (time(10), time(12))


@pytest.mark.parametrize("message", ["tomorrow from 10 to 12 euros", "tomorrow between 10 and 12 people"])
def test_two_numbers_that_count_something_are_no_hours(message: str) -> None:
    assert [days.at_first for days in read(message)] == [None]
