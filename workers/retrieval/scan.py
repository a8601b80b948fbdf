"""Every endpoint of one tenant in a few arrays: a question is compared with all of them at once, exactly.

An approximate index pays from some hundred thousand points on; here one matrix product and some sums of postings take
less time than handing the question to an engine.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from schemas.registry import Searchable
from workers.retrieval.calibration import Vector
from workers.retrieval.index import Hit, Query
from workers.retrieval.postings import Part, added, of_vectors, renumbered
from workers.retrieval.recipe import unpack

_LEAST_ROOM = 64
_MOST_DEAD_SHARE = 0.25
Mask = NDArray[np.bool_]


def _unit(rows: Vector) -> Vector:
    """Bring rows (n, d) to length 1; zero rows stay zero."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    unit: Vector = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit


@dataclass(frozen=True, eq=False)
class Scan:
    """Immutable: a change gives a new one, which a reader meets whole or not at all.

    A changed endpoint gets a new row; its old one is dead until a quarter of all are. `matrix` (≥ n, d) holds unit
    vectors and has room for more rows, which the next Scan fills: one writer only. `is_shown` (n,) says which rows may
    be found: alive and public.
    """

    matrix: Vector
    ids: tuple[str, ...] = ()
    row_of: dict[str, int] = field(default_factory=dict)
    is_shown: Mask = field(default_factory=lambda: np.zeros(0, dtype=bool))
    parts: tuple[Part, ...] = ()

    @classmethod
    def empty(cls, dimension: int) -> Scan:
        return cls(np.empty((_LEAST_ROOM, dimension), dtype=np.float32))

    def changed(self, put: Sequence[Searchable], gone: Collection[str]) -> Scan:
        """Return a Scan with these endpoints (instead of what was known of them) and without those."""
        new = {one.endpoint.endpoint_id: one for one in put}
        row_of = {one: row for one, row in self.row_of.items() if one not in new and one not in gone}
        dead = [row for one, row in self.row_of.items() if one not in row_of]
        count = len(self.ids)
        shown_too = [one.endpoint.visibility == "public" for one in new.values()]
        is_shown = np.append(self.is_shown, np.array(shown_too, dtype=bool))
        is_shown[dead] = False
        parts = self.parts
        if new:
            parts = added(parts, of_vectors([one.lexical for one in new.values()], first=count))
        row_of |= {one: count + place for place, one in enumerate(new)}
        grown = Scan(self._with_rows(list(new.values())), (*self.ids, *new), row_of, is_shown, parts)
        return grown._compacted() if len(grown.ids) - len(row_of) > _LEAST_ROOM else grown

    def _with_rows(self, new: list[Searchable]) -> Vector:
        if not new:
            return self.matrix
        count, room = len(self.ids), len(self.matrix)
        matrix = self.matrix
        if count + len(new) > room:
            matrix = np.empty((max(count + len(new), room * 3 // 2), matrix.shape[1]), dtype=np.float32)
            matrix[:count] = self.matrix[:count]
        matrix[count : count + len(new)] = _unit(np.stack([unpack(one.dense) for one in new]))
        return matrix

    def _compacted(self) -> Scan:
        """Leave the dead rows behind, where they are many."""
        if len(self.ids) - len(self.row_of) <= _MOST_DEAD_SHARE * len(self.ids):
            return self
        alive = np.array(sorted(self.row_of.values()), dtype=np.int64)
        numbers = np.full(len(self.ids), -1, dtype=np.int32)
        numbers[alive] = np.arange(len(alive), dtype=np.int32)
        ids = tuple(self.ids[row] for row in alive)
        matrix = np.empty((len(alive) + _LEAST_ROOM, self.matrix.shape[1]), dtype=np.float32)
        matrix[: len(alive)] = self.matrix[alive]
        row_of = {one: row for row, one in enumerate(ids)}
        return Scan(matrix, ids, row_of, self.is_shown[alive], renumbered(self.parts, numbers))

    def find(self, query: Query, ranks: dict[str, int] | None = None) -> list[Hit]:
        """Return the union of what both sides find, and of the endpoints in `ranks`, with the scores of both.

        `ranks` are the places that another side gave.
        """
        shown = self.is_shown if not query.among else self.is_shown & self._mask(query.among)
        count = len(self.ids)
        dense = self.matrix[:count] @ _unit(query.dense)
        lexical = np.zeros(count)
        for part in self.parts if query.lexical.indices else ():
            part.add_scores(query.lexical, lexical)
        rows = {*_highest(dense, shown, query.limit), *_highest(lexical, shown & (lexical > 0), query.limit)}
        ranks = ranks or {}
        rows |= {row for one in ranks if (row := self.row_of.get(one)) is not None and shown[row]}
        chosen = list(rows)
        scores = zip(chosen, dense[chosen].tolist(), lexical[chosen].tolist(), strict=True)
        return [
            Hit(endpoint_id=self.ids[row], dense=d, lexical=x, sparse_rank=ranks.get(self.ids[row]))
            for row, d, x in scores
        ]

    def _mask(self, among: Collection[str]) -> Mask:
        mask = np.zeros(len(self.ids), dtype=bool)
        mask[[self.row_of[one] for one in among if one in self.row_of]] = True
        return mask


def _highest(scores: NDArray[np.floating], allowed: Mask, limit: int) -> list[int]:
    """Return the rows of the highest scores among those allowed, at most `limit`, in no order."""
    rows = np.flatnonzero(allowed)
    if len(rows) > limit:
        rows = rows[np.argpartition(scores[rows], len(rows) - limit)[-limit:]]
    found: list[int] = rows.tolist()
    return found
