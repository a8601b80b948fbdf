"""From what somebody said to the endpoints that may answer it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

import numpy as np
import structlog
from prometheus_client import Counter

from schemas.endpoints import Endpoint
from schemas.registry import Sparse
from schemas.routing import Candidate
from schemas.searching import Limits, Weighed
from workers.errors import WorkerError
from workers.registry.store import RegistryStore
from workers.retrieval.calibration import LETTERS, ModelCard, Vector, card_of
from workers.retrieval.corpus import Corpus
from workers.retrieval.embedder import Embedder
from workers.retrieval.follower import Follower
from workers.retrieval.index import Query, VectorIndex
from workers.retrieval.mirror import MirroredIndex
from workers.retrieval.ranking import Ranked, Thresholds, confidences, fuse, fuse_by_ranks
from workers.retrieval.sparse import sparse_vector
from workers.runtime.settings import RetrievalSettings, RoutingSettings

log = structlog.get_logger(__name__)

BY_WORDS_ALONE = Counter("signalbox_searches_by_words_alone", "Searches without vectors: the model was away")

_REMEMBERED = 512
LONGEST_QUESTION_CHARS = 600
"""A question stands in its first sentences; a page of text would keep the one embedding thread from everybody else."""


def open_index(settings: RetrievalSettings, card: ModelCard) -> VectorIndex:
    """Open a mirror of the engine that the settings name; the other one is not even imported."""
    if settings.engine == "server":
        from qdrant_client import AsyncQdrantClient

        from workers.retrieval.qdrant_server import ServerIndex

        key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None
        return MirroredIndex(ServerIndex(AsyncQdrantClient(url=settings.qdrant_url, api_key=key), card), card)
    from workers.retrieval.qdrant_edge import EdgeIndex

    return MirroredIndex(EdgeIndex(card, has_words=False), card)


class EndpointSearch:
    """Follows the registry and finds endpoints. Owns its index and closes the embedder it was given."""

    def __init__(
        self,
        *,
        registry: RegistryStore,
        embedder: Embedder,
        retrieval: RetrievalSettings,
        routing: RoutingSettings,
    ) -> None:
        self._registry = registry
        self._embedder = embedder
        self._card = embedder.card
        self._thresholds = Thresholds(match=routing.min_cosine, clear=routing.high_cosine, lead=routing.gap)
        self._by_ranks = retrieval.fusion == "reciprocal"
        self._index = open_index(retrieval, embedder.card)
        self._corpus = Corpus(embedder.card)
        self._follower = Follower(
            registry.log, self._index, embedder.card, corpus=self._corpus, poll_s=retrieval.poll_registry_s
        )
        self._remembered: OrderedDict[str, Vector] = OrderedDict()

    @property
    def model(self) -> str:
        """The tag of the model and recipe in use (health and decision records show it)."""
        return self._embedder.card.tag

    @property
    def is_following(self) -> bool:
        """Whether this process keeps up with the registry (a readiness check asks)."""
        return self._follower.is_following

    @property
    def limits(self) -> Limits:
        """The thresholds in use."""
        kept = self._thresholds
        return Limits(match=kept.match, clear=kept.clear, lead=kept.lead)

    async def start(self) -> None:
        """Open the index and catch up with the registry. Raises DimensionMismatch, StoreUnavailable."""
        await self._index.open()
        await self._registry.announce_model(self.model)
        measured = await self._registry.curve(self.model)
        if measured:
            self._card = replace(self._card, curve=measured)
        await self._follower.start()

    async def close(self) -> None:
        await self._follower.close()
        await self._index.close()
        await self._embedder.close()

    async def search(self, text: str, *, tenant: str = "default", limit: int = 5) -> tuple[Candidate, ...]:
        """Return the matches in fused order, each with its confidence; empty when nothing reaches the least score."""
        ranked = await self._rank(text, tenant=tenant)
        banded = [
            (one, confidence)
            for one, confidence in zip(ranked, confidences(ranked, self._thresholds), strict=True)
            if confidence is not None
        ][:limit]
        endpoints = await self._endpoints([one for one, _ in banded])
        return tuple(
            Candidate(endpoint=endpoints[one.endpoint_id], cosine=one.score, fused=one.fused, confidence=confidence)
            for one, confidence in banded
            if one.endpoint_id in endpoints
        )

    async def nearest(self, text: str, *, tenant: str = "default", limit: int = 5) -> tuple[Candidate, ...]:
        """Return the nearest endpoints however far they are, all "medium": to name a few things we can do."""
        ranked = (await self._rank(text, tenant=tenant))[:limit]
        endpoints = await self._endpoints(ranked)
        return tuple(
            Candidate(endpoint=endpoints[one.endpoint_id], cosine=one.score, fused=one.fused, confidence="medium")
            for one in ranked
            if one.endpoint_id in endpoints
        )

    async def weigh(self, text: str, *, tenant: str = "default", limit: int = 5) -> tuple[Weighed, ...]:
        """Return the nearest endpoints with all their scores, matches or not: to explain."""
        ranked = await self._rank(text, tenant=tenant)
        bands = confidences(ranked, self._thresholds)
        endpoints = await self._endpoints(ranked[:limit])
        return tuple(
            Weighed(
                endpoint_id=one.endpoint_id,
                name=endpoints[one.endpoint_id].name,
                dense=round(one.dense, 4),
                lexical=round(one.lexical, 4),
                lacking=one.lacking,
                fused=round(one.fused, 4),
                score=round(one.score, 4),
                band=band,
            )
            for one, band in zip(ranked[:limit], bands, strict=False)
            if one.endpoint_id in endpoints
        )

    async def _rank(self, text: str, *, tenant: str) -> tuple[Ranked, ...]:
        if not text.strip() or not len(self._corpus):
            return ()
        try:
            dense = await self._dense(text)
        except WorkerError as error:
            return await self._by_words_alone(text, tenant, error)
        query = Query(
            tenant=tenant,
            dense=dense,
            lexical=self._corpus.features.query_vector(text),
            sparse=sparse_vector(text) if self._by_ranks else Sparse(),
        )
        order = fuse_by_ranks if self._by_ranks else fuse
        common = self._corpus.common_likeness(dense, tenant)
        return order(self._corpus.weighed(await self._index.find(query), text), self._card, common=common)

    async def _by_words_alone(self, text: str, tenant: str, error: WorkerError) -> tuple[Ranked, ...]:
        """Search without the model that is away: worse, but whoever names the thing still gets it.

        What a share of common words means is what it means where words are all there is: the letters' card says it.
        """
        BY_WORDS_ALONE.inc()
        log.warning("searched_by_words_alone", error=type(error).__name__)
        nothing = np.zeros(self._card.dimension, dtype=np.float32)
        query = Query(tenant=tenant, dense=nothing, lexical=self._corpus.features.query_vector(text))
        return fuse(self._corpus.weighed(await self._index.find(query), text), card_of(LETTERS))

    async def _dense(self, text: str) -> Vector:
        """Embed the question, or remember it: a repeated or decomposed question costs nothing."""
        text = text[:LONGEST_QUESTION_CHARS]
        known = self._remembered.get(text)
        if known is not None:
            self._remembered.move_to_end(text)
            return known
        (raw,) = await self._embedder.embed_queries([text])
        vector = self._embedder.card.centre_query(raw)
        self._remembered[text] = vector
        if len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        return vector

    async def _endpoints(self, ranked: list[Ranked] | tuple[Ranked, ...]) -> dict[str, Endpoint]:
        found = await self._index.endpoints([one.endpoint_id for one in ranked])
        return {endpoint.endpoint_id: endpoint for endpoint in found}
