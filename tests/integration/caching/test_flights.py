"""Responses and flights on a real Redis: who calls, who hears, what is kept, and what a dead leader leaves."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio as aioredis

from schemas.calls import ApiCall, CallFailed, CallOutcome, CallSucceeded, FailureReason
from schemas.endpoints import Endpoint
from tests.conftest import free_port
from workers.caching import flights as flights_module
from workers.caching.flights import Flights
from workers.caching.freshness import Keeping
from workers.caching.responses import REST_S, ResponseStore
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.resting import Resting
from workers.runtime.settings import CacheSettings, RedisSettings

KEY = "a" * 40
NOTHING = Keeping(kept_s=0, renewed_after_s=0)


def a_call(number: int = 0, **more: Any) -> ApiCall:
    given = {"endpoint_id": "e", "name": "n", "description": "d", "url": "https://a.ee"} | more
    return ApiCall(call_id=f"c{number}", index=0, endpoint=Endpoint(**given))


def flights_over(redis: aioredis.Redis, **settings: Any) -> Flights:
    # A generous wait: these tests share two cores with others, and an ailing cache has tests of its own.
    given = CacheSettings(**({"cache_timeout_s": 5.0} | settings))
    return Flights(
        store=ResponseStore(redis, Keys(), given),
        settings=given,
        clock=utc_now,
        resting=Resting(failures=1, rest_s=REST_S),
    )


class Api:
    """Counts its calls; each takes a moment and answers its number."""

    def __init__(self, *, takes_s: float = 0.05, answer: Callable[[int], CallOutcome] | None = None) -> None:
        self.calls = 0
        self._takes_s = takes_s
        self._answer = answer or (lambda number: CallSucceeded(call_id="api", status=200, body={"n": number}))

    def of(self) -> Callable[[], Awaitable[CallOutcome]]:
        async def call() -> CallOutcome:
            self.calls += 1
            number = self.calls
            await asyncio.sleep(self._takes_s)
            return self._answer(number)

        return call


async def ask(
    flights: Flights, api: Api, number: int = 0, *, afresh: bool = False, within_s: float = 20
) -> CallOutcome:
    deadline = utc_now() + timedelta(seconds=within_s)
    return await flights.fetch(a_call(number), KEY, api.of(), deadline=deadline, afresh=afresh)


def body(outcome: CallOutcome) -> Any:
    assert isinstance(outcome, CallSucceeded), outcome
    return outcome.body


async def test_a_repeat_is_answered_from_what_is_kept_and_says_so(clean_redis: aioredis.Redis) -> None:
    flights, api = flights_over(clean_redis), Api()
    first = await ask(flights, api, 1)
    second = await ask(flights, api, 2)
    assert api.calls == 1
    assert isinstance(first, CallSucceeded)
    assert isinstance(second, CallSucceeded)
    assert first.cached is None
    assert second.cached is not None
    assert second.cached.source == "L1"
    assert (second.call_id, second.body) == ("c2", {"n": 1})


@pytest.mark.usefixtures("clean_redis")
async def test_fifty_at_once_over_five_clients_make_one_call(redis_url: str) -> None:
    clients = [async_client(RedisSettings(url=redis_url)) for _ in range(5)]
    api = Api(takes_s=0.3)
    everybody = [flights_over(client) for client in clients]
    outcomes = await asyncio.gather(*(ask(everybody[number % 5], api, number) for number in range(50)))
    assert api.calls == 1
    assert [body(outcome) for outcome in outcomes] == [{"n": 1}] * 50
    followers = [number for number, outcome in enumerate(outcomes) if outcome.call_id == f"c{number}"]
    assert len(followers) == 49  # the leader's is the API's own
    for client in clients:
        await client.aclose()
        await client.connection_pool.disconnect()


async def test_at_expiry_a_crowd_makes_one_call_again(clean_redis: aioredis.Redis) -> None:
    flights = flights_over(clean_redis)
    api = Api(answer=lambda n: CallSucceeded(call_id="api", status=200, body={"n": n}, fresh_for_s=0.5))
    await asyncio.gather(*(ask(flights, api, n) for n in range(20)))
    assert api.calls == 1
    await asyncio.sleep(0.6)
    outcomes = await asyncio.gather(*(ask(flights, api, n) for n in range(20)))
    assert api.calls == 2
    assert {str(body(outcome)) for outcome in outcomes} == {"{'n': 2}"}


@pytest.mark.parametrize(
    "outcome",
    [
        CallFailed(call_id="api", reason=FailureReason.SERVER_ERROR, status=500),
        CallFailed(call_id="api", reason=FailureReason.TOO_LARGE, status=200),
        CallSucceeded(call_id="api", status=200, body=[1], fresh_for_s=0),
        CallSucceeded(call_id="api", status=206, body=[1]),
        CallSucceeded(call_id="api", status=200, body="x" * 300_000),
    ],
    ids=["an error", "a cut answer", "no-store", "a part", "a long answer"],
)
async def test_nothing_is_kept_of(clean_redis: aioredis.Redis, outcome: CallOutcome) -> None:
    flights, api = flights_over(clean_redis), Api(answer=lambda _: outcome, takes_s=0)
    await ask(flights, api)
    await ask(flights, api)
    assert api.calls == 2
    assert [key async for key in clean_redis.scan_iter("*") if "landed" not in key] == []


async def test_a_failure_is_told_to_those_who_waited_for_it_and_to_nobody_later(clean_redis: aioredis.Redis) -> None:
    flights = flights_over(clean_redis)
    failed = CallFailed(call_id="api", reason=FailureReason.SERVER_ERROR, status=500)
    api = Api(takes_s=0.3, answer=lambda _: failed)
    outcomes = await asyncio.gather(*(ask(flights, api, n) for n in range(10)))
    assert api.calls == 1
    assert all(isinstance(outcome, CallFailed) for outcome in outcomes)
    await ask(flights, api)
    assert api.calls == 2


async def test_an_answer_that_must_not_be_stored_is_not_shared_either(clean_redis: aioredis.Redis) -> None:
    flights = flights_over(clean_redis)
    api = Api(takes_s=0.2, answer=lambda n: CallSucceeded(call_id="api", status=200, body={"n": n}, fresh_for_s=0))
    outcomes = await asyncio.gather(*(ask(flights, api, n) for n in range(5)))
    assert api.calls == 5
    assert len({str(body(outcome)) for outcome in outcomes}) == 5


async def test_afresh_passes_by_what_is_kept_and_replaces_it(clean_redis: aioredis.Redis) -> None:
    flights, api = flights_over(clean_redis), Api()
    await ask(flights, api)
    assert body(await ask(flights, api, afresh=True)) == {"n": 2}
    assert body(await ask(flights, api)) == {"n": 2}


async def test_a_late_writer_never_overwrites_a_newer_value(clean_redis: aioredis.Redis) -> None:
    store = flights_over(clean_redis).store
    slow = CallSucceeded(call_id="api", status=200, body="older")
    quick = CallSucceeded(call_id="api", status=200, body="newer")
    a_minute = Keeping(kept_s=60, renewed_after_s=60)
    await store.land(KEY, "second", called_at_ms=2_000, outcome=quick, kept=a_minute, shared=True)
    await store.land(KEY, "first", called_at_ms=1_000, outcome=slow, kept=a_minute, shared=True)
    kept = await store.peek(KEY)
    assert kept is not None
    assert kept.outcome.body == "newer"


async def test_a_late_holder_does_not_end_anothers_flight(clean_redis: aioredis.Redis) -> None:
    store = flights_over(clean_redis).store
    look = await store.look(KEY, "mine", lease_s=60, afresh=False)
    failed = CallFailed(call_id="api", reason=FailureReason.TIMED_OUT)
    await store.land(KEY, "somebody-late", called_at_ms=1, outcome=failed, kept=NOTHING, shared=True)
    assert look.state == "lead"
    assert await store.renew(KEY, "somebody-late", lease_s=0) is False
    assert await store.landed(KEY, "mine") == "flying"


async def test_a_call_longer_than_the_lease_keeps_its_lead(
    clean_redis: aioredis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flights_module, "LEASE_S", 0.6)
    monkeypatch.setattr(flights_module, "RENEW_S", 0.1)
    flights, api = flights_over(clean_redis), Api(takes_s=1.5)
    await asyncio.gather(*(ask(flights, api, n) for n in range(10)))
    assert api.calls == 1


async def test_a_leader_that_gives_up_lets_the_next_call_at_once(clean_redis: aioredis.Redis) -> None:
    flights, api = flights_over(clean_redis), Api()
    slow = asyncio.create_task(ask(flights, Api(takes_s=30)))
    await asyncio.sleep(0.2)
    waiting = asyncio.create_task(ask(flights, api))
    await asyncio.sleep(0.1)
    slow.cancel()
    assert body(await asyncio.wait_for(waiting, 1.5)) == {"n": 1}


LEADER = """
    import asyncio, sys
    sys.path.insert(0, {root!r})
    from tests.integration.caching.test_flights import Api, ask, flights_over
    from workers.runtime.redis import async_client
    from workers.runtime.settings import RedisSettings

    async def main():
        client = async_client(RedisSettings(url={url!r}))
        asyncio.get_running_loop().call_later(0.4, print, "leading")
        await ask(flights_over(client), Api(takes_s=60), within_s=90)

    asyncio.run(main())
