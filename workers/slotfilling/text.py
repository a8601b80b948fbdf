"""Words of a message, with their places, folded so that forms can be compared."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NEGATOR = re.compile(r"\b(?:not|isn't|except|instead of|mitte|v[aä]lja arvatud|не|кроме)\s+(?:in |for |the |from )?$")
_LONGEST_NEGATION = 24


@dataclass(frozen=True)
class Word:
    """One word as written, its folded form, and where it stands."""

    text: str
    folded: str
    start: int
    end: int


@dataclass(frozen=True)
class Found:
    """A value in a message: what it means, where it stands, and the role its surroundings give it.

    `role` is "start" or "end" of a pair ("from", "alates", "с" / "to", "kuni", "до"), "" when nothing says so.
    """

    value: str
    start: int
    end: int
    role: str = ""

    def overlaps(self, other: Found) -> bool:
        return self.start < other.end and other.start < self.end


def composed(text: str) -> str:
    """Return the text in composed form (NFC), every kind of space as one plain space."""
    return re.sub(r"[\s\u00a0\u2009\u202f]", " ", unicodedata.normalize("NFC", text))


def fold(text: str) -> str:
    """Lower the case, place for place, and write ё as е; õ and ä stay, since they tell words apart."""
    return (
        "".join(char.lower() if len(char.lower()) == 1 else char for char in text).replace("ё", "е").replace("’", "'")
    )


def words_of(text: str) -> tuple[Word, ...]:
    return tuple(Word(m.group(), fold(m.group()), m.start(), m.end()) for m in _WORD.finditer(text))


def is_negated(text: str, at: int) -> bool:
    """Whether the words right before a place exclude what follows ("not Estonia", "mitte Eesti", "не Эстония")."""
    return _NEGATOR.search(fold(text[max(0, at - _LONGEST_NEGATION) : at])) is not None
