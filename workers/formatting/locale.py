"""Numbers, money, plurals and enumerations in the form each language uses (CLDR's rules for en, et and ru)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from math import isfinite

from schemas.endpoints import Language
from workers.messages.catalog import text

NO_BREAK = "\u00a0"
Number = int | float | Decimal

_DECIMAL_MARK: dict[Language, str] = {"en": ".", "et": ",", "ru": ","}
_GROUP_MARK: dict[Language, str] = {"en": ",", "et": NO_BREAK, "ru": NO_BREAK}
# Estonian leaves four digits together: 1234, but 12 345.
_GROUPED_FROM: dict[Language, int] = {"en": 4, "et": 5, "ru": 4}
_KNOWN_CURRENCIES = "EUR USD GBP SEK NOK DKK PLN CHF JPY RUB UAH CZK HUF CAD AUD CNY TRY"
CURRENCIES = frozenset(_KNOWN_CURRENCIES.split())
_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "RUB": "₽", "UAH": "₴", "PLN": "zł"}
_SYMBOLS_IN_FRONT = "€$£¥"
_WITHOUT_CENTS = {"JPY", "KRW", "ISK", "CLP", "VND"}
_MOST_DECIMALS = 6
_TOO_LONG_TO_READ = Decimal("1e15")
_SMALLEST_PLAIN = Decimal("1e-6")
_POWERS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def spoken_number(value: Number, language: Language, *, digits: int | None = None) -> str:
    """Say a number with the language's marks; `digits` fixes the decimals, else at most six are kept.

    Numbers of sixteen digits and more, and those smaller than a millionth, are said as powers of ten. NaN and
    infinities give "".
    """
    exact = _exact(value)
    if exact is None:
        return ""
    size = abs(exact)
    if size >= _TOO_LONG_TO_READ or (digits is None and 0 < size < _SMALLEST_PLAIN):
        return _as_power(exact, language)
    places = _MOST_DECIMALS if digits is None else max(0, min(digits, _MOST_DECIMALS))
    whole, _, decimals = f"{size.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):f}".partition(".")
    decimals = decimals if digits is not None else decimals.rstrip("0")
    said = _grouped(whole, language) + (_DECIMAL_MARK[language] + decimals if decimals else "")
    return f"−{said}" if exact < 0 and said.strip("0.,") else said


def spoken_money(value: Number, currency: str, language: Language) -> str:
    """Say an amount: "€127.40" in English, "127,40 €" in Estonian and Russian (no-break space)."""
    code = currency.upper()
    amount = spoken_number(value, language, digits=0 if code in _WITHOUT_CENTS else 2)
    if not amount:
        return ""
    symbol = _SYMBOLS.get(code, code)
    if language != "en" or (len(symbol) > 1 and code in _SYMBOLS) or symbol in "₽₴":
        return f"{amount}{NO_BREAK}{symbol}"
    sign = "−" if amount.startswith("−") else ""
    gap = "" if symbol in _SYMBOLS_IN_FRONT else NO_BREAK
    return f"{sign}{symbol}{gap}{amount.removeprefix('−')}"


def spoken_percent(value: Number, language: Language, *, digits: int | None = None) -> str:
    """Say a percentage: "24%" in English and Estonian, "24 %" in Russian."""
    number = spoken_number(value, language, digits=digits)
    gap = NO_BREAK if language == "ru" else ""
    return f"{number}{gap}%" if number else ""


def plural_form(count: Number, language: Language, forms: Sequence[str]) -> str:
    """Choose the form that goes with the count; a form that is not given falls back to the last one.

    English and Estonian have two (one, other: in Estonian the partitive), Russian three (one, few, many); a Russian
    fraction takes the second: 1,5 часа.
    """
    if not forms:
        return ""
    index = _russian_form(count) if language == "ru" else int(count != 1)
    return forms[min(index, len(forms) - 1)]


def counted(count: Number, language: Language, forms: Sequence[str]) -> str:
    """Say "12 days", "12 päeva", "12 дней"."""
    return f"{spoken_number(count, language)} {plural_form(count, language, forms)}".rstrip()


def listing(items: Sequence[str], language: Language, *, left_out: int = 0) -> str:
    """Say "a, b and c"; with `left_out`, "a, b and 7 more"."""
    shown = [item for item in items if item]
    if left_out > 0:
        return f"{', '.join(shown)} {text('formatting.more', language, count=spoken_number(left_out, language))}"
    if len(shown) < 2:  # noqa: PLR2004 — one thing needs no "and"
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {text('formatting.and', language)} {shown[-1]}"


def _exact(value: Number) -> Decimal | None:
    if isinstance(value, float):
        return Decimal(repr(value)) if isfinite(value) else None
    return Decimal(value)


def _grouped(whole: str, language: Language) -> str:
    if len(whole) < _GROUPED_FROM[language]:
        return whole
    return f"{int(whole):,}".replace(",", _GROUP_MARK[language])


def _as_power(value: Decimal, language: Language) -> str:
    exponent = value.adjusted()
    digits = spoken_number(value.scaleb(-exponent).quantize(Decimal("0.01")), language)
    return f"{digits}{NO_BREAK}×{NO_BREAK}10{str(exponent).translate(_POWERS)}"


def _russian_form(count: Number) -> int:
    if count != int(count):
        return 1
    last, last_two = abs(int(count)) % 10, abs(int(count)) % 100
    if last == 1 and last_two != 11:  # noqa: PLR2004 — the rule is about these very digits
        return 0
    return 1 if last in (2, 3, 4) and last_two not in (12, 13, 14) else 2
