"""The other services: deterministic, believable, and exact about what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from ops.demo.civic import Library, companies, convert, votings
from ops.demo.energy import electricity_prices
from ops.demo.places import addresses, pharmacies, trains, weather
from ops.demo.requests import Given, Refused
from ops.demo.vehicles import parking_fines, vehicle_tax
from schemas.base import JsonValue

TODAY = date(2026, 12, 1)
Service = Callable[[Given], JsonValue]


def ask(service: Service, **values: object) -> Any:
    return service(Given(values, today=TODAY))


def refusal(service: Service, **values: object) -> Refused:
    with pytest.raises(Refused) as refused:
        ask(service, **values)
    return refused.value


def test_the_same_question_gets_the_same_answer() -> None:
    question = {"start": "2026-05-12T00:00:00Z", "end": "2026-05-13T00:00:00Z"}

    assert ask(electricity_prices, **question) == ask(electricity_prices, **question)
    assert ask(vehicle_tax, regNr="123ABC", calculationYear=2026) == ask(
        vehicle_tax, regNr="123 abc", calculationYear="2026"
    )


def test_a_day_has_its_hours_also_when_the_clock_changes() -> None:
    spring = ask(electricity_prices, start="2026-03-28T22:00:00Z", end="2026-03-29T21:00:00Z")
    autumn = ask(electricity_prices, start="2026-10-24T21:00:00Z", end="2026-10-25T22:00:00Z")

    assert len(spring["hours"]) == 23
    assert len(autumn["hours"]) == 25
    assert len({hour["start"] for hour in autumn["hours"]}) == 25


def test_the_mean_lies_between_the_cheapest_and_the_dearest_hour() -> None:
    found = ask(electricity_prices, start="2026-01-12T00:00:00Z", end="2026-01-13T00:00:00Z")

    assert found["cheapest"]["centsPerKwh"] < found["averageCentsPerKwh"] < found["dearest"]["centsPerKwh"]
    assert found["cheapest"]["centsPerKwh"] >= 0
    assert found["dearest"]["centsPerKwh"] < 40


def test_a_single_hour_has_no_extremes() -> None:
    found = ask(electricity_prices, start="2026-01-12T10:00:00Z", end="2026-01-12T10:30:00Z")

    assert found["cheapest"] is None
    assert len(found["hours"]) == 1


@pytest.mark.parametrize("plate", ["123ABC", "777XYZ", "456DEF", "001AAA", "99BCD"])
def test_the_parts_of_the_tax_and_its_payments_add_up(plate: str) -> None:
    found = ask(vehicle_tax, regNr=plate, calculationYear=2026)

    tax = found["tax"]
    assert tax["total"] == pytest.approx(tax["base"] + tax["emissions"] + tax["mass"], abs=0.011)
    assert sum(part["amount"] for part in found["payments"]) == pytest.approx(tax["total"], abs=0.011)
    assert len(found["payments"]) == (1 if tax["total"] <= 100 else 2)


def test_a_wrong_plate_and_year_are_both_named() -> None:
    faults = refusal(vehicle_tax, regNr="nonsense!", calculationYear=1999).faults

    assert [field for field, _ in faults] == ["regNr", "calculationYear"]
    assert "2025 to 2027" in faults[1][1]


def test_fines_sum_up_and_a_notice_is_one_fine() -> None:
    by_plate = ask(parking_fines, reference="123ABC")
    by_notice = ask(parking_fines, reference="PT-2026-004512")

    assert by_plate["total"] == sum(fine["amount"] for fine in by_plate["fines"])
    assert [fine["noticeNumber"] for fine in by_notice["fines"]] == ["PT-2026-004512"]
    assert refusal(parking_fines, reference="PT-2031-004512").status == 404


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Viru tn 4, Tallinn", "Viru tn 4, Kesklinna linnaosa, Tallinn, Harju maakond"),
        ("viru 4 tallinnas", "Viru tn 4, Kesklinna linnaosa, Tallinn, Harju maakond"),
        ("Pikk 36, Rakvere", "Pikk tn 36, Rakvere, Lääne-Viru maakond"),
        ("Rüütli 2, Pärnu", "Rüütli tn 2, Pärnu, Pärnu maakond"),
    ],
)
def test_an_address_is_found_as_people_write_it(said: str, found: str) -> None:
    assert ask(addresses, address=said)["addresses"][0]["address"] == found


def test_a_road_named_after_a_town_is_not_the_town() -> None:
    found = ask(addresses, address="Tartu mnt 24, Tallinn")

    assert [one["city"] for one in found["addresses"]] == ["Tallinn"]


def test_a_street_of_many_towns_gives_many_addresses_and_no_street_none() -> None:
    assert ask(addresses, address="Kooli tn 3")["total"] > 5
    assert ask(addresses, address="Atlantis 4")["addresses"] == []


@pytest.mark.parametrize(
    ("said", "town"), [("Tartu", "Tartu"), ("Tartus", "Tartu"), ("в Нарве", None), ("Нарва", "Narva")]
)
def test_a_town_is_known_in_its_languages_and_cases(said: str, town: str | None) -> None:
    if town is None:
        assert refusal(weather, city=said).status == 404
    else:
        assert ask(weather, city=said)["city"] == town


def test_winter_is_colder_than_summer() -> None:
    january = [ask(weather, city="Tartu", date=f"2026-01-{day:02}")["maxTemperature"] for day in range(1, 29)]
    july = [ask(weather, city="Tartu", date=f"2026-07-{day:02}")["minTemperature"] for day in range(1, 29)]

    assert max(january) < min(july)


def test_a_forecast_has_its_horizon() -> None:
    assert refusal(weather, city="Tartu", date="2027-01-30").faults[0][0] == "date"


def test_trains_run_both_ways_in_the_same_time() -> None:
    there = ask(trains, **{"from": "Tallinn", "to": "Tartu", "date": "2026-12-05"})["trains"]
    back = ask(trains, **{"from": "Tartu", "to": "Tallinn", "date": "2026-12-05"})["trains"]

    assert {train["durationMinutes"] for train in [*there, *back]} == {123}
    assert [train["departure"] for train in there] == sorted(train["departure"] for train in there)


def test_no_direct_train_is_an_empty_list_and_no_station_a_fault() -> None:
    assert ask(trains, **{"from": "Viljandi", "to": "Narva", "date": "2026-12-05"})["trains"] == []
    assert refusal(trains, **{"from": "Paris", "to": "Narva"}).faults[0][1].endswith("Paris.")
    assert refusal(trains, **{"from": "Narva", "to": "Narva"}).faults[0][0] == "to"


def test_votings_never_lie_in_the_future_and_count_every_seat() -> None:
    found = ask(votings, startDate="2026-11-01", endDate="2026-12-31")["votings"]

    assert found
    assert all(voting["date"] <= "2026-12-01" for voting in found)
    assert all(v["inFavour"] + v["against"] + v["abstained"] + v["absent"] == 101 for v in found)


def test_without_a_period_the_latest_ten_votings_are_given() -> None:
    assert len(ask(votings)["votings"]) == 10


def test_converting_there_and_back_keeps_the_amount() -> None:
    there = ask(convert, amount="100", fromCurrency="EUR", toCurrency="SEK", date="2026-11-30")
    back = ask(convert, amount=there["result"], fromCurrency="sek", toCurrency="eur", date="2026-11-30")

    assert back["result"] == pytest.approx(100, abs=0.05)
    assert refusal(convert, amount="-1", fromCurrency="EUR", toCurrency="XXX").faults[0][0] == "amount"


def test_a_company_is_found_by_name_and_by_code() -> None:
    by_code = ask(companies, query="12345915")["companies"]

    assert ask(companies, query="rukkilill")["companies"] == by_code
    assert refusal(companies, query="123").faults == [("query", "A registry code has eight digits.")]


def test_renewing_moves_the_date_twice_and_no_more() -> None:
    library = Library()
    before = ask(library.loans, cardNumber="12345678")["loans"]

    once = ask(library.renew, cardNumber="12345678")["renewed"]
    ask(library.renew, cardNumber="12345678")

    assert len(once) == len(before)
    assert all(new["dueDate"] > old["dueDate"] for new, old in zip(once, before, strict=True))
    assert refusal(library.renew, cardNumber="12345678").status == 409
    assert ask(library.loans, cardNumber="12345678")["loans"][0]["renewalsLeft"] == 0


def test_one_book_can_be_renewed_by_its_title() -> None:
    library = Library()
    title = ask(library.loans, cardNumber="12345678")["loans"][0]["title"]

    assert [loan["title"] for loan in ask(library.renew, cardNumber="12345678", title=title)["renewed"]] == [title]
    assert refusal(library.renew, cardNumber="12345678", title="No such book").status == 404


def test_the_night_pharmacy_is_the_only_one_left_when_asked_for() -> None:
    found = ask(pharmacies, city="Tartu", allNight="true")["pharmacies"]

    assert len(found) == 1
    assert found[0]["opens"] is None
    assert ask(pharmacies, city="Narva", allNight="true")["pharmacies"] == []
