"""Finds the values in a short message, and the parameters of the last call that they would change. Pure.

Only where a value stands and what sort it is: its meaning is read elsewhere, by the parameter's schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from schemas.endpoints import LANGUAGES, Language, ParamSpec
from workers.messages.asking import words_of_key
from workers.messages.catalog import phrases
from workers.messages.hearing import Word, fold, folded_words, is_form_of, lexicon

Sort = Literal["day", "year", "number", "code", "option", "country", "city", "currency"]

_DATE = re.compile(r"\b(?:\d{4}-\d\d?-\d\d?|\d{1,2}[./]\d{1,2}[./](?:\d{4}|\d\d)|\d{1,2}\.\d{1,2}\b\.?)(?!\d)")
_CODE = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[\w-]{4,}(?![\w-])|(?<![\w-])\d{5,}(?![\w-])")
_CAPITAL_CODE = re.compile(r"[A-Z]{2,3}")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMBER = re.compile(r"\d{1,3}(?: \d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?")
_DAY_OF_MONTH = re.compile(r"\d{1,2}(?:st|nd|rd|th)")
_CLOCK = re.compile(r"\b\d{1,2}:\d\d\b")
_NAMES: tuple[tuple[Sort, str], ...] = (("country", "countries"), ("city", "cities"), ("currency", "currencies"))
_SHORT_MONTHS = ("may", "march", "mai", "маи")
_SHORTEST_NAME = 3
# The world has many names: "sama" is no misspelt Samoa, nor "самое" its case form.
_SHORTEST_MISSPELT_NAME = 6


@dataclass(frozen=True, kw_only=True)
class Value:
    """A value that was said: its sort, its words (end open), and for an option the parameters that know it."""

    sort: Sort
    first: int
    end: int
    params: tuple[str, ...] = ()

    def words(self, words: Sequence[Word], text: str) -> str:
        return text[words[self.first].start : words[self.end - 1].end]


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A message cut into words. `errors` are the places of words that may be misspelt."""

    text: str
    words: tuple[Word, ...]
    language: Language
    errors: frozenset[int]


def values_in(spoken: Spoken, params: Sequence[ParamSpec]) -> tuple[Value, ...]:
    """Find the values, the longest at each place, in order. Words of one date or period become one value."""
    found: list[Value] = []
    for candidate in sorted(_candidates(spoken, params), key=lambda v: (v.first - v.end, _rank(v))):
        if all(candidate.end <= other.first or other.end <= candidate.first for other in found):
            found.append(candidate)
    found.sort(key=lambda value: value.first)
    kept = [value for value in found if len(found) == 1 or not _is_present(value, spoken)]
    return tuple(_joined(kept, spoken))


def _is_present(value: Value, spoken: Spoken) -> bool:
    """Whether it is but a "now" beside another value: "ok, now Sweden", "I'm in Narva now"."""
    present = lexicon("followup.now", spoken.language)
    return value.sort == "day" and present.match(spoken.words, value.first) == value.end


def _rank(value: Value) -> int:
    order: tuple[Sort, ...] = ("day", "option", "country", "city", "currency", "year", "code", "number")
    return order.index(value.sort)


def _candidates(spoken: Spoken, params: Sequence[ParamSpec]) -> Iterator[Value]:
    patterns: tuple[tuple[Sort, re.Pattern[str]], ...] = (
        ("day", _DATE), ("day", _CLOCK), ("code", _CODE), ("number", _NUMBER),
    )  # fmt: skip
    for sort, pattern in patterns:
        yield from _written(spoken, sort, pattern)
    for at, word in enumerate(spoken.words):
        if _YEAR.fullmatch(word.text):
            yield Value(sort="year", first=at, end=at + 1)
        end = lexicon("followup.days", spoken.language).match(spoken.words, at, errors=spoken.errors)
        if end > at:
            yield Value(sort="day", first=at, end=end)
        if _is_calendar_word(spoken, at) or _is_day_of_month(spoken, at):
            yield Value(sort="day", first=at, end=at + 1)
    yield from _options(spoken, params)
    for sort, names in _NAMES:
        if any(_takes(param, sort) for param in params):
            yield from _names(spoken, sort, names)


def _written(spoken: Spoken, sort: Sort, pattern: re.Pattern[str]) -> Iterator[Value]:
    for match in pattern.finditer(spoken.text):
        inside = [i for i, word in enumerate(spoken.words) if word.start >= match.start() and word.end <= match.end()]
        if inside:
            yield Value(sort=sort, first=inside[0], end=inside[-1] + 1)


def _is_calendar_word(spoken: Spoken, at: int) -> bool:
    """Whether a month or a weekday stands there; "may" is a month only as one is written or with a day or year."""
    words, language = spoken.words, spoken.language
    word = words[at]
    if lexicon("followup.partitive", language).match(words, at) > at:  # "среди них" is no Wednesday
        return False
    if word.folded in _SHORT_MONTHS and language == "en":
        beside = (words[i].text for i in (at - 1, at + 1) if 0 <= i < len(words))
        return word.text[0].isupper() or any(other.isdigit() for other in beside)
    if word.folded.startswith("ма") and language == "ru":
        return word.folded in ("маи", "мая", "мае", "март", "марта", "марте")
    return any(is_form_of(word.folded, base, language, errors=at in spoken.errors) for base in _calendar(language))


