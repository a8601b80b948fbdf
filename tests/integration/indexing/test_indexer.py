"""The indexer on a real Redis: what ends up searchable, and what is recorded when it can't."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
import redis.asyncio as aioredis

from schemas.endpoints import Endpoint
from schemas.registry import IndexState, Registered
from workers.errors import EndpointUnknown, Overloaded
from workers.indexing.indexer import Indexer
from workers.registry.store import RegistryStore
from workers.retrieval.calibration import LETTERS, Vector
from workers.retrieval.embedder import EmbedderAway, EmbedderRefused, LetterEmbedder
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys


class BrokenEmbedder(LetterEmbedder):
    """Letters, until it is told to fail."""

    error: Exception | None = None

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if self.error is not None:
            raise self.error
        return await super().embed_passages(texts)


@pytest.fixture
def registry(clean_redis: aioredis.Redis) -> RegistryStore:
    return RegistryStore(clean_redis, Keys())


@pytest.fixture
def embedder() -> BrokenEmbedder:
    return BrokenEmbedder()


@pytest.fixture
def indexer(registry: RegistryStore, embedder: BrokenEmbedder) -> Indexer:
    return Indexer(registry=registry, embedder=embedder)


async def register(registry: RegistryStore, description: str) -> None:
    endpoint = Endpoint(endpoint_id="a", name="get_weather", description=description, url="https://x.ee/")
    await registry.put(Registered(endpoint=endpoint, updated_at=utc_now()))


async def state(registry: RegistryStore) -> tuple[IndexState, str]:
    found = await registry.get("a")
    assert found is not None
    return found.state, found.reason


async def test_an_indexed_endpoint_is_enriched_and_names_its_model(registry: RegistryStore, indexer: Indexer) -> None:
    await register(registry, "Weather forecast.")

    await indexer.index("a")

    made = await registry.searchable("a")
    assert made is not None
    assert "temperature" in made.endpoint.enriched_context
    assert made.model.startswith(LETTERS)
    assert await state(registry) == (IndexState.INDEXED, "")


async def test_what_is_refused_is_recorded_with_its_reason(
    registry: RegistryStore, indexer: Indexer, embedder: BrokenEmbedder
) -> None:
    await register(registry, "Weather forecast.")
    embedder.error = EmbedderRefused("no such deployment")

    with pytest.raises(EmbedderRefused):
        await indexer.index("a")

    assert await state(registry) == (IndexState.FAILED, "no such deployment")


async def test_a_model_that_is_away_leaves_the_endpoint_pending(
    registry: RegistryStore, indexer: Indexer, embedder: BrokenEmbedder
) -> None:
    await register(registry, "Weather forecast.")
    embedder.error = EmbedderAway("busy")

    with pytest.raises(EmbedderAway):
        await indexer.index("a")
    assert await state(registry) == (IndexState.PENDING, "")

    embedder.error = None
    await indexer.index("a")
    assert await state(registry) == (IndexState.INDEXED, "")


async def test_a_failed_new_version_leaves_the_old_one_searchable(
    registry: RegistryStore, indexer: Indexer, embedder: BrokenEmbedder
) -> None:
    await register(registry, "Weather forecast.")
    await indexer.index("a")
    await register(registry, "Something else.")
    embedder.error = EmbedderRefused("no")

    with pytest.raises(EmbedderRefused):
        await indexer.index("a")

    made = await registry.searchable("a")
    assert made is not None
    assert made.endpoint.description == "Weather forecast."


async def test_the_same_work_given_to_several_at_once_is_published_once(
    registry: RegistryStore, embedder: BrokenEmbedder
) -> None:
    await register(registry, "Weather forecast.")
    workers = [Indexer(registry=registry, embedder=embedder) for _ in range(4)]

    await asyncio.gather(*(worker.index("a") for worker in workers))

    assert (await registry.log.head()).seq == 1
    assert await state(registry) == (IndexState.INDEXED, "")


async def test_an_endpoint_deleted_meanwhile_is_unknown(indexer: Indexer) -> None:
    with pytest.raises(EndpointUnknown):
        await indexer.index("a")


async def test_a_description_changed_back_needs_no_new_vectors(
    registry: RegistryStore, indexer: Indexer, embedder: BrokenEmbedder
) -> None:
    await register(registry, "Weather forecast.")
    await indexer.index("a")
    await register(registry, "Something else.")
    await register(registry, "Weather forecast.")
    embedder.error = EmbedderRefused("must not be asked")

    await indexer.index("a")

    made = await registry.searchable("a")
    assert made is not None
    assert made.endpoint.version == 3


async def test_whether_nothing_is_left_to_do_is_known(registry: RegistryStore, indexer: Indexer) -> None:
    assert await indexer.is_indexed("a")  # nobody registered it, or it was deleted

    await register(registry, "Weather forecast.")
    assert not await indexer.is_indexed("a")

    await indexer.index("a")
    assert await indexer.is_indexed("a")

    await register(registry, "Something else.")
    assert not await indexer.is_indexed("a")

    await indexer.index("a")
    await registry.announce_model("another")
    assert not await indexer.is_indexed("a")


async def test_an_endpoint_whose_texts_only_wait_for_the_model_goes_back(registry: RegistryStore) -> None:
    class BusyEmbedder(LetterEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
            await asyncio.sleep(30)
            return await super().embed_passages(texts)

    await register(registry, "Weather forecast.")

    with pytest.raises(Overloaded):
        await Indexer(registry=registry, embedder=BusyEmbedder(), longest_wait_s=0.05).index("a")

    assert await state(registry) == (IndexState.PENDING, "")
