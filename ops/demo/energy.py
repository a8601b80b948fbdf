"""Hourly electricity prices of the Estonian area, drawn from the season, the hour, the weekday and the date."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import cos, pi
from zoneinfo import ZoneInfo

from ops.demo.dice import Dice
from ops.demo.requests import Given
from schemas.base import JsonValue

TALLINN = ZoneInfo("Europe/Tallinn")
LONGEST_PERIOD = timedelta(days=32)
# Two peaks and a solar dip, relative to the day's mean, by local hour.
_SHAPE = (.62, .56, .53, .52, .56, .70, .98, 1.36, 1.48, 1.32, 1.12, .98, .88, .80, .78, .84, 1.02, 1.30, 1.52, 1.58,
          1.38, 1.14, .90, .74)  # fmt: skip
_WINTER_MEAN, _SUMMER_MEAN = 112.0, 64.0
_WEEKEND = 0.82


def price_eur_mwh(hour: datetime) -> float:
    """Return the price of one local hour, EUR/MWh without VAT; a windy summer night may be free."""
    season = (1 + cos(2 * pi * (hour.timetuple().tm_yday - 20) / 365)) / 2
    mean = _SUMMER_MEAN + (_WINTER_MEAN - _SUMMER_MEAN) * season
    windy = 0.55 + 0.9 * Dice("wind", hour.date()).share()
    jitter = 0.93 + 0.14 * Dice("hour", hour.date(), hour.hour).share()
    weekend = _WEEKEND if hour.weekday() >= 5 else 1.0  # noqa: PLR2004 — Saturday
    return round(max(0.0, mean * _SHAPE[hour.hour] * windy * weekend * jitter - 8), 2)


def electricity_prices(given: Given) -> JsonValue:
    """GET /electricity-prices: every hour that the period touches, with its mean and its extremes."""
    start, end = given.moment("start"), given.moment("end")
    if end <= start:
        given.fault("end", "The end must be after the start.")
    elif end - start > LONGEST_PERIOD:
        given.fault("end", "The period must not be longer than 32 days.")
    given.check()
    hours = _hours(start, end)
    prices = [(round(price_eur_mwh(hour) / 10, 2), hour) for hour in hours]
    several = len(prices) > 1
    return {
        "area": "EE",
        "start": hours[0].isoformat(),
        "end": (hours[-1] + timedelta(hours=1)).isoformat(),
        "unit": "cents/kWh",
        "vatIncluded": False,
        "averageCentsPerKwh": round(sum(price for price, _ in prices) / len(prices), 2),
        "cheapest": _hour(*min(prices)) if several else None,
        "dearest": _hour(*max(prices)) if several else None,
        "hours": [_hour(price, hour) for price, hour in prices],
    }


def _hour(price: float, hour: datetime) -> JsonValue:
    return {"start": hour.isoformat(), "centsPerKwh": price}


def _hours(start: datetime, end: datetime) -> list[datetime]:
    """List the hours as Tallinn's clock shows them; they are counted in UTC, so a clock change loses none."""
    first = start.astimezone(ZoneInfo("UTC")).replace(minute=0, second=0, microsecond=0)
    count = -int((first - end.astimezone(ZoneInfo("UTC"))).total_seconds() // 3600)
    return [(first + timedelta(hours=number)).astimezone(TALLINN) for number in range(count)]