"""


def _start_leader(redis_url: str, repository: Path) -> subprocess.Popen[bytes]:
    script = textwrap.dedent(LEADER).format(root=str(repository), url=redis_url)
    return subprocess.Popen([sys.executable, "-u", "-c", script], stdout=subprocess.PIPE)


async def test_a_killed_leader_holds_nobody_up_for_longer_than_its_lease(
    clean_redis: aioredis.Redis, redis_url: str, repository: Path
) -> None:
    leader = await asyncio.to_thread(_start_leader, redis_url, repository)
    assert leader.stdout is not None
    await asyncio.to_thread(leader.stdout.readline)
    flights, api = flights_over(clean_redis), Api()
    waiting = [asyncio.create_task(ask(flights, api, n, within_s=30)) for n in range(10)]
    await asyncio.sleep(0.3)
    assert api.calls == 0
    leader.kill()
    leader.wait(timeout=10)
    leader.stdout.close()
    outcomes = await asyncio.wait_for(asyncio.gather(*waiting), flights_module.LEASE_S + 5)
    assert api.calls == 1
    assert [body(outcome) for outcome in outcomes] == [{"n": 1}] * 10


async def test_who_waits_stops_at_the_deadline(clean_redis: aioredis.Redis) -> None:
    flights, api = flights_over(clean_redis), Api(takes_s=0)
    slow = asyncio.create_task(ask(flights, Api(takes_s=30), within_s=60))
    await asyncio.sleep(0.2)
    began = asyncio.get_running_loop().time()
    assert body(await ask(flights, api, within_s=0.5)) == {"n": 1}
    assert asyncio.get_running_loop().time() - began < 3
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)


async def test_without_redis_everybody_calls_for_himself_and_is_not_held_up() -> None:
    client = async_client(RedisSettings(url=f"redis://127.0.0.1:{free_port()}/0"))
    flights, api = flights_over(client, cache_timeout_s=0.25), Api(takes_s=0)
    began = asyncio.get_running_loop().time()
    outcomes = [await ask(flights, api, n) for n in range(20)]
    assert api.calls == 20
    assert [body(outcome) for outcome in outcomes] == [{"n": n + 1} for n in range(20)]
    assert asyncio.get_running_loop().time() - began < 3
    assert await flights.find(a_call(), KEY) is None
    await client.aclose()


async def test_a_silent_redis_costs_one_short_wait() -> None:
    async def swallow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1024):
            pass
        writer.close()

    port = free_port()
    server = await asyncio.start_server(swallow, "127.0.0.1", port)
    client = async_client(RedisSettings(url=f"redis://127.0.0.1:{port}/0"))
    flights, api = flights_over(client, cache_timeout_s=0.25), Api(takes_s=0)
    began = asyncio.get_running_loop().time()
    for n in range(10):
        await ask(flights, api, n)
    assert api.calls == 10
    assert asyncio.get_running_loop().time() - began < 3
    await client.aclose()
    await client.connection_pool.disconnect()
    server.close()


async def test_what_another_release_wrote_is_no_answer(clean_redis: aioredis.Redis) -> None:
    await clean_redis.hset(Keys().response("atc:cache", KEY), mapping={"at": "1", "outcome": '{"kind": "strange"}'})
    flights, api = flights_over(clean_redis), Api()
    assert body(await ask(flights, api)) == {"n": 1}
    assert body(await ask(flights, api)) == {"n": 1}
    assert api.calls == 1


async def test_what_is_kept_expires(clean_redis: aioredis.Redis) -> None:
    flights, api = flights_over(clean_redis), Api()
    await ask(flights, api)
    ttl_ms = await clean_redis.pttl(Keys().response("atc:cache", KEY))
    assert 1_600_000 < ttl_ms <= 1_800_000
