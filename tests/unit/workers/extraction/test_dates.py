"""Days and ranges in three languages, seen from Tuesday, 1 December 2026."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.endpoints import Language
from workers.extraction.calendar_math import Calendar
from workers.extraction.text import Text
from workers.extraction.values_dates import Days
from workers.extraction.values_ranges import read_days

TODAY = date(2026, 12, 1)
MONTHS: dict[Language, tuple[str, ...]] = {
    "en": (
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ),
    "et": (
        "jaanuar",
        "veebruar",
        "märts",
        "aprill",
        "mai",
        "juuni",
        "juuli",
        "august",
        "september",
        "oktoober",
        "november",
        "detsember",
    ),
    "ru": (
        "января",
        "февраля",
        "марта",
        "апреля",
        "мая",
        "июня",
        "июля",
        "августа",
        "сентября",
        "октября",
        "ноября",
        "декабря",
    ),
}
# Estonian puts the case ending on the genitive: jaanuarist, oktoobrini.
GENITIVES = (
    "jaanuari", "veebruari", "märtsi", "aprilli", "mai", "juuni",
    "juuli", "augusti", "septembri", "oktoobri", "novembri", "detsembri",
)  # fmt: skip


def read(message: str, *, looks_back: bool = False, month_first: bool = False) -> list[Days]:
    return read_days(Text.of(message), Calendar(today=TODAY, looks_back=looks_back, month_first=month_first))


def spans(message: str, *, looks_back: bool = False) -> list[tuple[str, str]]:
    return [(str(days.first), str(days.last)) for days in read(message, looks_back=looks_back)]


def say(day: date, language: Language) -> str:
    dot = "." if language == "et" else ""
    return f"{day.day}{dot} {MONTHS[language][day.month - 1]} {day.year}"


DAYS = st.dates(min_value=date(1950, 1, 1), max_value=date(2099, 12, 31))


@given(day=DAYS, language=st.sampled_from(["en", "et", "ru"]))
def test_a_day_said_in_words_is_that_day(day: date, language: Language) -> None:
    assert spans(say(day, language)) == [(str(day), str(day))]


@given(day=DAYS)
def test_a_day_written_in_digits_is_that_day(day: date) -> None:
    for written in (day.isoformat(), f"{day:%d.%m.%Y}", f"{day.day}.{day.month}.{day.year}", f"{day:%Y/%m/%d}"):
        assert spans(written) == [(str(day), str(day))]


@given(first=DAYS, length=st.integers(0, 400), language=st.sampled_from(["en", "et", "ru"]))
def test_a_range_said_in_words_is_that_range(first: date, length: int, language: Language) -> None:
    last = first + timedelta(days=length)
    frame = {"en": "from {} to {}", "et": "alates {} kuni {}", "ru": "с {} по {}"}[language]

    assert spans(frame.format(say(first, language), say(last, language))) == [(str(first), str(last))]


@given(first=DAYS, length=st.integers(0, 400))
def test_an_estonian_range_in_case_endings_is_that_range(first: date, length: int) -> None:
    last = first + timedelta(days=length)
    message = (
        f"{first.day}. {GENITIVES[first.month - 1]}st {first.year} "
        f"{last.day}. {GENITIVES[last.month - 1]}ni {last.year}"
    )

    assert spans(message) == [(str(first), str(last))]


@pytest.mark.parametrize(
    ("message", "first", "last"),
    [
        ("1.–5. mai", "2027-05-01", "2027-05-05"),
        ("с 1 по 31 мая", "2027-05-01", "2027-05-31"),
        ("May 1-5, 2026", "2026-05-01", "2026-05-05"),
        ("March 10 to March 20", "2027-03-10", "2027-03-20"),
        ("20 December to 5 January", "2026-12-20", "2027-01-05"),
        ("1. aprillist 30. aprillini", "2027-04-01", "2027-04-30"),
        ("between 1 May and 5 May 2026", "2026-05-01", "2026-05-05"),
        ("this year", "2026-01-01", "2026-12-31"),
        ("sel aastal", "2026-01-01", "2026-12-31"),
        ("в этом году", "2026-01-01", "2026-12-31"),
        ("järgmisel aastal", "2027-01-01", "2027-12-31"),
        ("2026. aastal", "2026-01-01", "2026-12-31"),
        ("next week", "2026-12-07", "2026-12-13"),
        ("järgmisel nädalal", "2026-12-07", "2026-12-13"),
        ("на следующей неделе", "2026-12-07", "2026-12-13"),
        ("this month", "2026-12-01", "2026-12-31"),
        ("eelmisel kuul", "2026-11-01", "2026-11-30"),
        ("в прошлом месяце", "2026-11-01", "2026-11-30"),
        ("Q1 2026", "2026-01-01", "2026-03-31"),
        ("1. kvartal 2026", "2026-01-01", "2026-03-31"),
        ("второй квартал 2026", "2026-04-01", "2026-06-30"),
        ("mais 2026", "2026-05-01", "2026-05-31"),
        ("2025. aasta jaanuar", "2025-01-01", "2025-01-31"),
        ("в мае", "2027-05-01", "2027-05-31"),
        ("this weekend", "2026-12-05", "2026-12-06"),
        ("nädalavahetusel", "2026-12-05", "2026-12-06"),
        ("the last 7 days", "2026-11-25", "2026-12-01"),
        ("viimased 7 päeva", "2026-11-25", "2026-12-01"),
        ("последние 7 дней", "2026-11-25", "2026-12-01"),
        ("next two weeks", "2026-12-01", "2026-12-14"),
        ("today", "2026-12-01", "2026-12-01"),
        ("tomorrow", "2026-12-02", "2026-12-02"),
        ("the day after tomorrow", "2026-12-03", "2026-12-03"),
        ("täna", "2026-12-01", "2026-12-01"),
        ("homme", "2026-12-02", "2026-12-02"),
        ("ülehomme", "2026-12-03", "2026-12-03"),
        ("сегодня", "2026-12-01", "2026-12-01"),
        ("завтра", "2026-12-02", "2026-12-02"),
        ("позавчера", "2026-11-29", "2026-11-29"),
        ("reedel", "2026-12-04", "2026-12-04"),
        ("next Friday", "2026-12-11", "2026-12-11"),
        ("в следующую пятницу", "2026-12-11", "2026-12-11"),
        ("last Friday", "2026-11-27", "2026-11-27"),
        ("in 3 days", "2026-12-04", "2026-12-04"),
        ("kolme päeva pärast", "2026-12-04", "2026-12-04"),
        ("через неделю", "2026-12-08", "2026-12-08"),
        ("two weeks ago", "2026-11-17", "2026-11-17"),
        ("jargmisel nadalal", "2026-12-07", "2026-12-13"),
    ],
)
def test_what_people_call_their_days(message: str, first: str, last: str) -> None:
    assert spans(message) == [(first, last)]


@pytest.mark.parametrize(
    "message",
    ["May I see them?", "1790", "Viru tn 4, 10111 Tallinn", "march on", "the sun", "12:30", "page 3", "v1.2.3"],
)
def test_what_only_looks_like_a_date_is_none(message: str) -> None:
    assert spans(message) == []


@pytest.mark.parametrize("message", ["31.04.2026", "30 February 2026", "2026-13-01", "32. mai 2026", "29.02.2027"])
def test_a_day_that_no_calendar_has_is_impossible(message: str) -> None:
    assert [days.grain for days in read(message)] == ["impossible"]


def test_the_day_after_a_named_day_is_counted_from_it() -> None:
    assert spans("tomorrow and the next day") == [("2026-12-02", "2026-12-02"), ("2026-12-03", "2026-12-03")]


def test_a_day_without_a_year_lies_ahead_unless_the_past_is_spoken_of() -> None:
    assert spans("24 February") == [("2027-02-24", "2027-02-24")]
    assert spans("24 February", looks_back=True) == [("2026-02-24", "2026-02-24")]
    assert spans("in October", looks_back=True) == [("2026-10-01", "2026-10-31")]


def test_slashes_have_two_readings_where_months_may_come_first() -> None:
    (days,) = read("3/5/2026", month_first=True)

    assert (days.first, days.other) == (date(2026, 5, 3), date(2026, 3, 5))
    assert read("13/5/2026", month_first=True)[0].other is None
    assert read("3/5/2026")[0].other is None


@pytest.mark.parametrize(
    ("message", "role"),
    [
        ("alates 1. jaanuarist 2026", "from"),
        ("from 1 May 2026", "from"),
        ("с 1 мая 2026", "from"),
        ("until 31 May 2026", "to"),
        ("kuni 31.05.2026", "to"),
        ("31. maini 2026", "to"),
        ("до 31 мая 2026", "to"),
        ("24. veebruaril 2026", "on"),
        ("on 24 February 2026", "on"),
        ("Is 24 February 2026 a day off?", "on"),
        ("Kas 24. veebruar 2026 on vaba?", "on"),
        ("24. veebruar 2026 on vaba päev?", "on"),
        ("24 февраля 2026 – это праздник?", "on"),
        ("24 February 2026", ""),
    ],
)
def test_a_day_may_begin_or_end_something(message: str, role: str) -> None:
    assert [days.role for days in read(message)] == [role]


@pytest.mark.parametrize(
    ("message", "clock"),
    [
        ("ülehomme kell 15", "15:00:00"),
        ("tomorrow at 9 am", "09:00:00"),
        ("3 pm tomorrow", "15:00:00"),
        ("завтра в 15:30", "15:30:00"),
        ("2026-05-12T08:15:00Z", "08:15:00"),
    ],
)
def test_a_clock_time_stands_with_its_day(message: str, clock: str) -> None:
    assert [str(days.at_first) for days in read(message)] == [clock]


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("a table on the 5th in Tartu", "2026-12-05"),
        ("for the 1st.", "2026-12-01"),
        ("5. kuupäeval", "2026-12-05"),
        ("15-го числа", "2026-12-15"),
        ("Tuesday next week", "2026-12-08"),
        ("Sunday this week", "2026-12-06"),
        ("järgmise nädala teisipäeval", "2026-12-08"),
        ("teisipäeval järgmisel nädalal", "2026-12-08"),
        ("во вторник на следующей неделе", "2026-12-08"),
        ("на следующей неделе в среду", "2026-12-09"),
    ],
)
def test_a_day_named_by_its_number_or_its_week_is_that_day(said: str, day: str) -> None:
    assert spans(said) == [(day, day)]


@pytest.mark.parametrize("said", ["the 2nd floor", "I was the 1st to ask", "the 3rd time"])
def test_an_ordinal_that_counts_something_is_no_day(said: str) -> None:
    assert spans(said) == []
