"""What this process knows of all endpoints together: feature counts, mean vectors, what each needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from schemas.registry import Searchable
from workers.retrieval.calibration import ModelCard, Vector
from workers.retrieval.index import Hit
from workers.retrieval.lexical import FeatureCounts
from workers.retrieval.recipe import unpack
from workers.retrieval.wanting import lacking, numbers_needed, numbers_said

_PRIOR_ENDPOINTS = 8
"""With n endpoints the mean counts for n / (n + 8): the mean of one or two is those endpoints themselves."""


class Corpus:
    """Grows and shrinks with the index."""

    def __init__(self, card: ModelCard) -> None:
        self._card = card
        # Halves of the numbers, 0.8 KB each: what is added is what is taken off again, and the mean of thousands is
        # none the worse (8 of 300 MB at 10,000 endpoints).
        self._vectors: dict[str, tuple[str, NDArray[np.float16]]] = {}
        self._sums: dict[str, NDArray[np.float64]] = {}
        self._sizes: dict[str, int] = {}
        self._needed: dict[str, int] = {}
        self.features = FeatureCounts()

    def __len__(self) -> int:
        return len(self.features)

    def put(self, one: Searchable) -> None:
        """Count an endpoint, instead of what was known of it before."""
        endpoint_id, tenant = one.endpoint.endpoint_id, one.endpoint.tenant
        self.drop(endpoint_id)
        self.features.put(endpoint_id, one.lexical)
        needed = numbers_needed(one.endpoint)
        if needed:
            self._needed[endpoint_id] = needed
        if self._card.is_centred:
            vector = unpack(one.dense).astype(np.float16)
            self._vectors[endpoint_id] = (tenant, vector)
            self._sums[tenant] = self._sums.get(tenant, np.zeros(len(vector))) + vector
            self._sizes[tenant] = self._sizes.get(tenant, 0) + 1

    def drop(self, endpoint_id: str) -> None:
        """Forget an endpoint; unknown ones are ignored."""
        self.features.drop(endpoint_id)
        self._needed.pop(endpoint_id, None)
        if endpoint_id in self._vectors:
            tenant, vector = self._vectors.pop(endpoint_id)
            self._sizes[tenant] -= 1
            self._sums[tenant] = self._sums[tenant] - vector if self._sizes[tenant] else np.zeros(len(vector))

    def keep_only(self, endpoint_ids: Iterable[str]) -> None:
        """Forget every endpoint that is not named."""
        for gone in self.features.known() - set(endpoint_ids):
            self.drop(gone)

    def weighed(self, hits: Sequence[Hit], text: str) -> list[Hit]:
        """Note on each hit how many numbers its endpoint needs that the question does not say."""
        said = numbers_said(text)
        short = ((hit, lacking(self._needed.get(hit.endpoint_id, 0), said)) for hit in hits)
        return [replace(hit, lacking=missing) if missing else hit for hit, missing in short]

    def common_likeness(self, query: Vector, tenant: str) -> float:
        """Return how alike the question is to the tenant's endpoints on the whole.

        What a question shares with all of them (its language, its tone, the trade they are in) speaks for none: it is
        taken off every cosine before scores are judged. The order does not change. 0 for models without centring.
        """
        size = self._sizes.get(tenant, 0)
        if not size:
            return 0.0
        return float(query @ self._sums[tenant]) / (size + _PRIOR_ENDPOINTS)
