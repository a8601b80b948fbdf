"""Search over endpoints that are held in this process, for one case at a time: nothing of Redis, no queues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from schemas.endpoints import Endpoint
from schemas.registry import Searchable
from schemas.routing import Candidate
from workers.retrieval.calibration import Vector
from workers.retrieval.corpus import Corpus
from workers.retrieval.embedder import Embedder
from workers.retrieval.index import Query
from workers.retrieval.qdrant_edge import EdgeIndex
from workers.retrieval.ranking import Ranked, Thresholds, confidences, fuse
from workers.retrieval.recipe import vectorize
from workers.runtime.settings import RoutingSettings

_PAGE = 64
_LONGEST_QUESTION = 600


class Shelf:
    """Every endpoint of a registry, embedded once. Close it after use; the embedder stays the caller's."""

    def __init__(self, embedder: Embedder, routing: RoutingSettings) -> None:
        self.embedder = embedder
        self.index = EdgeIndex(embedder.card)
        self.endpoints: dict[str, Endpoint] = {}
        self.thresholds = Thresholds(match=routing.min_cosine, clear=routing.high_cosine, lead=routing.gap)
        self._made: dict[str, Searchable] = {}
        self._questions: dict[str, Vector] = {}

    async def fill(self, endpoints: Mapping[str, Endpoint]) -> None:
        await self.index.open()
        self.endpoints = dict(endpoints)
        wanted = list(endpoints.values())
        for at in range(0, len(wanted), _PAGE):
            made = await vectorize(wanted[at : at + _PAGE], self.embedder)
            await self.index.apply(made, ())
            self._made |= {one.endpoint.endpoint_id: one for one in made}

    def registered(self, ids: Iterable[str]) -> ShelfSearch:
        """Return a search that knows these endpoints alone, as if no others were registered."""
        corpus = Corpus(self.embedder.card)
        known = [self._made[one] for one in dict.fromkeys(ids) if one in self._made]
        for one in known:
            corpus.put(one)
        return ShelfSearch(self, corpus, frozenset(one.endpoint.endpoint_id for one in known))

    async def question(self, text: str) -> Vector:
        if text not in self._questions:
            (raw,) = await self.embedder.embed_queries([text[:_LONGEST_QUESTION]])
            self._questions[text] = self.embedder.card.centre_query(raw)
        return self._questions[text]

    async def close(self) -> None:
        await self.index.close()


class ShelfSearch:
    """Finds endpoints among some of a shelf's, scored as the product scores them."""

    def __init__(self, shelf: Shelf, corpus: Corpus, among: frozenset[str]) -> None:
        self._shelf = shelf
        self._corpus = corpus
        self._among = among

    async def search(self, text: str, *, tenant: str, limit: int) -> tuple[Candidate, ...]:
        ranked = await self._rank(text, tenant)
        banded = zip(ranked, confidences(ranked, self._shelf.thresholds), strict=True)
        matches = [(one, confidence) for one, confidence in banded if confidence is not None][:limit]
        return tuple(
            Candidate(
                endpoint=self._shelf.endpoints[one.endpoint_id],
                cosine=one.score,
                fused=one.fused,
                confidence=confidence,
            )
            for one, confidence in matches
        )

    async def nearest(self, text: str, *, tenant: str, limit: int) -> tuple[Candidate, ...]:
        return tuple(
            Candidate(
                endpoint=self._shelf.endpoints[one.endpoint_id], cosine=one.score, fused=one.fused, confidence="medium"
            )
            for one in (await self._rank(text, tenant))[:limit]
        )

    async def _rank(self, text: str, tenant: str) -> tuple[Ranked, ...]:
        if not text.strip() or not self._among:
            return ()
        dense = await self._shelf.question(text)
        query = Query(tenant=tenant, dense=dense, lexical=self._corpus.features.query_vector(text), among=self._among)
        common = self._corpus.common_likeness(dense, tenant)
        hits = self._corpus.weighed(await self._shelf.index.find(query), text)
        return fuse(hits, self._shelf.embedder.card, common=common)
