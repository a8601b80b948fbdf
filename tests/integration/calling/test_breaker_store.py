"""The shared breaker on a real Redis, among tasks and among processes; the script keeps the rules of breaker.py."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis.asyncio as aioredis

from workers.calling.breaker import Breaker, BreakerRules, BreakerState, Pass, Verdict, admit, report
from workers.calling.breaker_store import Admission, BreakerStore
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import RedisSettings

ENDPOINT = "https://a.ee/x/{id}"
RULES = BreakerRules(failures_to_open=3, cooldown_ms=150)
ALONE = Admission(owner="t", verdict=Pass.GO)


@pytest.fixture
def breakers(clean_redis: aioredis.Redis) -> BreakerStore:
    return BreakerStore(clean_redis, Keys(), RULES)


async def fail(breakers: BreakerStore, times: int, endpoint: str = ENDPOINT) -> None:
    for _ in range(times):
        await breakers.report(endpoint, ALONE, Verdict.FAILING)


async def test_it_opens_for_everybody_after_the_threshold(breakers: BreakerStore, clean_redis: aioredis.Redis) -> None:
    newcomer = BreakerStore(clean_redis, Keys(), RULES)
    await fail(breakers, 2)
    before = await newcomer.admit(ENDPOINT, owner="b", probe_s=1)
    await fail(breakers, 1)
    after = await newcomer.admit(ENDPOINT, owner="b", probe_s=1)

    assert (before.verdict, after.verdict) == (Pass.GO, Pass.NO)
    assert after.retry_after_s is not None
    assert 0 < after.retry_after_s <= 0.15


async def test_endpoints_have_breakers_of_their_own(breakers: BreakerStore) -> None:
    await fail(breakers, 3)

    assert (await breakers.admit("https://a.ee/other", owner="a", probe_s=1)).verdict is Pass.GO


async def test_one_probe_goes_among_many_and_everybody_follows_once_it_came_back(breakers: BreakerStore) -> None:
    await fail(breakers, 3)
    await asyncio.sleep(0.16)
    asked = await asyncio.gather(*(breakers.admit(ENDPOINT, owner=f"w{n}", probe_s=1) for n in range(32)))
    probes = [admission for admission in asked if admission.verdict is Pass.PROBE]

    assert len(probes) == 1
    await breakers.report(ENDPOINT, probes[0], Verdict.HEALTHY)
    assert (await breakers.admit(ENDPOINT, owner="x", probe_s=1)).verdict is Pass.GO
    assert await breakers.states() == []


async def test_a_probe_that_says_nothing_makes_room_for_the_next_at_once(breakers: BreakerStore) -> None:
    await fail(breakers, 3)
    await asyncio.sleep(0.16)
    probe = await breakers.admit(ENDPOINT, owner="a", probe_s=10)
    await breakers.report(ENDPOINT, probe, Verdict.NOTHING)

    assert (await breakers.admit(ENDPOINT, owner="b", probe_s=1)).verdict is Pass.PROBE


async def test_a_prober_that_died_is_replaced_after_its_time(breakers: BreakerStore) -> None:
    await fail(breakers, 3)
    await asyncio.sleep(0.16)
    await breakers.admit(ENDPOINT, owner="dead", probe_s=0.05)

    assert (await breakers.admit(ENDPOINT, owner="b", probe_s=1)).verdict is Pass.NO
    await asyncio.sleep(0.06)
    assert (await breakers.admit(ENDPOINT, owner="b", probe_s=1)).verdict is Pass.PROBE


async def test_good_news_about_a_healthy_endpoint_costs_no_round_trip(
    breakers: BreakerStore, clean_redis: aioredis.Redis
) -> None:
    admission = await breakers.admit(ENDPOINT, owner="a", probe_s=1)
    before = (await clean_redis.info("commandstats"))["cmdstat_evalsha"]["calls"]
    await breakers.report(ENDPOINT, admission, Verdict.HEALTHY)

    assert (await clean_redis.info("commandstats"))["cmdstat_evalsha"]["calls"] == before


async def test_operators_see_open_and_close_breakers(breakers: BreakerStore) -> None:
    await fail(breakers, 1, "https://b.ee/y")
    await breakers.open(ENDPOINT)
    await asyncio.sleep(0.16)

    assert [(view.endpoint, view.state, view.failures) for view in await breakers.states()] == [
        (ENDPOINT, BreakerState.FORCED_OPEN, 0),
        ("https://b.ee/y", BreakerState.CLOSED, 1),
    ]
    assert (await breakers.admit(ENDPOINT, owner="a", probe_s=1)).verdict is Pass.NO
    await breakers.close(ENDPOINT)
    assert (await breakers.admit(ENDPOINT, owner="a", probe_s=1)).verdict is Pass.GO


async def test_calls_go_out_when_redis_is_away() -> None:
    client = async_client(RedisSettings(url="redis://127.0.0.1:1/0", socket_timeout_s=0.2))
    breakers = BreakerStore(client, Keys(), RULES)

    admission = await breakers.admit(ENDPOINT, owner="a", probe_s=1)
    await breakers.report(ENDPOINT, admission, Verdict.FAILING)
    await client.aclose()
    await client.connection_pool.disconnect()

    assert admission.verdict is Pass.GO


async def test_the_script_and_the_rules_agree_on_random_histories(clean_redis: aioredis.Redis) -> None:
    """The cooldown is either 0 or an hour, so that the two clocks can't make a difference."""
    chance = random.Random(7)  # noqa: S311 - a fixed history
    for cooldown_ms in (0, 3_600_000):
        rules = BreakerRules(failures_to_open=2, cooldown_ms=cooldown_ms)
        store = BreakerStore(clean_redis, Keys(), rules)
        for history in range(30):
            endpoint, model = f"https://a.ee/{cooldown_ms}/{history}", Breaker()
            for step in range(12):
                owner = chance.choice("ab")
                now_ms = 1_000 + step
                if chance.random() < 0.5:
                    model, expected = admit(model, owner=owner, now_ms=now_ms, probe_ms=10**7, rules=rules)
                    assert (await store.admit(endpoint, owner=owner, probe_s=10_000)).verdict is expected
                else:
                    verdict = chance.choice(list(Verdict))
                    model = report(model, verdict, owner=owner, now_ms=now_ms, rules=rules)
                    # A failure count of one makes the report go out whatever the verdict.
                    await store.report(endpoint, Admission(owner=owner, verdict=Pass.GO, failures=1), verdict)


