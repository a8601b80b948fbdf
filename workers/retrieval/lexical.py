"""How much of what a question says do an endpoint's texts say too? The lexical side of search.

A text's features are its content words (lightly stemmed) and the 3- to 5-letter pieces of each (they carry Estonian
and Russian endings, compounds and typing errors). The score of an endpoint is the share of the question's IDF mass
that it covers, 0…1: where words cannot match at all (another language) every share is near zero and the dense side
decides alone; where they match, the rare words speak. A word that some endpoint has is heard as a word; one that none
has is left to its pieces. No weight per data set is needed.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from schemas.endpoints import LANGUAGES
from schemas.registry import Sparse
from workers.messages.catalog import phrases

FEATURE_SPACE = 1 << 20
"""Features are hashed into so many places; at 10,000 endpoints about one in five is shared, which IDF outlives."""

WORD_SHARE = 0.7
"""Part that a word itself decides where some endpoint has it; its pieces decide the rest, and all of it where none has.

Pieces of a word that is there anyway are noise. With one share for all words, what lifted Estonian questions (0.2) cost
English ones (0.6), and the other way round. Measured on eleven public sets: 0.6 to 0.7 differ little.
"""

_LONE_WORD = 1.0
"""One matching word is weaker evidence than five: a question of n words covers at most n / (n + 1)."""

_K1, _B = 0.5, 0.75
_TYPICAL_WORDS = 25
"""An endpoint with a description, four parameters and no examples. Measured on ten public sets: 0.3 to 1.0 for k1 and
0.4 to 0.75 for b differ little; all beat taking the loudest weight alone (.820 → .833 right first)."""

_WORDS_REMEMBERED = 4_096
"""The same few thousand words come again and again; working out one's pieces takes 20 µs."""

_WORD = re.compile(r"[^\W_]+")
_STEM_MIN = 3
_ENGLISH = re.compile(r"[a-z]{5,}")


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(word for language in LANGUAGES for word in phrases("retrieval.stop_words", language))


def content_words(text: str) -> tuple[str, ...]:
    """Return the distinct words that carry a subject: no stop words, single letters, or anything with a digit."""
    words = dict.fromkeys(_WORD.findall(text.lower()))
    return tuple(w for w in words if len(w) > 1 and w not in _stop_words() and not any(c.isdigit() for c in w))


def stem(word: str) -> str:
    """Take the commonest endings off an English-looking word; other words stay whole."""
    if not _ENGLISH.fullmatch(word):
        return word
    for ending, instead in (("ies", "y"), ("ing", ""), ("es", ""), ("ed", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_MIN:
            return word.removesuffix(ending) + instead
    return word


def pieces(word: str) -> frozenset[str]:
    """Return the 3- to 5-letter pieces of a word, its two ends marked."""
    marked = f"_{word}_"
    found = {marked[at : at + n] for n in (3, 4, 5) if n < len(marked) for at in range(len(marked) - n + 1)}
    return frozenset(found or {marked})


def _place(kind: str, feature: str) -> int:
    return zlib.crc32(f"{kind}{feature}".encode()) % FEATURE_SPACE


def _word_places(words: Iterable[str]) -> list[int]:
    return [_place("w", stem(word)) for word in words]


def _piece_places(words: Iterable[str]) -> list[int]:
    return [place for word in words for place in _places_of_pieces(word)]


@lru_cache(_WORDS_REMEMBERED)
def _places_of_pieces(word: str) -> tuple[int, ...]:
    return tuple(_place("g", piece) for piece in sorted(pieces(word)))


def document_vector(parts: Iterable[tuple[str, float]]) -> Sparse:
    """Weigh the features of an endpoint's texts, each 0…1: loud texts and several texts say more, long ones less.

    A word's mass m is the sum of the weights of the texts it occurs in; its value is m / (m + k), where
    k = k1 · (1 - b + b · length / typical length): BM25F without its constant factor, and with a fixed typical length,
    so that a stored vector does not hang on its neighbours. Source: Robertson, Zaragoza, Taylor, Simple BM25 Extension
    to Multiple Weighted Fields, CIKM 2004. A letter piece gets the highest weight of the texts it occurs in: made
    shorter for short texts, pieces drew Estonian questions to whatever was described in few words (.706 → .688).
    """
    words: defaultdict[int, float] = defaultdict(float)
    letters: dict[int, float] = {}
    for text, weight in parts:
        said = content_words(text)
        for place in set(_word_places(said)):
            words[place] += weight
        for place in set(_piece_places(said)):
            letters[place] = max(letters.get(place, 0.0), weight)
    values = letters | _saturated(words)
    ordered = sorted(values.items())
    return Sparse(indices=tuple(i for i, _ in ordered), values=tuple(w for _, w in ordered))


def _saturated(masses: Mapping[int, float]) -> dict[int, float]:
    longer = 1 - _B + _B * sum(masses.values()) / _TYPICAL_WORDS
    return {place: round(mass / (mass + _K1 * longer), 4) for place, mass in masses.items() if mass > 0}


class FeatureCounts:
    """In how many endpoints each feature occurs: what IDF needs. Grows and shrinks with the index."""

    def __init__(self) -> None:
        self._counts = np.zeros(FEATURE_SPACE, dtype=np.int32)
        self._places: dict[str, NDArray[np.int32]] = {}

    def __len__(self) -> int:
        return len(self._places)

    def put(self, endpoint_id: str, vector: Sparse) -> None:
        """Count an endpoint's features, instead of those it had before."""
        self.drop(endpoint_id)
        places = np.array(vector.indices, dtype=np.int32)
        self._counts[places] += 1
        self._places[endpoint_id] = places

    def drop(self, endpoint_id: str) -> None:
        """Forget an endpoint; unknown ones are ignored."""
        places = self._places.pop(endpoint_id, None)
        if places is not None:
            self._counts[places] -= 1

    def known(self) -> set[str]:
        """Return the ids of the endpoints counted."""
        return set(self._places)

    def idf(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return ln(1 + (N - n + 0.5) / (n + 0.5)) for each place.

        Source: Robertson, Zaragoza, The Probabilistic Relevance Framework, 2009, with the 1 that keeps it positive.
        """
        n = self._counts[places]
        return np.log1p((len(self) - n + 0.5) / (n + 0.5))

    def query_vector(self, text: str) -> Sparse:
        """Weigh a question's features so that an endpoint's dot product is the share of the question it covers.

        Features that no endpoint has count in the whole, but are left out of the vector: they cost the engine time.
        """
        words = content_words(text)
        if not words:
            return Sparse()
        trust = len(words) / (len(words) + _LONE_WORD)
        pieces_of = [_places_of_pieces(word) for word in words]
        whole = np.array(_word_places(words), dtype=np.int64)
        is_known = self._counts[whole] > 0
        left = np.repeat(np.where(is_known, 1 - WORD_SHARE, 1.0), [len(places) for places in pieces_of])
        places = np.concatenate([whole, np.array([p for of_one in pieces_of for p in of_one], dtype=np.int64)])
        masses = self.idf(places)
        count = len(words)
        shares = np.concatenate(
            [WORD_SHARE * masses[:count] / masses[:count].sum(), left * masses[count:] / masses[count:].sum()]
        )
        weights: dict[int, float] = {}
        has = self._counts[places] > 0
        for place, share in zip(places[has].tolist(), (trust * shares)[has].tolist(), strict=True):
            weights[place] = weights.get(place, 0.0) + share
        ordered = sorted(weights.items())
        return Sparse(indices=tuple(i for i, _ in ordered), values=tuple(w for _, w in ordered))
