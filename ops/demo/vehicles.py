"""Vehicle tax by registration number, and parking fines by plate or notice number."""

from __future__ import annotations

from datetime import date, timedelta

from ops.demo.dice import Dice
from ops.demo.requests import Given, Refused
from ops.demo.tables import table
from schemas.base import JsonValue

PLATE = r"\d{2,3} ?[A-Z]{3}|[A-Z]{3} ?\d{2,3}|\d{4} ?[A-Z]{2}"
NOTICE = r"PT-?\d{4}-?\d{6}"
FIRST_TAX_YEAR = 2025
_BASE_EUR = 50.0
_CO2_STEPS = ((117, 3.0), (150, 3.5), (200, 4.0))  # above so many g/km, euros for each gram
_MASS_FREE_KG, _MASS_RATE, _MASS_MOST = 2000, 0.40, 400.0
_ONE_PAYMENT_UP_TO = 100.0
_MONTHLY_LOSS, _OLD_AFTER_YEARS = 0.06, 5
_PLACES = (
    "Narva mnt 7, Tallinn", "Pärnu mnt 10, Tallinn", "Tartu mnt 24, Tallinn", "Rävala pst 5, Tallinn",
    "Küüni 5, Tartu", "Riia 2, Tartu", "Rüütli 40, Pärnu", "Telliskivi 60, Tallinn",
)  # fmt: skip
_REASONS = ("unpaid", "expired", "no_disc")


def vehicle_tax(given: Given) -> JsonValue:
    """GET /vehicle-tax: the year's tax of one car, its parts and when they fall due."""
    hint = "The registration number must look like 123ABC: two or three digits and three letters."
    plate = given.text("regNr", pattern=PLATE, hint=hint).upper().replace(" ", "")
    year = given.whole("calculationYear", least=FIRST_TAX_YEAR, most=given.today.year + 1)
    given.check()
    dice = Dice("vehicle", plate)
    make, model, fuel, co2, mass = dice.pick(table("vehicles"))
    first_registered = dice.between(2008, 2024)
    tax = _tax(fuel, co2, mass, age=year - first_registered)
    return {
        "regNr": plate,
        "calculationYear": year,
        "vehicle": {
            "make": make,
            "model": model,
            "fuel": fuel,
            "firstRegistrationYear": first_registered,
            "co2": co2,
            "mass": mass,
        },
        "tax": {name: round(amount, 2) for name, amount in tax.items()},
        "currency": "EUR",
        "payments": _payments(tax["total"], year),
    }


def _tax(fuel: str, co2: int, mass: int, *, age: int) -> dict[str, float]:
    """A base part, a part for emissions and one for mass; both shrink as the car grows older than five years."""
    keeps = max(0.1, 1.0 - _MONTHLY_LOSS * max(0, age - _OLD_AFTER_YEARS))
    if fuel == "electric":
        heavy = max(0.0, mass - 2400) * _MASS_RATE
        return {"base": _BASE_EUR, "emissions": 0.0, "mass": heavy, "total": _BASE_EUR + heavy}
    emissions = sum(max(0, co2 - above) * rate for above, rate in _CO2_STEPS) * keeps
    heavy = min(_MASS_MOST, max(0, mass - _MASS_FREE_KG) * _MASS_RATE) * keeps
    return {"base": _BASE_EUR, "emissions": emissions, "mass": heavy, "total": _BASE_EUR + emissions + heavy}


def _payments(total: float, year: int) -> list[JsonValue]:
    """Up to 100 euros are paid at once, more in two halves."""
    if total <= _ONE_PAYMENT_UP_TO:
        return [{"dueDate": date(year, 6, 15).isoformat(), "amount": round(total, 2)}]
    half = round(total / 2, 2)
    return [
        {"dueDate": date(year, 6, 15).isoformat(), "amount": half},
        {"dueDate": date(year, 12, 15).isoformat(), "amount": round(total - half, 2)},
    ]


def parking_fines(given: Given) -> JsonValue:
    """GET /parking-fines: what is unpaid for a plate, or one notice by its number."""
    hint = "Give a registration number such as 123ABC or a notice number such as PT-2026-004512."
    reference = given.text("reference", pattern=f"{PLATE}|{NOTICE}", hint=hint).upper().replace(" ", "")
    given.check()
    dice = Dice("parking", reference.replace("-", ""))
    is_notice = reference.startswith("PT") and len(reference) > len("PT") + 8
    if is_notice and int(reference.replace("-", "")[2:6]) > given.today.year:
        raise Refused([("reference", "There is no notice with this number.")], status=404)
    count = 1 if is_notice else dice.pick((0, 1, 1, 2))
    fines = [_fine(dice, given.today, reference if is_notice else "") for _ in range(count)]
    fines.sort(key=lambda fine: str(fine["date"]))
    amounts = [float(str(fine["amount"])) for fine in fines]
    return {"reference": reference, "fines": [dict(f) for f in fines], "total": sum(amounts), "currency": "EUR"}


def _fine(dice: Dice, today: date, notice: str) -> dict[str, JsonValue]:
    day = date(int(notice.replace("-", "")[2:6]), 1, 1) if notice else today - timedelta(days=dice.between(3, 25))
    if notice:
        last = min(today, date(day.year, 12, 31))
        day += timedelta(days=dice.between(0, (last - day).days))
    return {
        "noticeNumber": notice or f"PT-{day.year}-{dice.between(1000, 89999):06}",
        "date": day.isoformat(),
        "place": dice.pick(_PLACES),
        "reason": dice.pick(_REASONS),
        "amount": float(dice.pick((31, 31, 40))),
        "dueDate": (day + timedelta(days=30)).isoformat(),
    }