SWARM = """
import asyncio, sys
from workers.calling.breaker import BreakerRules, Pass, Verdict
from workers.calling.breaker_store import BreakerStore
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import RedisSettings

async def main(url, name, seconds):
    client = async_client(RedisSettings(url=url))
    breakers = BreakerStore(client, Keys(), BreakerRules(failures_to_open=5, cooldown_ms=400))
    ends = asyncio.get_running_loop().time() + seconds
    turn = 0
    while asyncio.get_running_loop().time() < ends:
        turn += 1
        admission = await breakers.admit("https://dead.ee/x", owner=f"{name}-{turn}", probe_s=2)
        if admission.verdict is not Pass.NO:
            await client.rpush("sent", admission.verdict)
            await breakers.report("https://dead.ee/x", admission, Verdict.FAILING)
        await asyncio.sleep(0.005)
    await client.aclose()
    await client.connection_pool.disconnect()

asyncio.run(main(sys.argv[1], sys.argv[2], 2.0))
"""


async def test_eight_processes_send_the_threshold_and_then_one_probe_per_cooldown(
    clean_redis: aioredis.Redis, redis_url: str, repository: Path
) -> None:
    started = time.monotonic()
    swarm = [
        subprocess.Popen([sys.executable, "-c", SWARM, redis_url, f"p{n}"], cwd=repository)  # noqa: ASYNC220
        for n in range(8)
    ]
    codes = await asyncio.gather(*(asyncio.to_thread(process.wait, 30) for process in swarm))
    elapsed_s = time.monotonic() - started
    sent = [str(item) for item in await clean_redis.lrange("sent", 0, -1)]

    assert codes == [0] * 8
    # A call admitted while the fifth failure was on its way may still go: at most one more per process.
    assert 5 <= sent.count("go") <= 12
    assert 2 <= sent.count("probe") <= elapsed_s / 0.4


async def test_every_change_is_written_down_with_who_made_it(breakers: BreakerStore) -> None:
    await fail(breakers, 4)
    await asyncio.sleep(0.16)
    probe = await breakers.admit(ENDPOINT, owner="p", probe_s=1)
    await breakers.report(ENDPOINT, probe, Verdict.HEALTHY)
    await breakers.open(ENDPOINT)
    await breakers.close(ENDPOINT)

    changes = list(reversed(await breakers.changes()))
    assert [(str(change.state), change.failures, change.by) for change in changes] == [
        ("open", 3, "calls"),
        ("half_open", 3, "calls"),
        ("closed", 0, "calls"),
        ("forced_open", 0, "operator"),
        ("closed", 0, "operator"),
    ]
    assert {change.endpoint for change in changes} == {ENDPOINT}
    assert [change.state for change in await breakers.changes(limit=1)] == [BreakerState.CLOSED]
