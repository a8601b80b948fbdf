"""Finds endpoints that search can hardly tell apart, and says what would help. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from schemas.base import Frozen
from schemas.endpoints import Endpoint
from schemas.registry import Searchable
from workers.retrieval.recipe import unpack

_BLOCK = 512

Advice = Literal["same_address", "same_words", "name_the_parameter", "give_examples", "say_the_difference"]


class Alike(Frozen):
    """Two endpoints and the cosine of their vectors. `only` are parameters that just one of the two takes."""

    first: Endpoint
    second: Endpoint
    cosine: float
    advice: Advice
    only: tuple[str, ...] = ()


def alike(searchable: Sequence[Searchable], *, at_least: float, limit: int = 100) -> tuple[Alike, ...]:
    """Return the pairs of one tenant and one model whose vectors are at least so alike, most alike first.

    What all endpoints have in common (a trade, a language) makes none of them alike: their mean is taken off first.
    """
    pairs = sorted(_pairs(searchable, at_least), key=lambda pair: (-pair[2], pair[0], pair[1]))[:limit]
    return tuple(_described(searchable[i].endpoint, searchable[j].endpoint, cosine) for i, j, cosine in pairs)


def _pairs(searchable: Sequence[Searchable], at_least: float) -> Iterator[tuple[int, int, float]]:
    """Yield (i, j, cosine) with i < j. Rows are compared in blocks: 10,000 endpoints need 20 MB at a time."""
    groups: dict[tuple[str, str], list[int]] = {}
    for place, one in enumerate(searchable):
        groups.setdefault((one.endpoint.tenant, one.model), []).append(place)
    for places in groups.values():
        vectors = np.stack([unpack(searchable[place].dense) for place in places])
        if len(places) > _FEWEST_FOR_A_MEAN:
            vectors = vectors - vectors.mean(axis=0)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
        for start in range(0, len(places), _BLOCK):
            cosines = vectors[start : start + _BLOCK] @ vectors.T
            for row, column in np.argwhere(cosines >= at_least):
                if start + row < column:
                    yield places[start + row], places[column], round(float(cosines[row, column]), 4)


_FEWEST_FOR_A_MEAN = 8
"""The mean of fewer endpoints is those endpoints themselves."""


def _described(first: Endpoint, second: Endpoint, cosine: float) -> Alike:
    names = {param.name for param in first.params}, {param.name for param in second.params}
    only = tuple(sorted(names[0] ^ names[1]))
    return Alike(first=first, second=second, cosine=cosine, advice=_advice(first, second, only), only=only)


def _advice(first: Endpoint, second: Endpoint, only: tuple[str, ...]) -> Advice:
    """Choose what helps most, the surest first."""
    if (first.method, first.url) == (second.method, second.url):
        return "same_address"
    if first.description.strip().lower() == second.description.strip().lower():
        return "same_words"
    if only:
        return "name_the_parameter"
    return "say_the_difference" if first.examples and second.examples else "give_examples"
