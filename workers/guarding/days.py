"""Days of the year in a text: "2026-02-24", "24.02.2026", "24 February", "24. veebruaril", "24 февраля". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import takewhile

from schemas.endpoints import LANGUAGES, Language
from workers.messages.catalog import phrases

Day = tuple[int, int]
"""Month and day of the month."""

_ISO = re.compile(r"(?<!\d)\d{4}-(\d\d)-(\d\d)(?!\d)")
_DOTTED = re.compile(r"(?<!\d)(\d{1,2})\.\s?(\d{1,2})\.\s?\d{4}(?!\d)")
_SLASHED = re.compile(r"(?<!\d)(\d{1,2})/(\d{1,2})/\d{4}(?!\d)")
_ABBREVIATED = 3
# What a case may add to what the cases of a month's name have in common.
_ENDINGS = {"et": r"(?:er|ri|i)?(?:le|lt|l|st|sse|s|ks|ni|ga|t|d)?", "ru": "(?:ь|я|ю|е|й|а|у|ем|ём|ом)?"}


def days_in(text: str) -> Iterator[Day]:
    """Yield the days that a text may name: one with slashes both ways, as customs differ."""
    yield from sure_days_in(text)
    for first, second in _SLASHED.findall(text):
        yield (int(first), int(second))
        yield (int(second), int(first))


def sure_days_in(text: str) -> Iterator[Day]:
    """Yield the days that a text names in one way. An English month has a capital: "5 may be due" names none."""
    yield from ((int(month), int(day)) for month, day in _ISO.findall(text))
    yield from ((int(month), int(day)) for day, month in _DOTTED.findall(text))
    for found in _named().finditer(text):
        word = (found["behind"] or found["before"]).lower()
        month = max((stem for stem in _months() if word.startswith(stem)), key=len)
        yield (_months()[month], int(found["day"] or found["later"]))


@cache
def _months() -> Mapping[str, int]:
    """Beginnings of the months' names in all languages, with their numbers."""
    names = {language: zip(*_both_cases(language), strict=True) for language in LANGUAGES}
    stems = {
        _in_common(plain, genitive): number
        for language in names
        for number, (plain, genitive) in enumerate(names[language], start=1)
    }
    return stems | {name[:_ABBREVIATED].lower(): number for name, number in _numbered("en")}


def _in_common(plain: str, genitive: str) -> str:
    """Return the beginning that both have in common, in small letters."""
    pairs = zip(plain.lower(), genitive.lower(), strict=False)
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _both_cases(language: Language) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return phrases("calendar.months", language), phrases("calendar.months_genitive", language)


def _numbered(language: Language) -> list[tuple[str, int]]:
    return [(name, number) for number, name in enumerate(phrases("calendar.months", language), start=1)]


@cache
def _named() -> re.Pattern[str]:
    english = "|".join(f"{name}|{name[:_ABBREVIATED]}t?" for name in phrases("calendar.months", "en"))
    others = "|".join(
        re.escape(_in_common(plain, genitive)) + _ENDINGS[language]
        for language in ("et", "ru")
        for plain, genitive in zip(*_both_cases(language), strict=True)
    )
    month = rf"(?:(?-i:{english})|(?:{others}))"
    return re.compile(
        rf"(?<![\d.,])(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?\s(?:of\s)?(?P<behind>{month})\b"
        rf"|\b(?P<before>{month})\.?\s(?P<later>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])",
        re.IGNORECASE,
    )
