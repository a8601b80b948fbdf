"""What every vector engine must do: one suite for the engine in process and for the server.

The server is a real one where QDRANT_TEST_URL names it; elsewhere, CI included, its in-memory twin stands in: once
behind the client itself and once over HTTP. Nothing is skipped silently.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient, models

from schemas.endpoints import Endpoint
from schemas.registry import Searchable, Sparse
from tests.integration.retrieval.endpoints import endpoint
from tests.integration.retrieval.qdrant_twin import running_twin
from workers.errors import StoreUnavailable
from workers.retrieval.calibration import LETTERS, Vector, card_of
from workers.retrieval.embed_text import embed_text
from workers.retrieval.index import DENSE, DimensionMismatch, Hit, Query, VectorIndex, collection_name, payload_of
from workers.retrieval.mirror import MirroredIndex
from workers.retrieval.qdrant_edge import EdgeIndex
from workers.retrieval.qdrant_server import ServerIndex
from workers.retrieval.recipe import pack

CARD = dataclasses.replace(card_of(LETTERS), dimension=4)


REAL_SERVER = os.environ.get("QDRANT_TEST_URL", "")  # noqa: TID251 - a test's own switch, no setting


async def open_server(client: AsyncQdrantClient | None = None) -> ServerIndex:
    with warnings.catch_warnings():
        # The in-memory twin says that it has no payload indexes; a server has.
        warnings.simplefilter("ignore", UserWarning)
        index = ServerIndex(client or AsyncQdrantClient(":memory:"), CARD)
        await index.open()
    return index


@pytest.fixture(params=["edge", "server", "server over HTTP", "mirrored edge", "mirrored server"])
async def index(request: pytest.FixtureRequest) -> AsyncIterator[VectorIndex]:
    opened: VectorIndex
    if request.param == "edge":
        opened = EdgeIndex(CARD)
        await opened.open()
        yield opened
        await opened.close()
    elif request.param == "mirrored edge":
        opened = MirroredIndex(EdgeIndex(CARD, has_words=False), CARD)
        await opened.open()
        yield opened
        await opened.close()
    elif request.param == "mirrored server":
        opened = MirroredIndex(await open_server(), CARD)
        yield opened
        await opened.close()
    elif request.param == "server":
        opened = await open_server()
        yield opened
        await opened.close()
    else:
        with served() as url:
            client = AsyncQdrantClient(url=url, check_compatibility=False)
            await client.delete_collection(collection_name(CARD))
            opened = await open_server(client)
            yield opened
            await opened.close()


@contextmanager
def served() -> Iterator[str]:
    """The real server, or the twin on loopback."""
    if REAL_SERVER:
        yield REAL_SERVER
    else:
        with running_twin() as url:
            yield url


def searchable(one: Endpoint, dense: list[float], *, words: dict[int, float] | None = None) -> Searchable:
    lexical = Sparse(indices=tuple(words or {}), values=tuple((words or {}).values()))
    packed = pack(np.array(dense, dtype=np.float32))
    return Searchable(
        endpoint=one, model=CARD.tag, fingerprint=one.description, dense=packed, sparse=lexical, lexical=lexical
    )


def query(dense: list[float], *, words: dict[int, float] | None = None, **changes: object) -> Query:
    vector: Vector = np.array(dense, dtype=np.float32)
    lexical = Sparse(indices=tuple(words or {}), values=tuple((words or {}).values()))
    asked = Query(tenant="default", dense=vector, lexical=lexical, sparse=lexical)
    return dataclasses.replace(asked, **changes)  # type: ignore[arg-type]


def by_id(hits: list[Hit]) -> dict[str, Hit]:
    return {hit.endpoint_id.removeprefix("default."): hit for hit in hits}


A = [1.0, 0.0, 0.0, 0.0]
B = [0.0, 1.0, 0.0, 0.0]


async def test_scores_are_cosines_and_covered_shares(index: VectorIndex) -> None:
    await index.apply([searchable(endpoint("a"), A, words={7: 1.0}), searchable(endpoint("b"), B, words={9: 0.5})], ())

    hits = by_id(await index.find(query([0.8, 0.6, 0.0, 0.0], words={9: 0.4})))

    assert hits["a"].dense == pytest.approx(0.8, abs=1e-5)
    assert hits["b"].dense == pytest.approx(0.6, abs=1e-5)
    assert hits["b"].lexical == pytest.approx(0.2, abs=1e-5)
    assert hits["a"].lexical == 0.0
    assert (hits["a"].sparse_rank, hits["b"].sparse_rank) == (None, 1)


async def test_what_one_side_finds_gets_the_other_sides_score_too(index: VectorIndex) -> None:
    near = [searchable(endpoint(f"near{n}"), [1.0, 0.1 * n, 0.0, 0.0]) for n in range(3)]
    await index.apply([*near, searchable(endpoint("far"), [0.6, 0.0, 0.8, 0.0], words={7: 1.0})], ())

    hits = by_id(await index.find(query(A, words={7: 1.0}, limit=2)))

    assert set(hits) == {"near0", "near1", "far"}
    assert hits["far"].dense == pytest.approx(0.6, abs=1e-5)


async def test_other_tenants_and_private_endpoints_are_never_found(index: VectorIndex) -> None:
    await index.apply(
        [
            searchable(endpoint("mine"), A),
            searchable(endpoint("hidden", visibility="private"), A),
            searchable(endpoint("theirs", tenant="other"), A),
        ],
        (),
    )

    assert set(by_id(await index.find(query(A)))) == {"mine"}
    assert [hit.endpoint_id for hit in await index.find(query(A, tenant="other"))] == ["other.theirs"]


async def test_among_bounds_what_may_be_found(index: VectorIndex) -> None:
    await index.apply([searchable(endpoint("a"), A), searchable(endpoint("b"), B)], ())

    assert set(by_id(await index.find(query(A, among=frozenset({"default.b"}))))) == {"b"}


async def test_a_point_is_replaced_whole_and_found_at_once(index: VectorIndex) -> None:
    await index.apply([searchable(endpoint("a", text="old"), A, words={7: 1.0})], ())
    await index.apply([searchable(endpoint("a", text="new"), B)], ())

    hits = by_id(await index.find(query(B, words={7: 1.0})))

    assert await index.count() == 1
    assert hits["a"].dense == pytest.approx(1.0, abs=1e-5)
    assert hits["a"].lexical == 0.0
    assert [one.description for one in await index.endpoints(["default.a"])] == ["new"]


async def test_applying_the_same_twice_changes_nothing(index: VectorIndex) -> None:
    for _ in range(2):
        await index.apply([searchable(endpoint("a"), A)], ["default.unknown"])

    assert await index.count() == 1


async def test_the_whole_endpoint_comes_back_in_the_order_asked(index: VectorIndex) -> None:
    both = [endpoint("get_weather_forecast"), endpoint("search_address")]
    await index.apply([searchable(one, A) for one in both], ())

    found = await index.endpoints(["default.search_address", "default.nobody", "default.get_weather_forecast"])

    assert found == both[::-1]


async def test_gone_points_are_gone_and_keep_only_keeps_only_those(index: VectorIndex) -> None:
    await index.apply([searchable(endpoint(name), A) for name in ("a", "b", "c")], ())

    await index.apply((), ["default.a"])
    await index.keep_only(["default.c"])

    assert set(by_id(await index.find(query(A)))) == {"c"}


async def test_vectors_of_another_size_are_refused_and_nothing_is_lost(index: VectorIndex) -> None:
    await index.apply([searchable(endpoint("a"), A)], ())

    with pytest.raises(DimensionMismatch):
        await index.apply([searchable(endpoint("b"), [1.0, 0.0])], ())

    assert await index.count() == 1


async def test_an_empty_index_finds_nothing(index: VectorIndex) -> None:
    assert await index.find(query(A, words={7: 1.0})) == []
    assert await index.endpoints([]) == []


async def test_a_servers_collection_of_another_size_is_refused_and_kept() -> None:
    client = AsyncQdrantClient(":memory:")
    other = {DENSE: models.VectorParams(size=8, distance=models.Distance.COSINE)}
    await client.create_collection(collection_name(CARD), vectors_config=other)
    index = ServerIndex(client, CARD)

    with pytest.raises(DimensionMismatch) as refused:
        await index.open()

    assert (refused.value.expected, refused.value.found) == (4, 8)
    assert await client.collection_exists(collection_name(CARD))
    await index.close()


async def test_workers_that_start_at_once_share_the_collection_that_one_of_them_makes() -> None:
    with served() as url:
        starting = [ServerIndex(AsyncQdrantClient(url=url, check_compatibility=False), CARD) for _ in range(8)]

        await asyncio.gather(*(index.open() for index in starting))

        await starting[0].apply([searchable(endpoint("a"), A)], ())
        assert [await index.count() for index in starting] == [1] * 8
        await asyncio.gather(*(index.close() for index in starting))


async def test_the_payload_keeps_the_embed_text_and_the_whole_endpoint(index: VectorIndex) -> None:
    one = searchable(endpoint("a", text="Opening hours."), A)

    stored = payload_of(one)
    await index.apply([one], ())

    assert stored["embed_text"] == embed_text(one.endpoint)
    assert await index.endpoints(["default.a"]) == [one.endpoint]


async def test_each_model_has_a_collection_of_its_own_on_a_shared_server() -> None:
    other = dataclasses.replace(CARD, version=CARD.version + 1, dimension=8)
    with served() as url:
        first = await open_server(AsyncQdrantClient(url=url, check_compatibility=False))
        second = ServerIndex(AsyncQdrantClient(url=url, check_compatibility=False), other)
        await second.open()

        await first.apply([searchable(endpoint("a"), A)], ())

        assert collection_name(CARD) != collection_name(other)
        assert (await first.count(), await second.count()) == (1, 0)
        await first.close()
        await second.close()


async def test_a_reader_never_sees_a_point_missing_while_it_is_replaced(index: VectorIndex) -> None:
    await index.apply([searchable(endpoint("a", text="0"), A)], ())

    async def replace() -> None:
        for n in range(1, 30):
            await index.apply([searchable(endpoint("a", text=str(n)), A)], ())

    replacing = asyncio.create_task(replace())
    seen = set()
    while not replacing.done():
        seen.add(len(await index.find(query(A))))
        await asyncio.sleep(0)
    await replacing

    assert seen == {1}


async def test_an_emptied_registry_does_not_empty_a_shared_server() -> None:
    index = await open_server()
    await index.apply([searchable(endpoint("a"), A)], ())

    await index.keep_only([])

    assert await index.count() == 1
    await index.close()


async def test_a_server_that_is_away_is_named_so() -> None:
    index = ServerIndex(AsyncQdrantClient(url="http://127.0.0.1:1", check_compatibility=False), CARD)

    with pytest.raises(StoreUnavailable):
        await index.open()
    with pytest.raises(StoreUnavailable):
        await index.find(query(A))
    await index.close()
