"""A small catalogue, written by hand, in the manner of the seed project's endpoints."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from schemas.conversations import Collecting
from schemas.endpoints import Endpoint, EnumOption, Language, ParamSpec
from workers.extraction.loop import Asked, Outcome, collect, open_collection

NOW = datetime(2026, 12, 1, 10, 0, tzinfo=ZoneInfo("Europe/Tallinn"))  # a Tuesday

FROM_DAY = {"en": "first day", "et": "esimene päev", "ru": "первый день"}
TO_DAY = {"en": "last day", "et": "viimane päev", "ru": "последний день"}


def endpoint(name: str, *params: ParamSpec, title: str = "", **more: object) -> Endpoint:
    return Endpoint.model_validate(
        {
            "endpoint_id": name,
            "name": name,
            "description": title or name,
            "titles": {"en": title or name},
            "url": f"https://api.example.ee/{name}",
            "params": params,
            **more,
        }
    )


HOLIDAYS = endpoint(
    "get_public_holidays",
    ParamSpec(
        name="countryIsoCode", required=True, description="The 2-letter ISO country code", labels={"en": "country"}
    ),
    ParamSpec(name="validFrom", type="date", required=True, labels=FROM_DAY),
    ParamSpec(name="validTo", type="date", required=True, labels=TO_DAY),
    ParamSpec(name="languageIsoCode", description="The language code (e.g. ET, EN)"),
    title="public holidays",
)
SCHOOL = endpoint(
    "get_school_holidays",
    ParamSpec(name="countryIsoCode", required=True, description="Riigi kahetäheline ISO kood", labels={"et": "riik"}),
    ParamSpec(name="validFrom", type="date", required=True, labels=FROM_DAY),
    ParamSpec(name="validTo", type="date", required=True, labels=TO_DAY),
    title="school holidays",
    descriptions={"et": "Koolivaheajad"},
)
PRICES = endpoint(
    "get_electricity_prices",
    ParamSpec(name="start", type="datetime", required=True),
    ParamSpec(name="end", type="datetime", required=True),
    title="electricity prices",
)
TAX = endpoint(
    "get_vehicle_tax_info",
    ParamSpec(name="regNr", required=True, format="plate", labels={"en": "registration number"}),
    ParamSpec(name="calculationYear", type="integer", required=True, labels={"en": "tax year", "et": "maksuaasta"}),
    ParamSpec(name="showRegFee", type="boolean", labels={"en": "registration fee"}),
    title="vehicle tax",
)
VOTINGS = endpoint(
    "get_parliament_votings",
    ParamSpec(name="startDate", type="date"),
    ParamSpec(name="endDate", type="date"),
    title="parliament votings",
)
ADDRESS = endpoint("search_address", ParamSpec(name="address", required=True), title="address search")
WEATHER = endpoint(
    "get_weather",
    ParamSpec(name="city", required=True, format="city"),
    ParamSpec(name="date", type="date"),
    title="weather",
)
TRAINS = endpoint(
    "get_train_times",
    ParamSpec(name="from", required=True, format="city", labels={"en": "departure station"}),
    ParamSpec(name="to", required=True, format="city", labels={"en": "destination"}),
    ParamSpec(name="date", type="date", required=True),
    title="train times",
)
CURRENCY = endpoint(
    "convert_currency",
    ParamSpec(name="amount", type="number", required=True),
    ParamSpec(name="fromCurrency", required=True, description="Currency code"),
    ParamSpec(name="toCurrency", required=True, description="Currency code"),
    title="currency conversion",
)
PARKING = endpoint(
    "get_parking_permits",
    ParamSpec(
        name="zone",
        type="enum",
        required=True,
        enum=(
            EnumOption(value="CENTRE", labels={"en": "city centre", "et": "kesklinn", "ru": "центр"}),
            EnumOption(value="OLD_TOWN", labels={"en": "old town", "et": "vanalinn", "ru": "старый город"}),
            EnumOption(value="HARBOUR", labels={"en": "harbour", "et": "sadam", "ru": "порт"}, synonyms=("port",)),
        ),
    ),
    title="parking permits",
)


class Talk:
    """One conversation with the collection; `last` is its newest outcome."""

    def __init__(self, *endpoints: Endpoint, language: Language = "en", now: datetime = NOW) -> None:
        self.endpoints = endpoints
        self.language = language
        self.now = now
        self.collecting: Collecting | None = None
        self.last: Outcome | None = None

    def say(self, message: str) -> Outcome:
        collecting = self.collecting or open_collection(self.endpoints, message)
        self.last = collect(collecting, message, language=self.language, now=self.now)
        self.collecting = self.last.collecting
        return self.last

    def ask(self, message: str) -> Asked:
        outcome = self.say(message)
        assert isinstance(outcome, Asked), outcome
        return outcome

    def values(self, place: int = 0) -> dict[str, object]:
        assert self.collecting is not None
        return dict(self.collecting.endpoints[place].values)


def heard(endpoint: Endpoint, message: str, language: Language = "en", now: datetime = NOW) -> dict[str, object]:
    """Return what one first message says for one endpoint."""
    talk = Talk(endpoint, language=language, now=now)
    talk.say(message)
    return talk.values()
