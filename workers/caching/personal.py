"""Whether arguments name a person: then their response is kept for the chat that asked, and shared with nobody. Pure.

Patterns with a checksum where there is one, so that an ordinary number rarely counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from schemas.base import JsonValue

_DIGITS = re.compile(r"(?<![0-9])[0-9](?:[ -]?[0-9]){10,18}(?![0-9])")
_MAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
_IBAN = re.compile(r"\b[A-Z]{2}[0-9]{2}(?: ?[0-9A-Z]){11,30}\b")
_PHONE = re.compile(r"(?<![0-9])(?:\+|00)[0-9](?:[ -]?[0-9]){7,14}(?![0-9])")
_ID_LENGTH = 11
_FIRST_WEIGHTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 1)
_SECOND_WEIGHTS = (3, 4, 5, 6, 7, 8, 9, 1, 2, 3)
_CARD_LENGTHS = range(13, 20)


def names_a_person(arguments: Mapping[str, JsonValue]) -> bool:
    """Whether a value holds an Estonian personal code, a card number, an IBAN, an e-mail address or a phone number."""
    return any(_is_personal(text) for text in _texts(list(arguments.values())))


def _texts(value: JsonValue) -> Iterator[str]:
    match value:
        case str() | int() | float():
            yield str(value)
        case list():
            for item in value:
                yield from _texts(item)
        case dict():
            yield from _texts(list(value.values()))
        case _:
            return


def _is_personal(text: str) -> bool:
    if _MAIL.search(text) or _IBAN.search(text) or _PHONE.search(text):
        return True
    found = (re.sub(r"[ -]", "", match.group()) for match in _DIGITS.finditer(text))
    return any(_is_personal_code(digits) or _is_card(digits) for digits in found)


def _is_personal_code(digits: str) -> bool:
    """Check digit of the Estonian and Lithuanian personal code (EVS 585:2007)."""
    if len(digits) != _ID_LENGTH or digits[0] not in "12345678":
        return False
    for weights in (_FIRST_WEIGHTS, _SECOND_WEIGHTS):
        rest = sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False)) % 11
        if rest < 10:  # noqa: PLR2004 - ten has no digit; the second weights decide
            return rest == int(digits[10])
    return digits[10] == "0"


def _is_card(digits: str) -> bool:
    """Luhn's check (ISO/IEC 7812-1)."""
    if len(digits) not in _CARD_LENGTHS:
        return False
    doubled = [int(d) if place % 2 == 0 else int(d) * 2 for place, d in enumerate(reversed(digits))]
    return sum(d - 9 if d > 9 else d for d in doubled) % 10 == 0  # noqa: PLR2004 - two digits become their sum
