"""The calls that labelled follow-ups lean on, over the demo catalogue, and the sets themselves."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import cast

from ops.local.catalogue import DEMO_CATALOGUE, read_catalogue
from schemas.base import JsonValue
from schemas.calls import ApiCall
from schemas.endpoints import Endpoint, Language
from schemas.registration import EndpointRegistration
from workers.caching.contexts import EndpointView, LastCall, Verdict

HERE = Path(__file__).parent
NOON = datetime(2026, 12, 2, 12, tzinfo=UTC)

# The endpoint, its arguments, the fields of its result, and the question that led to it in each language.
_CALLS: dict[str, tuple[str, dict[str, JsonValue], str, dict[Language, str]]] = {
    "holidays": (
        "get_public_holidays",
        {"countryIsoCode": "EE", "validFrom": "2026-01-01", "validTo": "2026-12-31"},
        "id startDate endDate type name language text nationwide",
        {
            "en": "What are the public holidays in Estonia in 2026?",
            "et": "Mis riigipühad on Eestis 2026. aastal?",
            "ru": "Какие праздники в Эстонии в 2026 году?",
        },
    ),
    "school": (
        "get_school_holidays",
        {"countryIsoCode": "EE", "validFrom": "2026-01-01", "validTo": "2026-12-31"},
        "startDate endDate type name language text days",
        {
            "en": "When are the school holidays in 2026?",
            "et": "Millal on koolivaheajad 2026. aastal?",
            "ru": "Когда школьные каникулы в 2026 году?",
        },
    ),
    "tax": (
        "get_vehicle_tax_info",
        {"regNr": "123ABC", "calculationYear": 2026},
        "regNr calculationYear vehicle make model co2 mass tax base emissions total payments dueDate amount",
        {
            "en": "How much is the car tax for 123ABC in 2026?",
            "et": "Kui suur on auto 123ABC maks 2026. aastal?",
            "ru": "Какой налог на машину 123ABC за 2026 год?",
        },
    ),
    "votings": (
        "get_parliament_votings",
        {},
        "votings date bill title language text result inFavour against abstained absent total",
        {
            "en": "What did the Riigikogu vote on lately?",
            "et": "Mille üle Riigikogu viimati hääletas?",
            "ru": "За что недавно голосовал Рийгикогу?",
        },
    ),
    "address": (
        "search_address",
        {"address": "Lai 29, Tartu"},
        "query addresses address street house town county postalCode total",
        {
            "en": "Find the address Lai 29 in Tartu",
            "et": "Leia aadress Lai 29 Tartus",
            "ru": "Найди адрес Лай 29, Тарту",
        },
    ),
    "currency": (
        "convert_currency",
        {"amount": 100, "fromCurrency": "EUR", "toCurrency": "USD"},
        "amount fromCurrency toCurrency rate result date",
        {
            "en": "How much is 100 euros in dollars?",
            "et": "Palju on 100 eurot dollarites?",
            "ru": "Сколько 100 евро в долларах?",
        },
    ),
    "weather": (
        "get_weather",
        {"city": "Tallinn", "date": "2026-12-02"},
        "city date sky minTemperature maxTemperature windSpeed precipitation humidity",
        {
            "en": "Weather in Tallinn today",
            "et": "Mis ilm täna Tallinnas on?",
            "ru": "Какая сегодня погода в Таллинне?",
        },
    ),
    "company": (
        "lookup_company",
        {"query": "Tammepuu Ehitus"},
        "companies name registryCode legalForm status founded address activity vatNumber total",
        {"en": "Find Tammepuu Ehitus", "et": "Otsi ettevõtet Tammepuu Ehitus", "ru": "Найди компанию Tammepuu Ehitus"},
    ),
    "fines": (
        "get_parking_fines",
        {"reference": "456DEF"},
        "reference fines noticeNumber date place reason amount dueDate total currency",
        {
            "en": "Are there any parking fines for 456DEF?",
            "et": "Kas autol 456DEF on parkimistrahve?",
            "ru": "Есть ли штрафы за парковку у 456DEF?",
        },
    ),
    "trains": (
        "get_train_times",
        {"from": "Tartu", "to": "Tallinn", "date": "2026-12-05"},
        "from to date currency trains train departure arrival durationMinutes price",
        {
            "en": "Trains from Tartu to Tallinn on 5 December",
            "et": "Rongid Tartust Tallinna 5. detsembril",
            "ru": "Поезда из Тарту в Таллинн 5 декабря",
        },
    ),
    "loans": (
        "get_library_loans",
        {"cardNumber": "20117733"},
        "cardNumber loans loanId title author dueDate renewalsLeft",
        {
            "en": "Which books do I have on card 20117733?",
            "et": "Mis raamatud on kaardil 20117733?",
            "ru": "Какие книги на билете 20117733?",
        },
    ),
    "pharmacies": (
        "find_pharmacies",
        {"city": "Tartu"},
        "city pharmacies name address phone allNight opens closes",
        {"en": "Pharmacies in Tartu", "et": "Apteegid Tartus", "ru": "Аптеки в Тарту"},
    ),
}


@dataclass(frozen=True)
class Case:
    """One labelled message: the call before it, and what it is to that call."""

    before: str
    language: Language
    text: str
    verdict: Verdict
    changed: frozenset[str]


def cases(half: str) -> list[Case]:
    """Read a labelled set: `development` or `holdout`."""
    content = tomllib.loads((HERE / f"followups_{half}.toml").read_text(encoding="utf-8"))
    return [
        Case(before, cast("Language", language), text, cast("Verdict", verdict), frozenset(changed.split()))
        for before, language, text, verdict, changed in content["cases"]
    ]


@cache
def _endpoints() -> dict[str, Endpoint]:
    entries = (EndpointRegistration.model_validate(entry) for entry in read_catalogue(DEMO_CATALOGUE))
    return {endpoint.name: endpoint for endpoint in (entry.to_endpoint("default") for entry in entries)}


@cache
def view_of(before: str) -> EndpointView:
    return EndpointView.of(_endpoints()[_CALLS[before][0]])


def call_of(before: str) -> ApiCall:
    """The call itself, as it was sent."""
    name, arguments, _, _ = _CALLS[before]
    return ApiCall(call_id="c1", index=0, endpoint=_endpoints()[name], arguments=arguments)


def last_call(before: str, language: Language, *, result: str = "stored") -> LastCall:
    """The call before: its result is kept unless `result` is ""."""
    view = view_of(before)
    _, arguments, fields, queries = _CALLS[before]
    return LastCall(
        endpoint_id=view.endpoint_id,
        version=view.version,
        arguments=arguments,
        language=language,
        query=queries[language],
        finished_at=NOON,
        fields=tuple(fields.split()),
        result=result,
    )