def _is_day_of_month(spoken: Spoken, at: int) -> bool:
    """Whether "7th" stands beside a month: "the 7th of December"."""
    if not _DAY_OF_MONTH.fullmatch(spoken.words[at].folded):
        return False
    beside = (i for i in (at - 1, at + 1, at + 2) if 0 <= i < len(spoken.words))
    return any(_is_calendar_word(spoken, i) for i in beside)


@cache
def _calendar(language: Language) -> tuple[str, ...]:
    keys = ("calendar.months", "calendar.months_genitive", "calendar.weekdays")
    return tuple(dict.fromkeys(fold(name) for key in keys for name in phrases(key, language)))


def _options(spoken: Spoken, params: Sequence[ParamSpec]) -> Iterator[Value]:
    for at, word in enumerate(spoken.words):
        ends: dict[int, list[str]] = {}
        for param in params:
            for end in _option_ends(spoken, at, param):
                ends.setdefault(end, []).append(param.name)
            codes = {option.value for option in param.enum}
            if word.text in codes and _CAPITAL_CODE.fullmatch(word.text):
                ends.setdefault(at + 1, []).append(param.name)
        for end, names in ends.items():
            yield Value(sort="option", first=at, end=end, params=tuple(dict.fromkeys(names)))


def _option_ends(spoken: Spoken, at: int, param: ParamSpec) -> Iterator[int]:
    for option in param.enum:
        named: list[tuple[Language, str]] = [*option.labels.items()]
        named += [(language, synonym) for synonym in option.synonyms for language in LANGUAGES]
        for language, label in named:
            own = folded_words(label)
            is_likely = bool(own) and own[0][0] == spoken.words[at].folded[0]
            if is_likely and _stands(spoken, at, own, language):
                yield at + len(own)


def _names(spoken: Spoken, sort: Sort, names: str) -> Iterator[Value]:
    for at, word in enumerate(spoken.words):
        for language, own in _named(names).get(word.folded[:2], ()):
            is_free = not spoken.errors.isdisjoint(range(at, at + len(own)))
            if is_free and _stands(spoken, at, own, language, least=_SHORTEST_MISSPELT_NAME):
                yield Value(sort=sort, first=at, end=at + len(own))


def countries_in(spoken: Spoken) -> tuple[Value, ...]:
    """Find the names of countries, whether a parameter takes them or not."""
    return tuple(_names(spoken, "country", "countries"))


def _stands(spoken: Spoken, at: int, own: Sequence[str], language: Language, *, least: int = 0) -> bool:
    """Whether the name's words stand there, in any case form; misspelt words must have `least` letters."""
    there = spoken.words[at : at + len(own)]
    return len(there) == len(own) and all(
        is_form_of(word.folded, base, language, errors=at + i in spoken.errors and len(word.folded) >= least)
        for i, (word, base) in enumerate(zip(there, own, strict=True))
    )


@cache
def _named(names: str) -> dict[str, list[tuple[Language, tuple[str, ...]]]]:
    """Read `names.cities` and its like into names by their first two letters."""
    found: dict[str, list[tuple[Language, tuple[str, ...]]]] = {}
    for language in LANGUAGES:
        for line in phrases(f"names.{names}", language):
            for written in line.partition(": ")[2].split(" | "):
                own = folded_words(written)
                if own and len(own[0]) >= _SHORTEST_NAME:
                    found.setdefault(own[0][:2], []).append((language, own))
    return found


def _joined(found: Sequence[Value], spoken: Spoken) -> Iterator[Value]:
    """Join "24" and "December", or "1 May" and "10 May" with only small words between, into one day."""
    words, small = spoken.words, lexicon("followup.whole_small", spoken.language)
    day: Value | None = None
    for value in found:
        is_timely = value.sort in ("day", "year") or (value.sort == "number" and _touches_day(value, found))
        if day and is_timely and all(word.folded in small for word in words[day.end : value.first]):
            day = Value(sort="day", first=day.first, end=value.end)
            continue
        if day:
            yield day
        day = value if is_timely else None
        if not is_timely:
            yield value
    if day:
        yield day


def _touches_day(value: Value, found: Sequence[Value]) -> bool:
    return any(o.sort == "day" and (o.first == value.end or o.end == value.first) for o in found)


def _takes(param: ParamSpec, sort: Sort) -> bool:
    """Whether a parameter, by its name and format, holds names of that sort."""
    said = {*words_of_key(param.name), *(param.format or "").lower().split("-")}
    return bool(said & {"country": {"country"}, "city": {"city", "town"}, "currency": {"currency"}}.get(sort, set()))


def takers(value: Value, params: Iterable[ParamSpec]) -> tuple[ParamSpec, ...]:
    """Return the parameters that could hold the value, of whatever place in the request."""
    return tuple(param for param in params if _fits(value, param))


def _fits(value: Value, param: ParamSpec) -> bool:
    is_year = param.type == "integer" and "year" in words_of_key(param.name)
    if value.sort == "option":
        return param.name in value.params
    if value.sort in ("country", "city", "currency"):
        return _takes(param, value.sort)
    if value.sort in ("day", "year"):
        return param.type in ("date", "datetime") or is_year
    is_text = param.type == "string" and not param.enum and param.format not in ("city", "country", "date")
    if value.sort == "code":
        return is_text and param.format != "address"
    return param.type in ("integer", "number") and not is_year
