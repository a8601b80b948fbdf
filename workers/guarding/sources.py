"""What an answer may draw on, and the numbers in it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from schemas.base import JsonValue
from workers.guarding.days import Day, days_in, sure_days_in

# 1 234,56 · 1,234.56 · 1.234,56 · 5 · 2026; spaces within may be of any width.
_NUMBER = re.compile(r"\d{1,3}(?:[\s,.']\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?")
_DIGITS = re.compile(r"\d+")
CONTACT = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\b(?:https?://|www\.)\S+|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"
)
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SPACES = re.compile(r"\s+")
_GROUPING = re.compile(r"[\s']")
_DEEPEST = 30
_LONGEST_DIGITS = 15
_MOST_DECIMALS = 3


@dataclass(frozen=True)
class Sources:
    """Data, the question, and whatever else an answer may repeat. Its numbers are collected once."""

    items: tuple[JsonValue, ...] = ()

    @cached_property
    def numbers(self) -> frozenset[float]:
        """Every number of the sources: values, the digits within texts and keys, and the lengths of lists."""
        return frozenset(number for source in self.items for number in _numbers(source, 0))

    @cached_property
    def texts(self) -> str:
        """All texts of the sources, keys too, without spaces and in small letters."""
        return "\n".join(_squeezed(text) for source in self.items for text in _texts(source, 0))

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of the sources' texts, keys too, in small letters."""
        return frozenset(
            word.lower() for source in self.items for text in _texts(source, 0) for word in WORD.findall(text)
        )

    @cached_property
    def days(self) -> frozenset[Day]:
        """Every day of the year that the sources' texts name."""
        return frozenset(day for source in self.items for text in _texts(source, 0) for day in days_in(text))

    def hold(self, text: str) -> bool:
        """Whether a text stands in the sources, spaces and case aside."""
        return _squeezed(text) in self.texts

    def without_contacts_of(self, text: str) -> str:
        """Return the text without the e-mail addresses, links and account numbers that the sources hold."""
        return CONTACT.sub(lambda found: "" if self.hold(found.group().rstrip(".,;:!?)")) else found.group(), text)

    def hold_all_numbers_of(self, text: str) -> bool:
        """Whether each number of the text, as a whole or in its parts ("24.02.2026", "15:30"), is known."""
        for found in _NUMBER.finditer(text):
            parts = {float(digits) for digits in _DIGITS.findall(found.group())}
            if not (parts <= self.numbers or _readings(found.group()) & self.numbers):
                return False
        return True

    def hold_all_days_of(self, text: str) -> bool:
        """Whether no day of a known month has moved to another month.

        A day of the month that no date of the sources has is a number like any other.
        """
        with_month = {day for _, day in self.days}
        return all(day in self.days or day[1] not in with_month for day in sure_days_in(text))


def _squeezed(text: str) -> str:
    return _SPACES.sub("", text).casefold()


def _texts(value: JsonValue, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item, depth + 1)


def _readings(written: str) -> frozenset[float]:
    """Return the values a written number may have: "1,234" is 1234 in one custom and 1.234 in another."""
    plain = _GROUPING.sub("", written)
    forms = {plain.replace(",", ""), plain.replace(".", "").replace(",", "."), plain.replace(",", ".")}
    return frozenset(float(form) for form in forms if form.count(".") <= 1)


def _numbers(value: JsonValue, depth: int) -> Iterator[float]:
    if isinstance(value, bool) or value is None or depth > _DEEPEST:
        return
    if isinstance(value, int | float):
        yield from (abs(round(float(value), decimals)) for decimals in range(_MOST_DECIMALS))
        yield abs(float(value))
    elif isinstance(value, str):
        yield from _numbers_in_text(value)
    elif isinstance(value, list):
        yield float(len(value))
        for item in value:
            yield from _numbers(item, depth + 1)
    else:
        for key, item in value.items():
            yield from _numbers_in_text(key)
            yield from _numbers(item, depth + 1)


def _numbers_in_text(text: str) -> Iterator[float]:
    for found in _NUMBER.finditer(text):
        yield from _readings(found.group())
    yield from (float(digits) for digits in _DIGITS.findall(text) if len(digits) <= _LONGEST_DIGITS)
