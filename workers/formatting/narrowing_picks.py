"""Picks the items that a question names: by month, weekday, day or year, or by words of theirs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from schemas.endpoints import Language
from workers.formatting.narrowing_items import Item, days_of, texts_of
from workers.formatting.values import Reading
from workers.messages.catalog import phrases
from workers.messages.hearing import Word, fold, is_form_of, lexicon, same_stem, words_of

Picks = Callable[[date], bool]

_SATURDAY = 5
_BOUNDS = ("st", "ni", "ks")
_LONGEST_MONTH = 31
_LONGEST_STRETCH = timedelta(days=400)
_FIRST_YEAR, _LAST_YEAR = 1900, 2099


@dataclass(frozen=True, kw_only=True)
class Days:
    """Tests that a day must pass, and the places of the words that said them."""

    tests: tuple[Picks, ...]
    places: frozenset[int]

    def fit(self, item: Item, reading: Reading) -> bool:
        """Whether one of the item's days passes every test; an item without a date passes none."""
        days = days_of(item, reading)
        if days is None:
            return False
        first, last = days[0], min(days[1], days[0] + _LONGEST_STRETCH)
        stretch = (first + timedelta(days=i) for i in range((last - first).days + 1))
        return any(all(test(day) for test in self.tests) for day in stretch)


def days_in(words: Sequence[Word], language: Language) -> Days:
    """Read "in May", "on Mondays", "on 24 December", "in 2026", "on a weekend"."""
    tests: list[Picks] = []
    places: set[int] = set()
    for at, word in enumerate(words):
        found = _test(words, at, language)
        if found is not None:
            tests.append(found)
            places.add(at)
            continue
        number = int(word.text) if word.text.isdecimal() and len(word.text) <= len("2026") else 0
        if 1 <= number <= _LONGEST_MONTH and _is_beside_month(words, at, language):
            tests.append(lambda day, number=number: day.day == number)  # type: ignore[misc]
            places.add(at)
    return Days(tests=tuple(tests), places=frozenset(places))


def _test(words: Sequence[Word], at: int, language: Language) -> Picks | None:
    word = words[at]
    if lexicon("followup.partitive", language).match(words, at) > at:  # "среди них" is no Wednesday
        return None
    month = _month(word.folded, language)
    if month:
        return lambda day: day.month == month
    weekday = _number(word.folded, "calendar.weekdays", language)
    if weekday:
        return lambda day: day.weekday() == weekday - 1
    if lexicon("asked.weekend", language).match(words, at) > at:
        return lambda day: day.weekday() >= _SATURDAY
    year = int(word.text) if word.text.isdecimal() and len(word.text) == len("2026") else 0
    return (lambda day: day.year == year) if _FIRST_YEAR <= year <= _LAST_YEAR else None


def _is_beside_month(words: Sequence[Word], at: int, language: Language) -> bool:
    beside = (words[i].folded for i in (at - 1, at + 1) if 0 <= i < len(words))
    return any(_month(word, language) for word in beside)


def _month(folded: str, language: Language) -> int:
    return _number(folded, "calendar.months", language) or _number(folded, "calendar.months_genitive", language)


def _number(folded: str, key: str, language: Language) -> int:
    """Return the place (from 1) of the name in the catalogue's list that the word is a form of; 0 for none."""
    names = [(number, fold(name)) for number, name in enumerate(phrases(key, language), start=1)]
    exact = next((number for number, name in names if folded == name), 0)
    # "juunist" (from June on) and "juunini" (until June) are more than June.
    if exact or (language == "et" and folded.endswith(_BOUNDS)):
        return exact
    return next((number for number, name in names if is_form_of(folded, name, language)), 0)


def named(words: Sequence[Word], items: Sequence[Item], reading: Reading) -> list[Item]:
    """Return the items that carry every one of the words, in any form."""
    texts = [frozenset(word.folded for word in words_of(texts_of(item, reading))) for item in items]
    return [
        item
        for item, said in zip(items, texts, strict=True)
        if all(any(same_stem(word.folded, other) for other in said) for word in words)
    ]
