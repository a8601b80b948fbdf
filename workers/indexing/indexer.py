"""One endpoint, from registered to searchable."""

from __future__ import annotations

import structlog

from schemas.registry import IndexState, Registered, Searchable
from workers.errors import EndpointUnknown, PermanentError
from workers.indexing.enrich import enrich
from workers.registry.store import RegistryStore
from workers.retrieval.embedder import Embedder
from workers.retrieval.recipe import fingerprint, vectorize

log = structlog.get_logger(__name__)


class Indexer:
    """Delivering the same work twice changes nothing: vectors are made anew only when content or model changed."""

    def __init__(self, *, registry: RegistryStore, embedder: Embedder) -> None:
        self._registry = registry
        self._embedder = embedder

    async def index(self, endpoint_id: str) -> None:
        """Enrich, embed and publish the newest version of the endpoint, whole or not at all.

        What cannot be indexed is recorded as failed, with its reason, and the PermanentError goes on to the dead
        letters. Transient errors leave the state as it was: the task is tried again. An unknown endpoint raises
        EndpointUnknown (it was deleted meanwhile).
        """
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
        endpoint = enrich(registered.endpoint)
        stored = await self._registry.searchable(endpoint.endpoint_id)
        if stored is not None and stored.fingerprint == fingerprint(endpoint, self._embedder.card):
            same = stored.endpoint.version == endpoint.version
            return None if same else stored.model_copy(update={"endpoint": endpoint})
        (made,) = await vectorize([endpoint], self._embedder)
        return made
