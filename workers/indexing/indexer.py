"""One endpoint, from registered to searchable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from schemas.registry import IndexState, Registered, Searchable
from workers.errors import EndpointUnknown, Overloaded, PermanentError
from workers.indexing.enricher import Enricher
from workers.registry.store import RegistryStore
from workers.retrieval.embedder import Embedder
from workers.retrieval.recipe import fingerprint, vectorize

log = structlog.get_logger(__name__)

_AT_ONCE = 16
"""Endpoints under way in one process: the model embeds as many as wait together, and the next ones wait meanwhile."""


class Indexer:
    """Delivering the same work twice changes nothing: vectors are made anew only when content or model changed."""

    def __init__(
        self,
        *,
        registry: RegistryStore,
        embedder: Embedder,
        enricher: Enricher | None = None,
        longest_wait_s: float = 30.0,
    ) -> None:
        """`longest_wait_s` bounds how long an endpoint may wait for its place, and then for its vectors.

        Twice that belongs under a task's limit.
        """
        self._registry = registry
        self._embedder = embedder
        self._enricher = enricher or Enricher()
        self._longest_wait_s = longest_wait_s
        self._places = asyncio.Semaphore(_AT_ONCE)

    async def index(self, endpoint_id: str) -> None:
        """Enrich, embed and publish the newest version of the endpoint, whole or not at all.

        What cannot be indexed is recorded as failed, with its reason, and the PermanentError goes on to the dead
        letters. Transient errors leave the state as it was: the task is tried again. An unknown endpoint raises
        EndpointUnknown (it was deleted meanwhile). Overloaded means that hundreds were handed to this process at once
        and this one did not come to its turn, or that others' texts kept the model busy.
        """
        async with self._place():
            await self._index(endpoint_id)

    async def is_indexed(self, endpoint_id: str) -> bool:
        """Whether the newest version is searchable by this model, or the endpoint is gone: nothing is left to do."""
        registered = await self._registry.get(endpoint_id)
        return registered is None or registered.state is IndexState.INDEXED

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self._longest_wait_s):
                await self._places.acquire()
        except TimeoutError as error:
            raise Overloaded from error
        try:
            yield
        finally:
            self._places.release()

    async def _index(self, endpoint_id: str) -> None:
        registered = await self._registry.get(endpoint_id)
        if registered is None:
            raise EndpointUnknown(endpoint_id)
        version = registered.endpoint.version
        try:
            searchable = await self._searchable(registered)
        except PermanentError as error:
            await self._registry.set_state(endpoint_id, IndexState.FAILED, version=version, reason=str(error))
            raise
        if searchable is None:
            tag = self._embedder.card.tag
            await self._registry.set_state(endpoint_id, IndexState.INDEXED, version=version, model=tag)
        elif not await self._registry.publish(searchable):
            log.info("index_superseded", endpoint=endpoint_id, version=version)
            return
        log.info("endpoint_indexed", endpoint=endpoint_id, version=version, embedded=searchable is not None)

    async def _searchable(self, registered: Registered) -> Searchable | None:
        """Make what search needs; None when exactly that is stored already."""
        stored = await self._registry.searchable(registered.endpoint.endpoint_id)
        endpoint, enriched_by = await self._enricher.enrich(registered.endpoint, stored)
        if stored is not None and stored.fingerprint == fingerprint(endpoint, self._embedder.card):
            same = stored.endpoint.version == endpoint.version
            return None if same else stored.model_copy(update={"endpoint": endpoint})
        try:
            async with asyncio.timeout(self._longest_wait_s):
                (made,) = await vectorize([endpoint], self._embedder)
        except TimeoutError as error:
            raise Overloaded from error
        return made.model_copy(update={"enriched_by": enriched_by})
