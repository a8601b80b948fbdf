"""The hashed term-frequency vector stored beside each endpoint; the engine multiplies it by IDF."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

from schemas.registry import Sparse

VOCABULARY = 50_000
_WORD = re.compile(r"\w+")


def tokens(text: str) -> list[str]:
    """Split lower-cased text into its Unicode words."""
    return _WORD.findall(text.lower())


def term_index(token: str) -> int:
    """Hash a token into the vocabulary: the first four bytes of its MD5, big-endian, modulo 50,000.

    MD5 and not hash(): every process must agree, and Python's is salted.
    """
    return int.from_bytes(hashlib.md5(token.encode(), usedforsecurity=False).digest()[:4], "big") % VOCABULARY


def sparse_vector(text: str) -> Sparse:
    """Count the tokens of a text; tokens that collide add up. An empty text gives an empty vector."""
    counts = Counter(term_index(token) for token in tokens(text))
    ordered = sorted(counts.items())
    return Sparse(indices=tuple(i for i, _ in ordered), values=tuple(float(n) for _, n in ordered))
