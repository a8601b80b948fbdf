"""Chance without chance: the same inputs always give the same believable numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """A stream of numbers derived from its seeds."""

    def __init__(self, *seeds: object) -> None:
        self._seed = "\0".join(str(seed) for seed in seeds)
        self._thrown = 0

    def share(self) -> float:
        """Give a number from 0 up to 1."""
        self._thrown += 1
        digest = hashlib.sha256(f"{self._seed}\0{self._thrown}".encode(errors="replace")).digest()
        return int.from_bytes(digest[:8], "big") / 2**64

    def between(self, low: int, high: int) -> int:
        """Give a whole number, both ends included."""
        return low + int(self.share() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        return items[self.between(0, len(items) - 1)]

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """Give so many different items, in their order."""
        left = list(range(len(items)))
        chosen = [left.pop(self.between(0, len(left) - 1)) for _ in range(min(count, len(items)))]
        return [items[index] for index in sorted(chosen)]
