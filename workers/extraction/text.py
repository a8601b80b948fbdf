"""A message in the two forms that the rules need: as it was written, and folded for comparison, place for place."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

_SPACES = "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\t"
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_QUOTES = {"’": "'", "‘": "'", "`": "'", "´": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"'}
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")


class _Fold(dict[int, str]):
    """Maps one character to one character: lower case, no accents, plain spaces, dashes, quotes and digits."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char in _SPACES:
            plain = " "
        elif char in _DASHES:
            plain = "-"
        elif char in _QUOTES:
            plain = _QUOTES[char]
        elif (digit := unicodedata.decimal(char, None)) is not None:
            plain = str(digit)
        else:
            plain = unicodedata.normalize("NFD", char.lower()[:1] or char)[0]
        self[code] = plain
        return plain


_FOLD = _Fold()


def fold(text: str) -> str:
    """Return the text in lower case without accents; as long as the text, so that places agree ("Pärnu" → "parnu")."""
    return text.translate(_FOLD)


@dataclass(frozen=True, kw_only=True)
class Word:
    """One folded word and where it stands."""

    folded: str
    start: int
    end: int


@dataclass(frozen=True)
class Text:
    """A message, its folded twin of the same length, and its words. Composed (NFC), so that an accent is no letter."""

    raw: str

    @classmethod
    def of(cls, message: str) -> Text:
        return cls(unicodedata.normalize("NFC", message))

    @cached_property
    def folded(self) -> str:
        return fold(self.raw)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return words_of(self.folded)

    def between(self, start: int, end: int) -> str:
        """Return what was written there, as it was written."""
        return self.raw[start:end]


def words_of(folded: str) -> tuple[Word, ...]:
    """Cut a folded text into words; punctuation and underscores separate them."""
    return tuple(Word(folded=m.group(), start=m.start(), end=m.end()) for m in _WORD.finditer(folded))


def overlaps(start: int, end: int, spans: list[tuple[int, int]]) -> bool:
    """Whether the stretch shares a character with one of the spans."""
    return any(start < other_end and other_start < end for other_start, other_end in spans)


_SHORTEST_STEM = 4
_LONGEST_ENDING = 3


def same_stem(word: str, other: str) -> bool:
    """Whether two folded words are forms of one: equal, or alike but for an ending of up to three letters."""
    if word == other:
        return True
    shorter = min(len(word), len(other))
    if shorter < _SHORTEST_STEM or word[:_SHORTEST_STEM] != other[:_SHORTEST_STEM]:
        return False
    shared = next((i for i in range(shorter) if word[i] != other[i]), shorter)
    return shared >= max(_SHORTEST_STEM, shorter - 1) and max(len(word), len(other)) - shared <= _LONGEST_ENDING + 1


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def readable(name: str) -> str:
    """Turn `countryIsoCode`, `calculation_year`, `from-city` into words."""
    return " ".join(re.sub(r"[\W_]+", " ", _CAMEL.sub(" ", name)).split()).lower()
