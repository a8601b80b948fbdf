"""Which rows have a feature, and how much of it: what makes the lexical side of a scan quick. Only numpy; immutable.

Most features are rare: their rows stand in lists. A few are everywhere (the letters "_get", "ing_"), and the lists of
those were nine tenths of the work: theirs are columns, which one matrix product multiplies all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from schemas.registry import Sparse
from workers.retrieval.lexical import FEATURE_SPACE

_FREQUENT_SHARE = 0.15
"""A feature in more rows than this is frequent: a column costs 0.5 ns a row, a list 3 ns for each of its rows."""

_LEAST_COLUMN = 256
"""Rows below which columns don't pay."""

_MERGE_WHEN_TIMES = 8
"""A part is merged with the next one when that is more than an eighth of it: few parts, and the largest rests."""

_WIDEST = 4_096
"""Rows of a part; merging more at once would take as much memory as the rest of a worker."""

_SPANS = [*np.linspace(0, FEATURE_SPACE, 9).astype(np.int64).tolist()[:-1], 1 << 32]
"""Parts are merged a span of features at a time, for the same reason."""

Features = NDArray[np.uint32]
Rows = NDArray[np.int32]
Values = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Entries:
    """A heap of entries in three columns (n,); rows count from the first row of the part they are of."""

    features: Features
    rows: Rows
    values: Values

    def where(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Entries:
        return Entries(self.features[chosen], self.rows[chosen], self.values[chosen])


@dataclass(frozen=True, eq=False)
class Part:
    """The features of `width` consecutive rows, `first` being the first.

    The list of features[i] is rows[starts[i] : starts[i + 1]], with values beside it; columns[j] (width,) holds the
    values of frequent[j]. Both feature arrays ascend.
    """

    first: int
    width: int
    features: Features
    starts: NDArray[np.int64]
    rows: Rows
    values: Values
    frequent: Features
    columns: Values

    def __len__(self) -> int:
        return self.width

    def add_scores(self, asked: Sparse, scores: NDArray[np.float64]) -> None:
        """Add each row's dot product with the question to `scores` (all rows of all parts)."""
        wanted, weights = np.array(asked.indices, dtype=np.uint32), np.array(asked.values)
        mine = scores[self.first : self.first + self.width]
        at, is_known = _places(self.frequent, wanted)
        if len(at):
            # The columns that are asked for, a fifth of all, are copied first: faster than a product with every one.
            mine += weights[is_known].astype(np.float32) @ self.columns[at]
        at, is_known = _places(self.features, wanted)
        if len(at):
            mine += self._listed(at, weights[is_known])

    def _listed(self, at: NDArray[np.intp], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        begins, ends = self.starts[at], self.starts[at + 1]
        # Copies of slices: gathering by index took twice as long.
        runs = [slice(begin, end) for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)]
        masses = np.concatenate([self.values[run] for run in runs], dtype=np.float64)
        masses *= np.repeat(weights, ends - begins)
        rows = np.concatenate([self.rows[run] for run in runs])
        return np.asarray(np.bincount(rows, masses, minlength=self.width), dtype=np.float64)

    def entries(self, low: int = 0, high: int = 1 << 32) -> Entries:
        """Return the entries of the features low … high - 1, in any order."""
        begin, end = np.searchsorted(self.features, [low, high]).tolist()
        listed = slice(int(self.starts[begin]), int(self.starts[end]))
        mine = slice(*np.searchsorted(self.frequent, [low, high]).tolist())
        column, row = np.nonzero(self.columns[mine])
        lengths = np.diff(self.starts[begin : end + 1])
        return Entries(
            np.concatenate([np.repeat(self.features[begin:end], lengths), self.frequent[mine][column]]),
            np.concatenate([self.rows[listed], row.astype(np.int32)]),
            np.concatenate([self.values[listed], self.columns[mine][column, row]]),
        )


def _places(known: Features, wanted: Features) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return where in `known` (ascending) the wanted stand that are there, and which those are."""
    if not len(known):
        return np.zeros(0, dtype=np.intp), np.zeros(len(wanted), dtype=bool)
    at = np.searchsorted(known, wanted)
    at[at == len(known)] = 0
    is_known = known[at] == wanted
    return at[is_known], is_known


def of_entries(entries: Entries, *, first: int, width: int) -> Part:
    """Make the part of rows first … first + width - 1."""
    order = np.argsort(entries.features, kind="stable")
    entries = entries.where(order)
    distinct, begins, counts = np.unique(entries.features, return_index=True, return_counts=True)
    is_frequent = (counts > _FREQUENT_SHARE * width) & (width >= _LEAST_COLUMN)
    columns = np.zeros((int(is_frequent.sum()), width), dtype=np.float32)
    for column, begin, count in zip(columns, begins[is_frequent], counts[is_frequent], strict=True):
        run = slice(begin, begin + count)
        column[entries.rows[run]] = entries.values[run]
    listed = entries.where(np.repeat(~is_frequent, counts))
    starts = np.concatenate([[0], np.cumsum(counts[~is_frequent])]).astype(np.int64)
    return Part(
        first=first,
        width=width,
        features=distinct[~is_frequent],
        starts=starts,
        rows=listed.rows,
        values=listed.values,
        frequent=distinct[is_frequent],
        columns=columns,
    )


def of_vectors(vectors: list[Sparse], *, first: int) -> Part:
    """Make the part of vectors in consecutive rows."""
    lengths = [len(one.indices) for one in vectors]
    entries = Entries(
        np.fromiter((i for one in vectors for i in one.indices), dtype=np.uint32, count=sum(lengths)),
        np.repeat(np.arange(len(vectors), dtype=np.int32), lengths),
        np.fromiter((v for one in vectors for v in one.values), dtype=np.float32, count=sum(lengths)),
    )
    return of_entries(entries, first=first, width=len(vectors))


def _join(parts: Sequence[Part]) -> Part:
    first, width = parts[0].first, sum(len(part) for part in parts)
    spans = []
    for low, high in pairwise(_SPANS):
        each = [(part.entries(low, high), part.first - first) for part in parts]
        entries = Entries(
            np.concatenate([one.features for one, _ in each]),
            np.concatenate([one.rows + np.int32(after) for one, after in each]),
            np.concatenate([one.values for one, _ in each]),
        )
        spans.append(of_entries(entries, first=first, width=width))
    return _stack(spans)


def _stack(spans: Sequence[Part]) -> Part:
    """Put parts of the same rows and ascending features together."""
    lists = np.cumsum([0, *(len(span.rows) for span in spans)])
    starts = [span.starts[:-1] + before for span, before in zip(spans, lists[:-1], strict=True)]
    return replace(
        spans[0],
        features=np.concatenate([span.features for span in spans]),
        starts=np.concatenate([*starts, lists[-1:]]),
        rows=np.concatenate([span.rows for span in spans]),
        values=np.concatenate([span.values for span in spans]),
        frequent=np.concatenate([span.frequent for span in spans]),
        columns=np.concatenate([span.columns for span in spans]),
    )


def added(parts: tuple[Part, ...], new: Part) -> tuple[Part, ...]:
    """Add a part that follows the last; neighbours of like size become one."""
    parts = (*parts, new)
    while len(parts) > 1 and _belong_together(*parts[-2:]):
        parts = (*parts[:-2], _join(parts[-2:]))
    return parts


def _belong_together(one: Part, other: Part) -> bool:
    return len(one) < _MERGE_WHEN_TIMES * len(other) and len(one) + len(other) <= _WIDEST


def renumbered(parts: tuple[Part, ...], row_of: Rows) -> tuple[Part, ...]:
    """Give every row its new number, in the old order, and leave out those whose number is negative."""
    kept: tuple[Part, ...] = ()
    first = 0
    for part in parts:
        numbers = row_of[part.first : part.first + part.width]
        width = int((numbers >= 0).sum())
        if not width:
            continue
        old = part.entries()
        moved = Entries(old.features, numbers[old.rows] - np.int32(first), old.values)
        kept = added(kept, of_entries(moved.where(numbers[old.rows] >= 0), first=first, width=width))
        first += width
    return kept
