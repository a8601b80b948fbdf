"""Keeps this process's index in step with the registry: a snapshot at start, then the log, for as long as it lives."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Sequence

import structlog

from schemas.registry import Searchable
from workers.errors import StoreUnavailable, WorkerError
from workers.registry.log import Position, RegistryLog
from workers.retrieval.calibration import ModelCard
from workers.retrieval.corpus import Corpus
from workers.retrieval.index import VectorIndex
from workers.runtime.memory import give_back

log = structlog.get_logger(__name__)

_RETRY_S = 1.0
_GIVEN_BACK_EVERY = 200
"""Endpoints after which freed memory goes back: a bulk leaves tens of megabytes behind in the C library's heaps."""

_NOT_HELD = (ArithmeticError, TypeError, ValueError)
"""What an engine raises for an endpoint that it can't store (a number of more than 64 bits). The door refuses these;
a record from before it did must not end the following."""


class Follower:
    """One background task. Vectors of another model are left out: they wait for re-indexing."""

    def __init__(
        self, registry: RegistryLog, index: VectorIndex, card: ModelCard, *, corpus: Corpus, poll_s: float
    ) -> None:
        self._registry = registry
        self._index = index
        self._card = card
        self._corpus = corpus
        self._poll_s = poll_s
        self._name = secrets.token_hex(8)
        self._position = Position()
        self._task: asyncio.Task[None] | None = None
        self._is_closing = False
        self._applied = 0
        self.version = 0
        """Grows with every change applied; caches of search results compare it."""

    async def start(self) -> None:
        """Catch up, then follow. Raises StoreUnavailable when Redis is away: a worker without endpoints is no use."""
        await self._load()
        await self._registry.report(self._name, self._position)
        self._task = asyncio.get_running_loop().create_task(self._follow(), name="follow-registry")

    @property
    def is_following(self) -> bool:
        """Whether the task lives; when it died of a bug, this process answers from an index that grows old."""
        return self._task is not None and not self._task.done()

    async def close(self) -> None:
        """Stop following and say so."""
        if self._task is not None:
            # The Redis client loses a cancellation that arrives together with a reply; the flag is not lost.
            self._is_closing = True
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
            with contextlib.suppress(StoreUnavailable):
                await self._registry.leave(self._name)

    async def _load(self) -> None:
        """Take the position first: what changes while the snapshot is read is applied again afterwards."""
        position = await self._registry.head()
        seen: list[str] = []
        async for page in self._registry.snapshot():
            await self._apply(page, ())
            seen += [one.endpoint.endpoint_id for one in page if one.model == self._card.tag]
        self._corpus.keep_only(seen)
        await self._index.keep_only(seen)
        self._position = position
        await asyncio.to_thread(give_back)
        self._applied = 0
        log.info("registry_loaded", endpoints=len(self._corpus), seq=position.seq)

    async def _follow(self) -> None:
        while not self._is_closing:
            try:
                await self._step()
            except WorkerError as error:
                log.warning("registry_not_followed", error=str(error))
                await asyncio.sleep(_RETRY_S)

    async def _step(self) -> None:
        """Apply what came within one poll, report, and start over where the log no longer reaches back to us."""
        found = await self._registry.read(self._position, block_s=self._poll_s)
        if found.is_broken:
            await self._load()
        elif found.changes:
            put = [one.searchable for one in found.changes if one.searchable is not None]
            gone = [one.endpoint_id for one in found.changes if one.searchable is None]
            await self._apply(put, gone)
            self._position = found.position
        head = await self._registry.report(self._name, self._position)
        if not self._position.epoch:
            # We began on an empty registry and read its log from the first entry on: its life is ours.
            self._position = Position(head.epoch, self._position.seq)
        if head.epoch != self._position.epoch or head.seq < self._position.seq:
            await self._load()

    async def _apply(self, put: Sequence[Searchable], gone: Sequence[str]) -> None:
        ours = [one for one in put if one.model == self._card.tag]
        others = [one.endpoint.endpoint_id for one in put if one.model != self._card.tag]
        if others:
            log.warning("endpoints_need_reindexing", count=len(others), model=self._card.tag)
        for one in await self._put(ours, [*gone, *others]):
            self._corpus.put(one)
        for endpoint_id in (*gone, *others):
            self._corpus.drop(endpoint_id)
        self.version += 1
        self._applied += len(put)
        if self._applied >= _GIVEN_BACK_EVERY:
            self._applied = 0
            await asyncio.to_thread(give_back)

    async def _put(self, ours: Sequence[Searchable], gone: Sequence[str]) -> Sequence[Searchable]:
        """Hand everything to the index and return what it took: one that it can't hold keeps no other one out."""
        try:
            await self._index.apply(ours, gone)
        except _NOT_HELD:
            log.exception("index_refused_a_batch", count=len(ours))
        else:
            return ours
        await self._index.apply((), gone)
        taken = []
        for one in ours:
            try:
                await self._index.apply((one,), ())
            except _NOT_HELD:
                log.exception("endpoint_not_searchable", endpoint=one.endpoint.endpoint_id)
            else:
                taken.append(one)
        return taken
