"""Values that come beside a message: read as answers would be, and never believed where they are no value."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.base import JsonValue
from schemas.endpoints import Endpoint, ParamSpec
from tests.unit.workers.extraction.small_catalogue import HOLIDAYS, NOW, PARKING, SCHOOL, TAX, TRAINS, endpoint
from workers.extraction.loop import Asked, Ready, collect, open_collection
from workers.extraction.seeding import seeded

ALL = endpoint(
    "everything",
    ParamSpec(name="count", type="integer"), ParamSpec(name="amount", type="number"),
    ParamSpec(name="flag", type="boolean"), ParamSpec(name="day", type="date"),
    ParamSpec(name="moment", type="datetime"),
    ParamSpec(name="towns", type="array", items=ParamSpec(name="town", format="city")),
    ParamSpec(name="filter", type="object"), ParamSpec(name="iban"), ParamSpec(name="email"), ParamSpec(name="note"),
    ParamSpec(name="parcel_id"), ParamSpec(name="country", description="ISO country code"),
)  # fmt: skip


def seeds_of(*endpoints: Endpoint, place: int = 0, **seeds: JsonValue) -> dict[str, JsonValue]:
    fresh = open_collection(endpoints, "?")
    return dict(seeded(fresh, seeds, language="en", now=NOW).endpoints[place].values)


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        ("count", 3, 3), ("count", "3", 3), ("amount", 12.5, 12.5), ("amount", "1,234.56", 1234.56),
        ("flag", False, False), ("flag", "yes", True),
        ("day", "2026-12-05", "2026-12-05"), ("day", "5 December 2026", "2026-12-05"), ("country", "Estonia", "EE"),
        ("moment", "2026-12-05T10:00:00Z", "2026-12-05T10:00:00Z"), ("towns", ["Tartu", "Narva"], ["Tartu", "Narva"]),
        ("filter", {"a": [1]}, {"a": [1]}), ("email", "mari@example.ee", "mari@example.ee"),
        ("note", "by hand", "by hand"),
        ("parcel_id", "007", "007"),
    ],
)  # fmt: skip
def test_what_fits_is_taken_in_the_parameters_own_form(name: str, given: JsonValue, value: JsonValue) -> None:
    assert seeds_of(ALL, **{name: given}) == {name: value}


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("count", 2.5), ("count", True), ("count", "many"), ("amount", float("nan")), ("flag", 1), ("flag", "perhaps"),
        ("day", "31.04.2026"), ("day", 20261205), ("iban", "EE471000001020145686"), ("email", "mari"), ("towns", []),
        ("towns", [None]), ("filter", "x"), ("note", ""), ("note", None), ("note", ["a"]),
        ("isAdmin", True),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_as_if_it_had_not_come(name: str, given: JsonValue) -> None:
    assert seeds_of(ALL, **{name: given}) == {}


def test_a_choice_that_is_not_offered_is_dropped() -> None:
    assert seeds_of(PARKING, zone="OLD_TOWN") == {"zone": "OLD_TOWN"}
    assert seeds_of(PARKING, zone="city centre") == {"zone": "CENTRE"}
    assert seeds_of(PARKING, zone="NOWHERE") == {}


def test_a_period_that_ends_before_it_begins_is_asked_for() -> None:
    values = seeds_of(HOLIDAYS, countryIsoCode="EE", validFrom="2026-05-05", validTo="2026-05-01")

    assert values == {"countryIsoCode": "EE"}


def test_what_the_person_says_wins_and_only_the_rest_is_asked_for() -> None:
    fresh = seeded(open_collection([HOLIDAYS], "?"), {"countryIsoCode": "EE"}, language="en", now=NOW)
    outcome = collect(fresh, "holidays in Latvia from 2026-05-01", language="en", now=NOW)

    assert isinstance(outcome, Asked)
    assert outcome.missing == ("validTo",)
    assert outcome.collecting.endpoints[0].values["countryIsoCode"] == "LV"


def test_seeds_alone_may_be_all_that_is_needed() -> None:
    fresh = seeded(open_collection([TAX], "?"), {"regNr": "123ABC", "calculationYear": "2026"}, language="en", now=NOW)

    assert isinstance(collect(fresh, "what is the tax of my car", language="en", now=NOW), Ready)


def test_every_endpoint_that_has_the_parameter_gets_the_seed() -> None:
    assert seeds_of(HOLIDAYS, SCHOOL, TAX, place=0, countryIsoCode="EE") == {"countryIsoCode": "EE"}
    assert seeds_of(HOLIDAYS, SCHOOL, TAX, place=1, countryIsoCode="EE") == {"countryIsoCode": "EE"}
    assert seeds_of(HOLIDAYS, SCHOOL, TAX, place=2, countryIsoCode="EE") == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60)
@given(given_=JSON, name=st.sampled_from([spec.name for spec in (*ALL.params, *TRAINS.params)]))
def test_nothing_that_comes_breaks_it(given_: JsonValue, name: str) -> None:
    seeds_of(ALL, TRAINS, **{name: given_})
