"""Turns what people type into words that can be compared."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace

_WORD = re.compile(r"[^\W_]+(?:['’`][^\W_]+)*")
_STRETCHED = re.compile(r"([^\W\d_])\1{2,}")
_APOSTROPHES = str.maketrans("", "", "'’`")


@dataclass(frozen=True, kw_only=True)
class Word:
    """One word of a text: as it was written, as it is compared, and where it stands."""

    text: str
    folded: str
    start: int
    end: int

    def in_small(self) -> Word:
        """Return the word with a small first letter, as it would stand within a sentence."""
        return replace(self, text=self.text[:1].lower() + self.text[1:])


def fold(word: str) -> str:
    """Lower the case and drop accents, apostrophes and stretched letters: "Aitäääh" → "aitah", "ещё" → "еще"."""
    bare = unicodedata.normalize("NFD", word.lower().translate(_APOSTROPHES)).replace("и\u0306", "й")
    kept = "".join(c for c in bare if not unicodedata.combining(c))
    return _STRETCHED.sub(r"\1", kept)


def split_words(text: str) -> tuple[Word, ...]:
    """Cut a text into words; punctuation, emoji and underscores separate them."""
    composed = unicodedata.normalize("NFC", text)
    return tuple(
        Word(text=m.group(), folded=fold(m.group()), start=m.start(), end=m.end()) for m in _WORD.finditer(composed)
    )


def folded_words(text: str) -> tuple[str, ...]:
    return tuple(word.folded for word in split_words(text))


def is_entity(word: Word) -> bool:
    """Whether a word looks like a value or a name: it carries a digit, starts with a capital, or is a short code."""
    return any(c.isdigit() for c in word.text) or word.text[:1].isupper()
