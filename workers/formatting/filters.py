"""What a template may do to a value: `{price|money:EUR}`, `{from|date:weekday}`, `{days|plural:day,days}`.

A filter takes the value, its arguments and the scope, and gives a value, or None when it can't be said: then the
clause is left out. A filter that does not fit the value (a date filter on a name) leaves the value as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from typing import cast

from schemas.base import JsonValue
from workers.formatting.dates import (
    Case,
    day_month,
    read_moment,
    spoken,
    spoken_date,
    spoken_moment,
    spoken_span,
    spoken_time,
    spoken_within,
    weekday_name,
)
from workers.formatting.locale import (
    counted,
    listing,
    plural_form,
    spoken_money,
    spoken_number,
    spoken_percent,
)
from workers.formatting.paths import Missing, find, in_language
from workers.formatting.quoting import ROW_LIMIT, clean, quoted
from workers.formatting.scope import Scope
from workers.messages.catalog import text

Arguments = tuple[str, ...]
Work = Callable[[JsonValue, Arguments, Scope], JsonValue]

LISTED_AT_MOST = 8
_CURRENCY_LETTERS = 3


def as_number(value: JsonValue) -> int | float | None:
    """Read a number, or a string that is one; a boolean is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and len(value) <= 30:  # noqa: PLR2004 — longer digits are an identifier
        try:
            return int(value)
        except ValueError:
            try:
                return float(value)
            except ValueError:
                return None
    return None


def say(value: JsonValue, scope: Scope) -> str:
    """Say a value as it stands: dates, decimals and booleans in the language's form; "" when it can't be said."""
    if isinstance(value, bool):
        return text("formatting.yes" if value else "formatting.no", scope.language)
    if isinstance(value, int):
        return str(value) if abs(value) < 10**15 else spoken_number(value, scope.language)
    if isinstance(value, float):
        return spoken_number(value, scope.language)
    if isinstance(value, str):
        moment = read_moment(value)
        return spoken(moment, scope.language) if moment else clean(value)
    translated = in_language(value, scope.language)
    if translated is not None:
        return clean(translated)
    return _joined(value, scope) if isinstance(value, list) else ""


def _moment(value: JsonValue) -> date | datetime | time | None:
    return read_moment(value) if isinstance(value, str) else None


def _date(value: JsonValue, arguments: Arguments, scope: Scope) -> JsonValue:
    day = _moment(value)
    if not isinstance(day, date):
        return value
    form = arguments[0] if arguments else "plain"
    if form == "day":
        return day_month(day, scope.language)
    if form == "weekday":
        return spoken_date(day, scope.language, weekday=True)
    return spoken_date(day, scope.language, case=cast("Case", form if form in ("on", "from", "until") else "plain"))


def _weekday(value: JsonValue, _arguments: Arguments, scope: Scope) -> JsonValue:
    day = _moment(value)
    return weekday_name(day, scope.language) if isinstance(day, date) else value


def _time(value: JsonValue, _arguments: Arguments, _scope: Scope) -> JsonValue:
    moment = _moment(value)
    return spoken_time(moment) if isinstance(moment, datetime | time) else value


def _datetime(value: JsonValue, _arguments: Arguments, scope: Scope) -> JsonValue:
    moment = _moment(value)
    if isinstance(moment, datetime):
        return spoken_moment(moment, scope.language)
    return spoken(moment, scope.language) if moment else value


def _span(value: JsonValue, arguments: Arguments, scope: Scope) -> JsonValue:
    """Say from this day to the day at the path given: "1–31 May 2026"."""
    days = _days(value, arguments, scope)
    return spoken_span(*days, scope.language) if days else value


def _within(value: JsonValue, arguments: Arguments, scope: Scope) -> JsonValue:
    """Say the same with its preposition: "in the period 1–31 May 2026", "on 24 February 2027"."""
    days = _days(value, arguments, scope)
    return spoken_within(*days, scope.language) if days else value


def _days(value: JsonValue, arguments: Arguments, scope: Scope) -> tuple[date, date] | None:
    end = scope.value(arguments[0]) if arguments else None
    first, last = _moment(value), None if isinstance(end, Missing) else _moment(end)
    if not isinstance(first, date) or not isinstance(last, date):
        return None
    first_day, last_day = (m.date() if isinstance(m, datetime) else m for m in (first, last))
    return first_day, last_day


