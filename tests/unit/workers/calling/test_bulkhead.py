from __future__ import annotations

import asyncio

import pytest

from workers.calling.bulkhead import Bulkhead


async def _hold(bulkhead: Bulkhead, url: str, release: asyncio.Event) -> None:
    async with bulkhead.place(url, wait_s=1):
        await release.wait()


async def test_a_full_host_makes_its_own_calls_wait_and_nobody_elses() -> None:
    bulkhead, release = Bulkhead(2), asyncio.Event()
    holders = [asyncio.create_task(_hold(bulkhead, "http://slow.ee/a", release)) for _ in range(2)]
    await asyncio.sleep(0)

    async with bulkhead.place("http://other.ee/a", wait_s=0.05):
        pass
    with pytest.raises(TimeoutError):
        async with bulkhead.place("http://SLOW.ee/b", wait_s=0.05):
            pytest.fail("a third was let in")

    release.set()
    await asyncio.gather(*holders)
    async with bulkhead.place("http://slow.ee/b", wait_s=0.05):
        pass


async def test_never_more_than_its_places_are_taken_and_nothing_is_kept_of_a_host_that_is_idle() -> None:
    bulkhead, inside, most = Bulkhead(3), 0, 0

    async def visit() -> None:
        nonlocal inside, most
        async with bulkhead.place("http://a.ee", wait_s=5):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.001)
            inside -= 1

    await asyncio.gather(*(visit() for _ in range(50)))

    assert most == 3
    assert bulkhead._hosts == {}


async def test_one_who_leaves_the_line_takes_no_place() -> None:
    bulkhead, release = Bulkhead(1), asyncio.Event()
    holder = asyncio.create_task(_hold(bulkhead, "http://a.ee", release))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(_hold(bulkhead, "http://a.ee", release))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    release.set()
    await holder

    async with bulkhead.place("http://a.ee", wait_s=0.05):
        pass
