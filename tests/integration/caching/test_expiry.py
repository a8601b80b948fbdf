"""The end of a response's time: one renews it, the others are told it while it lasts, and no two end together."""

from __future__ import annotations

import asyncio

import pytest
import redis.asyncio as aioredis

from schemas.calls import CallFailed, CallOutcome, CallSucceeded, FailureReason
from tests.integration.caching.test_flights import KEY, Api, a_call, ask, body, flights_over
from workers.runtime.keys import Keys

CROWD = 100


def answers(**more: float) -> Api:
    return Api(takes_s=0.3, answer=lambda n: CallSucceeded(call_id="api", status=200, body={"n": n}, **more))


async def crowd(api: Api, redis: aioredis.Redis, **settings: float) -> list[CallOutcome]:
    flights = flights_over(redis, **settings)
    return list(await asyncio.gather(*(ask(flights, api, number) for number in range(CROWD))))


async def make_due(redis: aioredis.Redis) -> None:
    """Bring the renewal forward to now; what is kept keeps its time."""
    await redis.hset(Keys().response("atc:cache", KEY), "due", "1")


async def test_a_hundred_at_the_end_make_one_call(clean_redis: aioredis.Redis) -> None:
    api = answers(fresh_for_s=1)
    await crowd(api, clean_redis, cache_ttl_jitter=0, cache_grace_s=0)
    await asyncio.sleep(1.1)
    outcomes = await crowd(api, clean_redis, cache_ttl_jitter=0, cache_grace_s=0)
    assert api.calls == 2
    assert [body(outcome) for outcome in outcomes] == [{"n": 2}] * CROWD


async def test_shortly_before_the_end_one_renews_and_the_others_are_told_what_is_kept(
    clean_redis: aioredis.Redis,
) -> None:
    api = answers()
    await ask(flights_over(clean_redis), api)
    await make_due(clean_redis)
    began = asyncio.get_running_loop().time()
    outcomes = await crowd(api, clean_redis)
    assert api.calls == 2
    assert sorted(body(outcome)["n"] for outcome in outcomes) == [*[1] * (CROWD - 1), 2]
    assert asyncio.get_running_loop().time() - began < 2
    assert body(await ask(flights_over(clean_redis), api)) == {"n": 2}


async def test_a_glance_leaves_the_renewal_to_who_asks_but_a_question_about_it_does_not_renew(
    clean_redis: aioredis.Redis,
) -> None:
    flights, api = flights_over(clean_redis), answers()
    await ask(flights, api)
    await make_due(clean_redis)
    assert await flights.find(a_call(), KEY) is None
    asked_about = await flights.find(a_call(), KEY, at_its_age=True)
    assert asked_about is not None
    assert body(asked_about) == {"n": 1}
    renewing = asyncio.create_task(ask(flights, api))
    await asyncio.sleep(0.1)
    told = await flights.find(a_call(), KEY)
    assert told is not None
    assert body(told) == {"n": 1}
    assert body(await renewing) == {"n": 2}


async def test_where_renewing_fails_what_still_has_its_time_is_told(clean_redis: aioredis.Redis) -> None:
    flights = flights_over(clean_redis)
    await ask(flights, answers())
    await make_due(clean_redis)
    failed = Api(answer=lambda _: CallFailed(call_id="api", reason=FailureReason.SERVER_ERROR, status=500))
    assert body(await ask(flights, failed)) == {"n": 1}
    assert isinstance(await ask(flights, failed, afresh=True), CallFailed)
    assert failed.calls == 2


async def test_an_answer_that_may_not_be_kept_ends_what_was_kept_before(clean_redis: aioredis.Redis) -> None:
    flights, no_store = flights_over(clean_redis), answers(fresh_for_s=0)
    await ask(flights, answers())
    await ask(flights, no_store, afresh=True)
    await ask(flights, no_store)
    assert no_store.calls == 2


@pytest.mark.parametrize(
    ("more", "grace_s", "kept_ms"),
    [
        ({"fresh_for_s": 100.0}, 5, 100_000),
        ({"fresh_for_s": 100.0, "stale_for_s": 30.0}, 5, 105_000),
        ({"fresh_for_s": 100.0, "stale_for_s": 3.0}, 5, 103_000),
        ({"fresh_for_s": 100.0, "stale_for_s": 30.0}, 0, 100_000),
    ],
    ids=["nothing stale of itself", "no longer than the setting", "no longer than the API", "switched off"],
)
async def test_nothing_is_kept_past_its_time_unless_its_api_allows_it(
    clean_redis: aioredis.Redis, more: dict[str, float], grace_s: float, kept_ms: int
) -> None:
    await ask(flights_over(clean_redis, cache_ttl_jitter=0, cache_grace_s=grace_s), answers(**more))
    ttl_ms = await clean_redis.pttl(Keys().response("atc:cache", KEY))
    assert kept_ms - 5_000 < ttl_ms <= kept_ms


async def test_what_was_kept_at_once_does_not_end_at_once(clean_redis: aioredis.Redis) -> None:
    flights, ends = flights_over(clean_redis, cache_ttl_jitter=0.5), []
    for _ in range(20):
        await ask(flights, Api(takes_s=0), afresh=True)
        ends.append(await clean_redis.pttl(Keys().response("atc:cache", KEY)))
    assert max(ends) - min(ends) > 100_000
    assert 890_000 < min(ends) <= max(ends) <= 1_800_000
