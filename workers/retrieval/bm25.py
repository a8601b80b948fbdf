"""BM25 as the textbooks have it: the peer that search is measured against. Search itself does not use it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

_K1 = 1.2
_B = 0.75


class Bm25:
    """An inverted index of terms.

    Source: Robertson, Zaragoza, The Probabilistic Relevance Framework, 2009 (k1 = 1.2, b = 0.75).
    """

    def __init__(self) -> None:
        self._postings: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._lengths: dict[str, int] = {}

    def put(self, document: str, terms: Sequence[str]) -> None:
        """Add a document that is not there yet."""
        self._lengths[document] = len(terms)
        for term, count in Counter(terms).items():
            self._postings[term][document] = count

    def scores(self, terms: Sequence[str]) -> dict[str, float]:
        """Return the score of every document that has a term."""
        found: defaultdict[str, float] = defaultdict(float)
        mean = sum(self._lengths.values()) / max(len(self._lengths), 1)
        for term in terms:
            postings = self._postings.get(term, {})
            idf = math.log1p((len(self._lengths) - len(postings) + 0.5) / (len(postings) + 0.5))
            for document, count in postings.items():
                longer = 1 - _B + _B * self._lengths[document] / mean
                found[document] += idf * count * (_K1 + 1) / (count + _K1 * longer)
        return dict(found)
