"""A small catalogue for the tests of search: distinct subjects, described in English and Estonian."""

from __future__ import annotations

from schemas.endpoints import Endpoint

_TOLD = {
    "get_public_holidays": ("List the public holidays of a country.", "Riigi riigipühad ja vabad päevad."),
    "get_electricity_prices": ("Electricity exchange prices by the hour.", "Elektri börsihinnad tundide kaupa."),
    "calculate_vehicle_tax": ("Calculate the yearly motor vehicle tax.", "Arvuta mootorsõiduki aastamaks."),
    "get_weather_forecast": ("Weather forecast for a town.", "Linna ilmaprognoos."),
    "search_address": ("Look up a street address.", "Otsi aadressi."),
    "convert_currency": ("Convert money from one currency to another.", "Valuuta ümberarvutus."),
}


def endpoint(name: str, *, tenant: str = "default", visibility: str = "public", text: str | None = None) -> Endpoint:
    told, translated = _TOLD.get(name, (name, name))
    return Endpoint.model_validate(
        {
            "endpoint_id": f"{tenant}.{name}",
            "tenant": tenant,
            "name": name,
            "description": text or told,
            "descriptions": {} if text else {"et": translated},
            "url": "https://api.example.org/x",
            "visibility": visibility,
        }
    )


def catalogue(tenant: str = "default") -> list[Endpoint]:
    return [endpoint(name, tenant=tenant) for name in _TOLD]
