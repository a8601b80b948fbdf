"""Matches what was said against the catalogue's phrases, in all three languages at once (people mix them)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache

from schemas.endpoints import LANGUAGES
from workers.extraction.text import fold, words_of
from workers.messages.catalog import phrases

Phrases = dict[str, tuple[tuple[str, ...], ...]]


def plain_words(message: str) -> tuple[str, ...]:
    """Cut a message into folded words, apostrophes dropped ("don't" → "dont")."""
    return tuple(word.folded.replace("'", "") for word in words_of(fold(message)))


@cache
def phrases_of(key: str) -> Phrases:
    """Return first word → phrases that begin with it, the longest first."""
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for language in LANGUAGES:
        for phrase in phrases(f"hearing.{key}", language):
            words = plain_words(phrase)
            if words:
                found[words[0]].append(words)
    return {first: tuple(sorted(set(said), key=lambda words: (-len(words), words))) for first, said in found.items()}


@cache
def signs_of(key: str) -> frozenset[str]:
    """Return the phrases that hold no letter: 👍, +."""
    said = (phrase for language in LANGUAGES for phrase in phrases(f"hearing.{key}", language))
    return frozenset(phrase for phrase in said if not plain_words(phrase))


def starts_phrase(words: Sequence[str], place: int, key: str) -> int:
    """Return how many words a phrase of the key covers from there; 0 when none begins."""
    candidates = phrases_of(key).get(words[place], ()) if place < len(words) else ()
    return next((len(p) for p in candidates if tuple(words[place : place + len(p)]) == p), 0)


def cover(words: Sequence[str], keys: Sequence[str]) -> list[str] | None:
    """Cut the words into phrases of those keys, longest first, earlier keys winning; None when one fits nowhere.

    Returns the key of each phrase, in order.
    """
    found: list[str] = []
    place = 0
    while place < len(words):
        length, _, key = max((starts_phrase(words, place, key), -i, key) for i, key in enumerate(keys))
        if not length:
            return None
        found.append(key)
        place += length
    return found


def holds(words: Sequence[str], key: str) -> bool:
    """Whether a phrase of the key stands anywhere in the words."""
    return any(starts_phrase(words, place, key) for place in range(len(words)))