def _money(value: JsonValue, arguments: Arguments, scope: Scope) -> JsonValue:
    """Say an amount; the argument is a currency code, or the path of the field that holds it."""
    amount = as_number(value)
    currency = arguments[0] if arguments else "EUR"
    if not (currency.isupper() and len(currency) == _CURRENCY_LETTERS):
        found = scope.text(currency)
        if found is None:
            return None
        currency = found
    return spoken_money(amount, currency, scope.language) if amount is not None else value


def _digits(arguments: Arguments) -> int | None:
    return int(arguments[0]) if arguments and arguments[0].isdecimal() else None


def _number(value: JsonValue, arguments: Arguments, scope: Scope) -> JsonValue:
    number = as_number(value)
    return value if number is None else spoken_number(number, scope.language, digits=_digits(arguments))


def _percent(value: JsonValue, arguments: Arguments, scope: Scope) -> JsonValue:
    number = as_number(value)
    return value if number is None else spoken_percent(number, scope.language, digits=_digits(arguments))


def _size(value: JsonValue) -> int | float | None:
    return len(value) if isinstance(value, list) else as_number(value)


def _count(value: JsonValue, _arguments: Arguments, scope: Scope) -> JsonValue:
    size = _size(value)
    return None if size is None else spoken_number(size, scope.language)


def _plural(value: JsonValue, arguments: Arguments, scope: Scope) -> JsonValue:
    size = _size(value)
    return None if size is None else counted(size, scope.language, arguments)


def _form(value: JsonValue, arguments: Arguments, scope: Scope) -> JsonValue:
    """Choose the plural form alone, without the number."""
    size = _size(value)
    return None if size is None else plural_form(size, scope.language, arguments)


def _list(value: JsonValue, arguments: Arguments, scope: Scope) -> JsonValue:
    """Say "a, b and c"; the argument is the path of the words inside each item."""
    if not isinstance(value, list):
        return value
    found = [find(item, arguments[0]) for item in value] if arguments else value
    return _joined([None if isinstance(one, Missing) else one for one in found], scope) or None


def _joined(items: list[JsonValue], scope: Scope) -> str:
    said = [say(item, scope) for item in items[:LISTED_AT_MOST]]
    return listing([one for one in said if one], scope.language, left_out=max(0, len(items) - LISTED_AT_MOST))


def _bool(value: JsonValue, arguments: Arguments, scope: Scope) -> JsonValue:
    truth = value if isinstance(value, bool) else str(value).lower() in ("true", "1", "yes", "on")
    if len(arguments) > 1:
        return arguments[0] if truth else arguments[1]
    return text("formatting.yes" if truth else "formatting.no", scope.language)


def _map(value: JsonValue, arguments: Arguments, _scope: Scope) -> JsonValue:
    """Word a code: `map:open=avatud,closed=suletud`; a code that is not named stays, an empty word is no value."""
    code = str(value).lower()
    for entry in arguments:
        name, _, words = entry.partition("=")
        if name.strip().lower() == code:
            return words.strip() or None
    return value


def _label(value: JsonValue, arguments: Arguments, scope: Scope) -> JsonValue:
    """Word an enum value as the parameter named by the argument labels it."""
    return scope.label_of(arguments[0], str(value)) or value if arguments else value


def _default(value: JsonValue, _arguments: Arguments, _scope: Scope) -> JsonValue:
    return value  # the renderer asks for the argument when there is no value


def _on_text(change: Callable[[str], str]) -> Work:
    def work(value: JsonValue, _arguments: Arguments, scope: Scope) -> JsonValue:
        return change(say(value, scope)) or None

    return work


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _quote(value: JsonValue, _arguments: Arguments, scope: Scope) -> JsonValue:
    said = value if isinstance(value, str) else say(value, scope)
    return quoted(said, scope.language, limit=ROW_LIMIT) if clean(said) else None


FILTERS: dict[str, Work] = {
    "date": _date,
    "weekday": _weekday,
    "time": _time,
    "datetime": _datetime,
    "until": _span,
    "within": _within,
    "money": _money,
    "number": _number,
    "percent": _percent,
    "count": _count,
    "plural": _plural,
    "form": _form,
    "list": _list,
    "bool": _bool,
    "map": _map,
    "label": _label,
    "default": _default,
    "quote": _quote,
    "upper": _on_text(str.upper),
    "lower": _on_text(str.lower),
    "capital": _on_text(_capital),
}
