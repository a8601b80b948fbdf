"""Towns as people write them, addresses, the weather, trains and pharmacies."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from math import cos, pi
from typing import Any

from ops.demo.dice import Dice
from ops.demo.requests import Given, Refused
from ops.demo.tables import table
from schemas.base import JsonValue

_HOUSE = re.compile(r"\b(\d{1,3}[a-z]?)(?:[-/ ]+\d{1,3})?(?=$|[\s,])", re.IGNORECASE)
_KINDS = "tn|tänav|mnt|maantee|pst|puiestee|tee|plats|väljak|prospekt"
_STREET_KIND = re.compile(rf"\s+({_KINDS})$", re.IGNORECASE)
_FORECAST_DAYS = 14
_FIRST_TRAIN, _LAST_TRAIN = time(5, 20), time(22, 10)
_SHORTEST_STEM = 4


def town_named(said: str, towns: dict[str, Any]) -> str | None:
    """Find a town by its name in any of its languages; a case ending ("Tallinnas", "в Нарве") is forgiven."""
    wanted = said.strip().casefold()
    spelled = {name.casefold(): town for town, facts in towns.items() for name in (town, *facts.get("also", ()))}
    if wanted in spelled:
        return spelled[wanted]
    near = {town for name, town in spelled.items() if wanted.startswith(name[: max(_SHORTEST_STEM, len(name) - 1)])}
    return near.pop() if len(near) == 1 else None


def _town(given: Given, field: str) -> str:
    said = given.text(field)
    given.check()
    found = town_named(said, table("places")["towns"])
    if found is None:
        raise Refused([(field, f"There is no place called {said} in Estonia that this service knows.")], status=404)
    return found


def addresses(given: Given) -> JsonValue:
    """GET /addresses: places whose street, and town when it is named, occur in the text."""
    said = given.text("address")
    given.check()
    places = table("places")
    words = said.casefold()
    named = _towns_in(words.rsplit(",", 1)[-1]) or _towns_in(words)
    house = _HOUSE.search(said)
    number = house.group(1).upper() if house else ""
    found: list[JsonValue] = [
        _address(town, street, number)
        for town in (named or places["towns"])
        for street in _streets(places, town)
        if _has_street(words, street, towns=named)
    ]
    return {"query": said, "addresses": found[:20], "total": len(found)}


def _towns_in(words: str) -> list[str]:
    """Find the towns named, in any case form; "Tartu mnt" names a street."""
    return [
        town
        for town in table("places")["towns"]
        if re.search(rf"(?<!\w){re.escape(town.casefold()[:-1])}\w{{0,4}}(?!\w|\s*(?:{_KINDS})\b)", words)
    ]


def _streets(places: dict[str, Any], town: str) -> list[str]:
    return list(dict.fromkeys([*places["streets"].get(town, []), *places["streets"]["everywhere"]]))


def _has_street(words: str, street: str, *, towns: list[str]) -> bool:
    """Whether the street is meant; when it is called like the town ("Tartu mnt"), its kind must be said too."""
    bare = _STREET_KIND.sub("", street).casefold()
    if bare in (town.casefold() for town in table("places")["towns"]) or towns == []:
        kind = street.casefold()[len(bare) :].strip()
        return re.search(rf"(?<!\w){re.escape(bare)}\s+(?:{kind}|{kind[:1]}\w+|\d)", words) is not None
    return re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", words) is not None


def _address(town: str, street: str, number: str) -> dict[str, JsonValue]:
    facts = table("places")["towns"][town]
    dice = Dice("address", town, street, number)
    district = dice.pick(facts["districts"]) if facts["districts"] else ""
    line = f"{street} {number}".strip()
    return {
        "address": ", ".join(part for part in (line, district, town, facts["county"]) if part),
        "street": street,
        "houseNumber": number or None,
        "city": town,
        "county": facts["county"],
        "postalCode": f"{facts['postal']}{dice.between(100, 999)}",
        "adsOid": f"ME{dice.between(10**7, 10**8 - 1):08}",
    }


def weather(given: Given) -> JsonValue:
    """GET /weather: one day in one town, up to two weeks ahead."""
    town = _town(given, "city")
    day = given.day("date", default=given.today)
    if day > given.today + timedelta(days=_FORECAST_DAYS):
        given.fault("date", f"The forecast reaches {_FORECAST_DAYS} days ahead.")
    given.check()
    dice = Dice("weather", town, day)
    # Tallinn's normals: about −3 °C at the end of January, +18 °C at the end of July.
    normal = 7.3 - 10.5 * cos(2 * pi * (day.timetuple().tm_yday - 28) / 365) + table("places")["towns"][town]["mild"]
    mean = normal + 8 * (dice.share() - 0.5)
    spread = 2 + 3 * dice.share()
    sky = dice.pick(("clear", "partly_cloudy", "overcast", "overcast", "showers", "rain"))
    wet = sky in ("showers", "rain")
    return {
        "city": town,
        "date": day.isoformat(),
        "sky": "snow" if wet and mean < 0 else sky,
        "minTemperature": round(mean - spread),
        "maxTemperature": round(mean + spread),
        "windSpeed": dice.between(2, 11),
        "precipitation": round(0.4 + 7 * dice.share(), 1) if wet else 0.0,
        "humidity": dice.between(62, 95),
    }


def _station(given: Given, field: str) -> str:
    said = given.text(field)
    stations: dict[str, dict[str, list[str]]] = {
        name: {"also": []} for line in table("places")["rail"] for name in line["stations"]
    }
    for town, facts in table("places")["towns"].items():
        if town in stations:
            stations[town] = {"also": list(facts["also"])}
    for name, station in table("places")["station_names"].items():
        stations[station]["also"].append(name)
    found = town_named(said, stations) if said else None
    if said and found is None:
        given.fault(field, f"There is no railway station called {said}.")
    return found or ""


def trains(given: Given) -> JsonValue:
    """GET /trains: the direct trains of a day between two stations."""
    start, end, day = _station(given, "from"), _station(given, "to"), given.day("date", default=given.today)
    if start and start == end:
        given.fault("to", "The stations must differ.")
    given.check()
    found = [train for line in table("places")["rail"] for train in _on_line(line, start, end, day)]
    return {"from": start, "to": end, "date": day.isoformat(), "currency": "EUR", "trains": [dict(t) for t in found]}


def _on_line(line: dict[str, Any], start: str, end: str, day: date) -> list[dict[str, JsonValue]]:
    stations: dict[str, int] = line["stations"]
    if start not in stations or end not in stations:
        return []
    minutes = abs(stations[end] - stations[start])
    outward = stations[end] > stations[start]
    offset = stations[start] if outward else max(stations.values()) - stations[start]
    leaves = datetime.combine(day, _FIRST_TRAIN) + timedelta(minutes=offset)
    price = round(minutes * line["price"] + 0.4, 1)
    number = Dice("line", *stations).between(10, 180) * 2 + (0 if outward else 1)
    found: list[dict[str, JsonValue]] = []
    while leaves < datetime.combine(day, _LAST_TRAIN) and len(found) < 20:  # noqa: PLR2004 — a day has fewer
        slack = Dice("train", day, number, len(found)).between(0, 9)
        departs = leaves + timedelta(minutes=slack)
        found.append(
            {
                "train": str(number + 2 * len(found)),
                "departure": departs.strftime("%H:%M"),
                "arrival": (departs + timedelta(minutes=minutes)).strftime("%H:%M"),
                "durationMinutes": minutes,
                "price": price,
            }
        )
        leaves += timedelta(minutes=line["every"])
    return found


def pharmacies(given: Given) -> JsonValue:
    """GET /pharmacies: the pharmacies of a town; `allNight` keeps those that never close."""
    town = _town(given, "city")
    names = table("places")["pharmacies"]
    dice = Dice("pharmacies", town)
    chosen = dice.some(names, 6 if town == "Tallinn" else 3)
    found: list[JsonValue] = []
    for index, name in enumerate(chosen):
        all_night = index == 0 and town in ("Tallinn", "Tartu")
        street = dice.pick(_streets(table("places"), town))
        found.append(
            {
                "name": f"{name}",
                "address": f"{street} {dice.between(1, 60)}, {town}",
                "phone": f"+372 {dice.between(600, 699)} {dice.between(1000, 9999)}",
                "allNight": all_night,
                "opens": None if all_night else "09:00",
                "closes": None if all_night else dice.pick(("18:00", "19:00", "20:00", "21:00")),
            }
        )
    if given.flag("allNight"):
        found = [one for one in found if isinstance(one, dict) and one["allNight"]]
    return {"city": town, "pharmacies": found}
