"""What a follow-up makes of the call before it, on the demo catalogue."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ops.local.catalogue import DEMO_CATALOGUE
from schemas.endpoints import Endpoint, Language
from workers.caching.contexts import FollowUp, LastCall
from workers.caching.followup import judge
from workers.caching.last_calls import Remembered
from workers.extraction.loop import Asked, Ready
from workers.indexing.catalogue import load
from workers.turn.leaning import Heard, Lean, as_of_today, changed, judged, pointed_at, strongest, together
from workers.turn.shifting import as_shifted

ENDPOINTS = {endpoint.name: endpoint for endpoint in load(DEMO_CATALOGUE)[0]}
HOLIDAYS, WEATHER, TAX = (ENDPOINTS[n] for n in ("get_public_holidays", "get_weather", "get_vehicle_tax_info"))
NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
YEAR = {"validFrom": "2026-01-01", "validTo": "2026-12-31"}


def remembered(endpoint: Endpoint, arguments: dict[str, Any], query: str, **more: Any) -> Remembered:
    given: dict[str, Any] = {"language": "en", "finished_at": NOW, "fields": ("startDate", "name"), "result": "r"}
    last = LastCall(
        endpoint_id=endpoint.endpoint_id, version=endpoint.version, arguments=arguments, query=query,
        **(given | {k: v for k, v in more.items() if k in LastCall.model_fields}),
    )  # fmt: skip
    return Remembered(last=last, endpoint=endpoint, turn_id="t", index=more.get("index", 0))


def heard(text: str, language: Language = "en", now: datetime = NOW) -> Heard:
    return Heard(text=text, language=language, answer="", now=now)


def follow(call: Remembered, text: str, language: Language = "en", now: datetime = NOW) -> Ready | Asked | None:
    meant = strongest(judged([call], heard(text, language, now), judge=judge))
    assert meant, f"{text!r} is no follow-up"
    return changed(meant[0], call.endpoint, heard(text, language, now))


def values(outcome: Ready | Asked | None) -> dict[str, Any]:
    assert isinstance(outcome, Ready), outcome
    return outcome.collecting.endpoints[0].values


ESTONIAN_YEAR = remembered(HOLIDAYS, {"countryIsoCode": "EE", **YEAR}, "What are public holidays in Estonia in 2026?")


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Same for Latvia?"),
        ("en", "and in Latvia?"),
        ("en", "what about Latvia"),
        ("et", "aga Läti?"),
        ("et", "ja Lätis?"),
        ("et", "Sama Läti kohta?"),
        ("ru", "а для Латвии?"),
        ("ru", "а в Латвии?"),
        ("ru", "то же самое для Латвии"),
    ],
)
def test_another_country_keeps_the_period(language: Language, text: str) -> None:
    assert values(follow(ESTONIAN_YEAR, text, language)) == {"countryIsoCode": "LV", **YEAR}


@pytest.mark.parametrize(
    ("language", "text"), [("en", "and in 2025?"), ("et", "aga 2025. aastal?"), ("ru", "а в 2025 году?")]
)
def test_another_year_keeps_the_country(language: Language, text: str) -> None:
    assert values(follow(ESTONIAN_YEAR, text, language)) == {
        "countryIsoCode": "EE",
        "validFrom": "2025-01-01",
        "validTo": "2025-12-31",
    }


def test_a_relative_date_is_read_again_from_today() -> None:
    yesterday = NOW - timedelta(days=1)
    arguments = {"city": "Tallinn", "date": "2026-03-10"}
    call = remembered(WEATHER, arguments, "weather in Tallinn tomorrow", finished_at=yesterday)
    assert as_of_today(call.last, WEATHER, now=NOW) == {"city": "Tallinn", "date": "2026-03-11"}
    assert as_of_today(call.last, WEATHER, now=yesterday + timedelta(hours=1)) == arguments


def test_an_absolute_date_stays() -> None:
    yesterday = NOW - timedelta(days=1)
    call = remembered(WEATHER, {"city": "Tallinn", "date": "2026-03-10"}, "weather in Tallinn on 10 March 2026",
                      finished_at=yesterday)  # fmt: skip
    assert as_of_today(call.last, WEATHER, now=NOW) == {"city": "Tallinn", "date": "2026-03-10"}


TRAIN = remembered(
    ENDPOINTS["get_train_times"], {"from": "Tartu", "to": "Tallinn", "date": "2026-03-31"}, "trains", language="en"
)
CAR = remembered(TAX, {"regNr": "123ABC", "calculationYear": 2024}, "car tax for 123ABC in 2024")
SHIFTS: list[tuple[Remembered, Language, str, dict[str, Any]]] = [
    (TRAIN, "en", "and the next day?", {"date": "2026-04-01"}),
    (TRAIN, "en", "and the day before?", {"date": "2026-03-30"}),
    (TRAIN, "en", "what about a week later?", {"date": "2026-04-07"}),
    (TRAIN, "et", "ja järgmisel päeval?", {"date": "2026-04-01"}),
    (TRAIN, "et", "aga nädal hiljem?", {"date": "2026-04-07"}),
    (TRAIN, "ru", "а на следующий день?", {"date": "2026-04-01"}),
    (TRAIN, "ru", "а днём раньше?", {"date": "2026-03-30"}),
    (CAR, "en", "and the year before?", {"calculationYear": 2023}),
    (ESTONIAN_YEAR, "en", "and the year after?", {"validFrom": "2027-01-01", "validTo": "2027-12-31"}),
    (ESTONIAN_YEAR, "et", "ja aasta varem?", {"validFrom": "2025-01-01", "validTo": "2025-12-31"}),
]


@pytest.mark.parametrize(("call", "language", "text", "moved"), SHIFTS, ids=[text for _, _, text, _ in SHIFTS])
def test_the_next_day_is_the_one_after_what_was_asked_for(
    call: Remembered, language: Language, text: str, moved: dict[str, Any]
) -> None:
    assert values(follow(call, text, language)) == call.last.arguments | moved


def test_tomorrow_is_counted_from_today_and_so_is_a_day_after_nothing() -> None:
    assert values(follow(TRAIN, "and tomorrow?"))["date"] == "2026-03-11"
    undated = remembered(WEATHER, {"city": "Tallinn"}, "weather in Tallinn")
    assert values(follow(undated, "and the next day?"))["date"] == "2026-03-11"


@pytest.mark.parametrize(
    ("text", "date", "moved"),
    [("the month after", "2026-01-31", "2026-02-28"), ("the year before", "2024-02-29", "2023-02-28"),
     ("the month before", "2026-03-15", "2026-02-15"), ("the next day", "9999-12-31", "the next day")],
)  # fmt: skip
def test_a_shift_keeps_to_the_calendar(text: str, date: str, moved: str) -> None:
    assert as_shifted(text, ("date",), {"date": date}, WEATHER) == moved


def a_lean(call: Remembered, **follow: Any) -> Lean:
    return Lean(remembered=call, follow=FollowUp(verdict="param_update", confidence=0.9, **follow))


@pytest.mark.parametrize(
    "words", ["Atlantis", "next Monday", "null", "x" * 10_000, '{"a": 1}', "Narnia; DROP TABLE"], ids=range(6)
)
def test_a_value_that_the_schema_does_not_take_is_never_sent(words: str) -> None:
    assert changed(a_lean(ESTONIAN_YEAR, changed={"countryIsoCode": words}), HOLIDAYS, heard(f"and {words}?")) is None


def test_names_outside_the_schema_are_dropped() -> None:
    lean = a_lean(ESTONIAN_YEAR, changed={"countryIsoCode": "Latvia", "admin": "true", "url": "http://evil"})
    assert values(changed(lean, HOLIDAYS, heard("and in Latvia?"))) == {"countryIsoCode": "LV", **YEAR}


def test_an_optional_value_can_be_taken_back_and_a_required_one_is_asked_for() -> None:
    params = (*HOLIDAYS.params[:1], *(p.model_copy(update={"required": False}) for p in HOLIDAYS.params[1:]))
    optional = HOLIDAYS.model_copy(update={"params": params})
    outcome = changed(a_lean(ESTONIAN_YEAR, removed=("validFrom", "validTo")), optional, heard("without the dates"))
    assert values(outcome) == {"countryIsoCode": "EE"}
    asked = changed(a_lean(ESTONIAN_YEAR, removed=("validTo",)), HOLIDAYS, heard("without the last day"))
    assert isinstance(asked, Asked)
    assert asked.missing == ("validTo",)
    assert asked.collecting.endpoints[0].values == {"countryIsoCode": "EE", "validFrom": "2026-01-01"}


def test_under_a_new_schema_what_is_missing_is_asked_for_and_the_rest_is_kept() -> None:
    grown = HOLIDAYS.model_copy(
        update={
            "version": 2,
            "params": (*HOLIDAYS.params, TAX.params[0].model_copy(update={"required": True})),
        }
    )
    asked = changed(a_lean(ESTONIAN_YEAR, changed={"countryIsoCode": "Latvia"}), grown, heard("and in Latvia?"))
    assert isinstance(asked, Asked)
    assert asked.collecting.endpoints[0].values == {"countryIsoCode": "LV", **YEAR}


TWO = (
    remembered(HOLIDAYS, {"countryIsoCode": "EE", **YEAR}, "holidays and weather", index=0),
    remembered(WEATHER, {"city": "Tallinn", "date": "2026-03-11"}, "holidays and weather", index=1),
)


@pytest.mark.parametrize(
    ("text", "which", "rest"),
    [
        ("and the second one for Tartu?", 1, "and for Tartu?"),
        ("aga teine küsimus Tartu kohta?", 1, "aga Tartu kohta?"),
        ("а второй вопрос для Тарту?", 1, "а для Тарту?"),
        ("the first one in Latvia?", 0, "in Latvia?"),
        ("and the third one for Tartu?", None, "and the third one for Tartu?"),
        ("and for Tartu?", None, "and for Tartu?"),
    ],
)
def test_one_of_two_calls_is_pointed_at(text: str, which: int | None, rest: str) -> None:
    assert pointed_at(text, 2) == (which, rest)
    assert pointed_at(text, 1) == (None, text)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("and the second one for Tartu?", "en"),
        ("ja teine küsimus Tartu kohta?", "et"),
        ("а второй вопрос для Тарту?", "ru"),
        ("and in Tartu?", "en"),
    ],
)
def test_a_follow_up_of_two_calls_changes_the_one_that_takes_the_value(text: str, language: Language) -> None:
    meant = strongest(judged(TWO, heard(text, language), judge=judge))
    assert [lean.remembered.endpoint.name for lean in meant] == ["get_weather"]
    outcome = changed(meant[0], WEATHER, heard(text, language))
    assert values(outcome) == {"city": "Tartu", "date": "2026-03-11"}


def test_two_calls_that_take_the_same_value_both_change() -> None:
    twice = tuple(remembered(HOLIDAYS, {"countryIsoCode": c, **YEAR}, "q", index=i) for i, c in enumerate(("EE", "LV")))
    text = heard("and in 2025?")
    meant = strongest(judged(twice, text, judge=judge))
    outcomes = [outcome for lean in meant if (outcome := changed(lean, HOLIDAYS, text))]
    joined = together(outcomes)
    assert [p.values["countryIsoCode"] for p in joined.collecting.endpoints] == ["EE", "LV"]
    assert {p.values["validFrom"] for p in joined.collecting.endpoints} == {"2025-01-01"}


def test_what_is_unlikely_is_no_follow_up() -> None:
    def unsure(*_: Any, **__: Any) -> FollowUp:
        return FollowUp(verdict="param_update", changed={"countryIsoCode": "Latvia"}, confidence=0.4)

    assert strongest(judged([ESTONIAN_YEAR], heard("Latvia"), judge=unsure)) == ()
