"""Dates and times in three languages."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.endpoints import LANGUAGES, Language
from workers.formatting.dates import read_moment, spoken, spoken_date, spoken_span


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "1 January 2026"), ("et", "1. jaanuar 2026"), ("ru", "1 января 2026 г.")],
)
def test_a_day_is_said_in_the_languages_form(language: Language, said: str) -> None:
    assert spoken_date(date(2026, 1, 1), language) == said


@pytest.mark.parametrize(
    ("case", "said"),
    [("on", "15. juunil 2026"), ("from", "15. juunist 2026"), ("until", "15. juunini 2026")],
)
def test_estonian_gives_the_month_its_ending(case: str, said: str) -> None:
    assert spoken_date(date(2026, 6, 15), "et", case=case) == said  # type: ignore[arg-type]


def test_every_estonian_month_has_its_ending() -> None:
    said = [spoken_date(date(2026, month, 2), "et", case="on").split()[1] for month in range(1, 13)]

    assert said[:4] == ["jaanuaril", "veebruaril", "märtsil", "aprillil"]
    assert said[4:] == ["mail", "juunil", "juulil", "augustil", "septembril", "oktoobril", "novembril", "detsembril"]


def test_a_weekday_stands_in_front() -> None:
    assert spoken_date(date(2026, 12, 5), "et", weekday=True) == "laupäev, 5. detsember 2026"


@pytest.mark.parametrize(
    ("first", "last", "language", "said"),
    [
        (date(2026, 10, 19), date(2026, 10, 25), "en", "19–25 October 2026"),
        (date(2026, 10, 19), date(2026, 10, 25), "et", "19.–25. oktoober 2026"),
        (date(2026, 10, 19), date(2026, 10, 25), "ru", "19–25 октября 2026 г."),
        (date(2026, 2, 23), date(2026, 3, 1), "en", "23 February – 1 March 2026"),
        (date(2026, 12, 21), date(2027, 1, 10), "et", "21. detsember 2026 – 10. jaanuar 2027"),
        (date(2026, 5, 1), date(2026, 5, 1), "en", "1 May 2026"),
    ],
)
def test_a_span_names_what_is_shared_once(first: date, last: date, language: Language, said: str) -> None:
    assert spoken_span(first, last, language) == said


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-01-01", date(2026, 1, 1)),
        ("2026-05-12T14:30:00Z", datetime(2026, 5, 12, 14, 30, tzinfo=UTC)),
        ("14:30", time(14, 30)),
        ("2026-13-01", None),
        ("2026-02-30", None),
        ("20260101", None),
        ("1 January", None),
        ("25:00", None),
        ("", None),
    ],
)
def test_only_iso_forms_are_read_as_moments(written: str, read: object) -> None:
    assert read_moment(written) == read


@pytest.mark.parametrize(
    ("written", "language", "said"),
    [
        ("2026-05-12T14:30:00+03:00", "en", "12 May 2026 at 14:30"),
        ("2026-05-12T14:30:00+03:00", "et", "12. mai 2026 kell 14:30"),
        ("2026-05-12T14:30:00+03:00", "ru", "12 мая 2026 г. в 14:30"),
        ("2026-05-12T14:30:00Z", "en", "12 May 2026 at 14:30 UTC"),
        ("2026-05-12 14:30", "en", "12 May 2026 at 14:30"),
    ],
)
def test_a_moment_keeps_its_clock_and_names_utc(written: str, language: Language, said: str) -> None:
    read = read_moment(written)

    assert read is not None
    assert spoken(read, language) == said


@given(st.dates(), st.sampled_from(LANGUAGES))
def test_every_day_can_be_said(day: date, language: Language) -> None:
    said = spoken_date(day, language)

    assert str(day.day) in said
    assert str(day.year) in said
