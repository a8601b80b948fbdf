"""Word lists of the message catalogue, compiled for lookup by sequences of folded words.

A pattern is words with two marks: `a|b` is either word, `word?` may be left out. Patterns are expanded once per
process into every sequence that they allow, so that matching is a dictionary lookup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from schemas.endpoints import LANGUAGES, Language
from workers.classification.words import fold
from workers.messages.catalog import phrases


@dataclass(frozen=True)
class Phrases:
    """Sequences of folded words, and the length of the longest."""

    sequences: frozenset[tuple[str, ...]]
    longest: int

    def match(self, words: Sequence[str], at: int) -> int:
        """Return where the longest phrase that starts at `at` ends; `at` itself when none does."""
        for end in range(min(at + self.longest, len(words)), at, -1):
            if tuple(words[at:end]) in self.sequences:
                return end
        return at

    def __contains__(self, word: object) -> bool:
        return (word,) in self.sequences


def expand(pattern: str) -> Iterable[tuple[str, ...]]:
    """Yield every sequence of folded words that a pattern allows."""
    slots: list[list[tuple[str, ...]]] = []
    for token in pattern.split():
        options: list[tuple[str, ...]] = [(fold(word),) for word in token.removesuffix("?").split("|")]
        slots.append([*options, ()] if token.endswith("?") else options)
    for chosen in product(*slots):
        sequence = tuple(word for part in chosen for word in part)
        if sequence:
            yield sequence


@cache
def vocabulary(*keys: str, language: Language | None = None) -> Phrases:
    """Compile the lists under the keys: of one language, or of all three, since people mix greetings freely."""
    spoken = (language,) if language else LANGUAGES
    patterns = (pattern for key in keys for each in spoken for pattern in phrases(key, each))
    sequences = frozenset(sequence for pattern in patterns for sequence in expand(pattern))
    return Phrases(sequences, max((len(s) for s in sequences), default=0))


@cache
def stems(key: str, language: Language) -> tuple[str, ...]:
    """Return the folded beginnings of words under the key."""
    return tuple(fold(stem) for stem in phrases(key, language))
