"""The registry on a real Redis: fenced records, the log and its followers."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
import redis.asyncio as aioredis

from schemas.endpoints import Endpoint
from schemas.registry import IndexState, Registered, Searchable
from workers.errors import EndpointUnknown, IndexRefused, StoreUnavailable
from workers.registry import store as store_module
from workers.registry.log import Position
from workers.registry.store import RegistryStore
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import RedisSettings

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)


def registered(
    endpoint_id: str = "a", *, tenant: str = "default", name: str = "holidays", text: str = "x"
) -> Registered:
    endpoint = Endpoint(endpoint_id=endpoint_id, tenant=tenant, name=name, description=text, url="https://x.ee/")
    return Registered(endpoint=endpoint, updated_at=NOON)


def searchable(stored: Registered) -> Searchable:
    return Searchable(endpoint=stored.endpoint, model="m", fingerprint="f", dense="AAAA")


@pytest.fixture
def registry(clean_redis: aioredis.Redis) -> RegistryStore:
    return RegistryStore(clean_redis, Keys(), lambda: NOON)


async def test_what_was_put_is_found_and_another_tenant_does_not_see_it(registry: RegistryStore) -> None:
    stored = await registry.put(registered())

    assert await registry.get("a") == stored
    assert await registry.get("a", tenant="default") == stored
    assert await registry.get("a", tenant="other") is None
    assert await registry.get("b") is None


async def test_the_version_grows_only_when_the_endpoint_changed(registry: RegistryStore) -> None:
    await registry.put(registered(text="x"))

    assert (await registry.put(registered(text="x"))).endpoint.version == 1
    assert (await registry.put(registered(text="y"))).endpoint.version == 2


async def test_an_id_of_another_tenant_cannot_be_taken_over(registry: RegistryStore) -> None:
    await registry.put(registered())

    with pytest.raises(IndexRefused):
        await registry.put(registered(tenant="other"))
    assert not await registry.delete("a", tenant="other")


async def test_a_tenants_list_is_sorted_by_name_and_paged(registry: RegistryStore) -> None:
    for n in (3, 1, 2):
        await registry.put(registered(f"id{n}", name=f"name{n}"))
    await registry.put(registered("z", tenant="default2", name="name0"))

    names = [one.endpoint.name for one in await registry.list("default", offset=1, limit=5)]

    assert names == ["name2", "name3"]
    assert await registry.count("default") == 3


async def test_a_renamed_endpoint_is_listed_once(registry: RegistryStore) -> None:
    await registry.put(registered(name="old"))
    await registry.put(registered(name="new"))

    assert [one.endpoint.name for one in await registry.list("default")] == ["new"]


async def test_a_published_endpoint_is_indexed_and_in_the_log(registry: RegistryStore) -> None:
    stored = await registry.put(registered())
    start = await registry.log.head()

    assert await registry.publish(searchable(stored))

    found = await registry.get("a")
    assert found is not None
    assert (found.state, found.model) == (IndexState.INDEXED, "m")
    changes = await registry.log.read(start, block_s=0.01)
    assert [(one.endpoint_id, one.searchable) for one in changes.changes] == [("a", searchable(stored))]


async def test_vectors_of_an_older_version_are_not_published(registry: RegistryStore) -> None:
    first = await registry.put(registered(text="x"))
    await registry.put(registered(text="y"))

    assert not await registry.publish(searchable(first))
    assert not await registry.set_state("a", IndexState.FAILED, version=1, reason="late")
    assert await registry.searchable("a") is None


async def test_the_old_version_stays_searchable_until_the_new_one_is_published(registry: RegistryStore) -> None:
    first = await registry.put(registered(text="x"))
    await registry.publish(searchable(first))

    await registry.put(registered(text="y"))

    assert await registry.searchable("a") == searchable(first)


async def test_a_deleted_endpoint_leaves_nothing_but_a_log_entry(registry: RegistryStore) -> None:
    await registry.publish(searchable(await registry.put(registered())))
    before = await registry.log.head()

    assert await registry.delete("a")
    assert not await registry.delete("a")

    assert await registry.get("a") is None
    assert await registry.list("default") == ()
    changes = await registry.log.read(before, block_s=0.01)
    assert [(one.endpoint_id, one.searchable) for one in changes.changes] == [("a", None)]
    with pytest.raises(EndpointUnknown):
        await registry.set_state("a", IndexState.INDEXED, version=1)


async def test_many_changes_of_one_endpoint_cost_a_follower_one_read(registry: RegistryStore) -> None:
    start = await registry.log.head()
    for n in range(5):
        await registry.publish(searchable(await registry.put(registered(text=str(n)))))

    changes = await registry.log.read(start, block_s=0.01)

    assert changes.position.seq == 5
    assert [one.searchable.endpoint.description for one in changes.changes if one.searchable] == ["4"]


async def test_concurrent_registrations_lose_no_version(registry: RegistryStore) -> None:
    await asyncio.gather(*(registry.put(registered(text=str(n))) for n in range(8)))

    found = await registry.get("a")
    assert found is not None
    assert found.endpoint.version == 8


async def test_a_follower_behind_the_trimmed_log_is_told_to_start_over(
    registry: RegistryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "LOG_LENGTH", 100)
    for n in range(300):
        await registry.publish(searchable(await registry.put(registered(text=str(n)))))

    assert (await registry.log.read(Position(seq=0), block_s=0.01)).is_broken
    head = await registry.log.head()
    assert head.seq == 300
    assert not (await registry.log.read(Position(head.epoch, 299), block_s=0.01)).is_broken


async def test_the_snapshot_holds_every_searchable_endpoint(registry: RegistryStore) -> None:
    for n in range(450):
        await registry.publish(searchable(await registry.put(registered(f"id{n}", name=f"n{n}"))))

    seen = {one.endpoint.endpoint_id async for page in registry.log.snapshot() for one in page}

    assert len(seen) == 450


async def test_waiting_ends_once_every_live_follower_has_applied_the_change(registry: RegistryStore) -> None:
    await registry.log.report("f1", Position())
    await registry.log.report("f2", Position())
    await registry.publish(searchable(await registry.put(registered())))
    head = await registry.log.report("f1", await registry.log.head())

    assert not await registry.wait_searchable("a", 0.08)
    await registry.log.report("f2", head)
    assert await registry.wait_searchable("a", 1)


async def test_a_follower_that_left_holds_nobody_up(registry: RegistryStore) -> None:
    await registry.log.report("gone", Position())
    await registry.publish(searchable(await registry.put(registered())))
    await registry.log.report("f1", await registry.log.head())

    await registry.log.leave("gone")

    assert await registry.wait_searchable("a", 1)


async def test_waiting_says_no_for_a_failed_or_unknown_endpoint_and_when_nobody_follows(
    registry: RegistryStore,
) -> None:
    stored = await registry.put(registered())
    assert not await registry.wait_searchable("unknown", 1)

    await registry.publish(searchable(stored))
    assert not await registry.wait_searchable("a", 0.05)

    await registry.set_state("a", IndexState.FAILED, version=1, reason="too long")
    assert not await registry.wait_searchable("a", 5)


async def test_a_wiped_registry_begins_another_epoch(registry: RegistryStore, clean_redis: aioredis.Redis) -> None:
    await registry.publish(searchable(await registry.put(registered())))
    before = await registry.log.head()

    await clean_redis.flushall()
    await registry.publish(searchable(await registry.put(registered())))

    assert (await registry.log.report("f", before)).epoch != before.epoch
    assert not await registry.wait_searchable("a", 0.05)


async def test_a_redis_that_is_away_is_named_so() -> None:
    client = async_client(RedisSettings(url="redis://127.0.0.1:1/0"))

    with pytest.raises(StoreUnavailable):
        await RegistryStore(client, Keys()).get("a")
    await client.aclose()
