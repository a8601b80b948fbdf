"""Reads what a field means from its key and its neighbours, and says its value.

Only what the JSON itself tells is used: an amount is money when the key or a neighbour names the currency, digits are
left together when the key says that they are a code, a year or a number on a card.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from schemas.base import JsonValue
from schemas.calls import ApiCall
from schemas.endpoints import Language
from workers.formatting.dates import read_moment, spoken
from workers.formatting.locale import CURRENCIES, spoken_money, spoken_number, spoken_percent
from workers.formatting.names import field_name, key_words
from workers.formatting.paths import in_language
from workers.formatting.quoting import VALUE_LIMIT, clean, is_address, quoted
from workers.messages.catalog import text

_MONEY = "price amount total tax fee fine cost sum balance due rate salary payment hind summa kokku maks tasu debt võlg"
MONEY_WORDS = frozenset(_MONEY.split())
_CODES = "year code id nr no number zip postal phone tel postcode index isbn barcode registry aasta kood"
CODE_WORDS = frozenset(_CODES.split())
PERCENT_WORDS = frozenset({"percent", "percentage", "pct", "protsent"})
CURRENCY_KEYS = ("currency", "currencyCode", "currency_code", "valuuta")
_HIDDEN_WORDS = frozenset({"id", "uuid", "guid", "etag", "hash", "self", "href", "link", "links", "url", "uri"})
_CURRENCY = re.compile(r"[A-Z]{3}")
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{24,}", re.IGNORECASE)
_LOOKS_LIKE_PROSE = re.compile(r"[.!?;]\s|[!?]$|\n")
_PROSE_LENGTH = 80


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One call's body being read: in which language, and for which words of the question."""

    call: ApiCall
    language: Language
    query_words: frozenset[str] = frozenset()
    totals: Mapping[str, int] = field(default_factory=dict)

    def name(self, path: str) -> str:
        """Name the field at the path, in lower case."""
        return field_name(path, self.call.endpoint, self.language)


Siblings = Mapping[str, JsonValue]


def is_hidden(key: str, value: JsonValue) -> bool:
    """Whether a field is for machines: ids of records, links, hashes, and what holds nothing."""
    if value is None or value in ("", [], {}):
        return True
    words = key_words(key)
    if words and words[-1].lower() in _HIDDEN_WORDS:
        return True
    return isinstance(value, str) and (is_address(value) or _UUID.fullmatch(value) is not None)


def currency_of(key: str, siblings: Siblings) -> str | None:
    """Return the currency of an amount: named by the key ("priceEur") or by a neighbour ("currency": "EUR")."""
    words = key_words(key)
    if words and words[-1].upper() in CURRENCIES and len(words) > 1:
        return words[-1].upper()
    if not {word.lower() for word in words} & MONEY_WORDS:
        return None
    for name in CURRENCY_KEYS:
        named = siblings.get(name)
        if isinstance(named, str) and _CURRENCY.fullmatch(named):
            return named
    return None


def say_field(key: str, value: JsonValue, siblings: Siblings, reading: Reading, *, limit: int = VALUE_LIMIT) -> str:
    """Say a scalar, or a text offered in several languages; "" for anything else and for what can't be said."""
    language = reading.language
    if isinstance(value, bool):
        return text("formatting.yes" if value else "formatting.no", language)
    if isinstance(value, int | float):
        return _say_number(key, value, siblings, language)
    translated = value if isinstance(value, str) else in_language(value, language)
    return _say_text(translated, language, limit) if translated else ""


def _say_number(key: str, value: float, siblings: Siblings, language: Language) -> str:
    currency = currency_of(key, siblings)
    if currency:
        return spoken_money(value, currency, language)
    words = {word.lower() for word in key_words(key)}
    if words & PERCENT_WORDS:
        return spoken_percent(value, language)
    if words & CODE_WORDS and isinstance(value, int) and abs(value) < 10**15:
        return str(value)
    return spoken_number(value, language)


def _say_text(value: str, language: Language, limit: int) -> str:
    moment = read_moment(value)
    if moment:
        return spoken(moment, language)
    said = clean(value, limit=limit)
    is_prose = len(said) > _PROSE_LENGTH or _LOOKS_LIKE_PROSE.search(said)
    return quoted(value, language, limit=limit) if said and is_prose else said
