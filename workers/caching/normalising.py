"""When two values of a parameter mean the same: by its declared type, never by how they look. Pure.

"007" of a string stays "007", "Ee" of a person is not "ee"; 5, 5.0 and "5" are one number where a number is declared.
Whatever does not read as its type stays as it is, so an odd value can only miss, never hit another's entry.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation

from schemas.base import JsonValue
from schemas.endpoints import ParamSpec

_NUMBER = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?")
_ISO_DAY = re.compile(r"([0-9]{4})-?([0-9]{1,2})-?([0-9]{1,2})")
_COMPACT_DAY = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})")
_DOTTED_DAY = re.compile(r"([0-9]{1,2})\.\s?([0-9]{1,2})\.\s?([0-9]{4})")
_MIDNIGHT = re.compile(r"[T ]00:00(:00(\.0+)?)?$")


def normalised(arguments: Mapping[str, JsonValue], params: Sequence[ParamSpec]) -> dict[str, JsonValue]:
    """Give each declared parameter its canonical value, defaults where none was given; undeclared names are dropped.

    Sending drops them too. An explicit null stays a null: it is not the default.
    """
    given = {param.name: arguments.get(param.name, param.default) for param in params}
    return {
        param.name: normal(given[param.name], param)
        for param in params
        if param.name in arguments or given[param.name] is not None
    }


def normal(value: JsonValue, param: ParamSpec) -> JsonValue:
    """Return the canonical form of one value under its declaration."""
    match value:
        case None:
            return None
        case list():
            return [normal(item, param.items) if param.items else _plain(item) for item in value]
        case dict():
            return _object(value, param)
        case _ if param.enum:
            return _option(value, param)
        case _:
            return _BY_KIND.get(_kind(param), _plain)(value)


def _kind(param: ParamSpec) -> str:
    """A string that declares a date's format is a date."""
    if param.type == "string" and param.format in ("date", "date-time"):
        return "date" if param.format == "date" else "datetime"
    return param.type


def _plain(value: JsonValue) -> JsonValue:
    """Keep a value; a text loses its outer blanks and its choice among Unicode's spellings of one character."""
    match value:
        case str():
            return unicodedata.normalize("NFC", value).strip()
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {str(_plain(name)): _plain(item) for name, item in value.items()}
        case _:
            return value


def _object(value: dict[str, JsonValue], param: ParamSpec) -> JsonValue:
    known = normalised(value, param.properties)
    return known | {name: _plain(item) for name, item in value.items() if name not in known}


def _option(value: JsonValue, param: ParamSpec) -> JsonValue:
    """Find the option that is meant; case counts only where two options differ by nothing else."""
    said = str(_plain(value)) if not isinstance(value, bool) else str(value).lower()
    options = [option.value for option in param.enum]
    if said in options:
        return said
    alike = [option for option in options if option.casefold() == said.casefold()]
    return alike[0] if len(alike) == 1 else _plain(value)


def _number(value: JsonValue) -> JsonValue:
    """Write a number in its shortest form, as text with a mark, so that no text of another type equals it."""
    if isinstance(value, bool):
        return value
    said = str(value).strip()
    if not _NUMBER.fullmatch(said):
        return _plain(value)
    try:
        number = Decimal(said)
    except InvalidOperation:
        return _plain(value)
    return {"number": format(number.normalize() if number else Decimal(0), "f")}


def _truth(value: JsonValue) -> JsonValue:
    said = str(value).strip().lower()
    return said == "true" if said in ("true", "false") else _plain(value)


def _day(value: JsonValue) -> JsonValue:
    """Write a day as ISO 8601 does; a form that could be read two ways (1/2/2026) stays as it is."""
    said = _MIDNIGHT.sub("", str(value).strip())
    if found := _COMPACT_DAY.fullmatch(said) or (said.count("-") == 2 and _ISO_DAY.fullmatch(said)):  # noqa: PLR2004
        year, month, day = found.group(1, 2, 3)
    elif found := _DOTTED_DAY.fullmatch(said):
        day, month, year = found.group(1, 2, 3)
    else:
        return _plain(value)
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return _plain(value)


def _moment(value: JsonValue) -> JsonValue:
    """Write a moment in UTC; one without a zone keeps having none."""
    try:
        moment = datetime.fromisoformat(str(value).strip())
    except ValueError:
        return _plain(value)
    return moment.astimezone(UTC).isoformat() if moment.tzinfo else moment.isoformat()


_BY_KIND: dict[str, Callable[[JsonValue], JsonValue]] = {
    "integer": _number,
    "number": _number,
    "boolean": _truth,
    "date": _day,
    "datetime": _moment,
}
