"""The outcome store on a real Redis."""

from __future__ import annotations

import asyncio

import pytest
import redis.asyncio as aioredis

from schemas.calls import CallFailed, CallOutcome, CallSucceeded, FailureReason
from schemas.ids import TurnId, call_id
from tests.integration.calling.conftest import MakeCall
from workers.calling.outcomes import ClaimState, OutcomeStore
from workers.errors import StoreUnavailable
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import RedisSettings


def succeeded(turn_id: TurnId, index: int = 0, body: int = 1) -> CallSucceeded:
    return CallSucceeded(call_id=call_id(turn_id, index), status=200, body=body)


async def test_the_first_outcome_wins_among_many_at_once(outcomes: OutcomeStore, turn_id: TurnId) -> None:
    held: list[CallOutcome] = await asyncio.gather(
        *(outcomes.record(turn_id, succeeded(turn_id, body=n)) for n in range(20))
    )

    assert len({outcome.body for outcome in held if isinstance(outcome, CallSucceeded)}) == 1
    assert await outcomes.all_of(turn_id) == {call_id(turn_id, 0): held[0]}


async def test_outcomes_of_a_turn_are_found_by_call_and_expire(
    outcomes: OutcomeStore, turn_id: TurnId, clean_redis: aioredis.Redis
) -> None:
    await outcomes.record(turn_id, succeeded(turn_id, 0))
    await outcomes.record(turn_id, CallFailed(call_id=call_id(turn_id, 1), reason=FailureReason.TIMED_OUT))

    assert set(await outcomes.all_of(turn_id)) == {call_id(turn_id, 0), call_id(turn_id, 1)}
    assert 0 < await clean_redis.ttl(Keys().calls(turn_id)) <= 86_400


async def test_only_one_of_many_gets_the_call(outcomes: OutcomeStore, turn_id: TurnId) -> None:
    claims = await asyncio.gather(*(outcomes.claim(turn_id, call_id(turn_id, 0), 5) for _ in range(20)))

    assert sorted(claim.state for claim in claims) == ["busy"] * 19 + ["mine"]


async def test_calls_of_one_turn_do_not_hinder_each_other(outcomes: OutcomeStore, turn_id: TurnId) -> None:
    claims = [await outcomes.claim(turn_id, call_id(turn_id, index), 5) for index in (0, 1)]

    assert [claim.state for claim in claims] == [ClaimState.MINE, ClaimState.MINE]


async def test_a_claim_on_a_finished_call_brings_its_outcome(outcomes: OutcomeStore, turn_id: TurnId) -> None:
    await outcomes.record(turn_id, succeeded(turn_id))

    claim = await outcomes.claim(turn_id, call_id(turn_id, 0), 5)

    assert (claim.state, claim.outcome) == (ClaimState.OUTCOME_EXISTS, succeeded(turn_id))


async def test_a_lease_that_ran_out_before_sending_passes_to_the_next(outcomes: OutcomeStore, turn_id: TurnId) -> None:
    late = await outcomes.claim(turn_id, call_id(turn_id, 0), 0.05)
    await asyncio.sleep(0.08)
    next_one = await outcomes.claim(turn_id, call_id(turn_id, 0), 5)

    assert next_one.state is ClaimState.MINE
    assert not await outcomes.mark_sending(late, 5), "a worker that was paused must not send any more"
    assert await outcomes.mark_sending(next_one, 5)


async def test_a_lease_that_ran_out_after_sending_is_known_as_abandoned(
    outcomes: OutcomeStore, turn_id: TurnId
) -> None:
    first = await outcomes.claim(turn_id, call_id(turn_id, 0), 5)
    assert await outcomes.mark_sending(first, 0.05)
    await asyncio.sleep(0.08)

    assert (await outcomes.claim(turn_id, call_id(turn_id, 0), 5)).state is ClaimState.ABANDONED_AFTER_SENDING


async def test_a_released_call_is_free_at_once_but_not_one_that_has_left(
    outcomes: OutcomeStore, turn_id: TurnId
) -> None:
    await outcomes.release(await outcomes.claim(turn_id, call_id(turn_id, 0), 5))
    again = await outcomes.claim(turn_id, call_id(turn_id, 0), 5)
    await outcomes.mark_sending(again, 5)
    await outcomes.release(again)

    assert again.state is ClaimState.MINE
    assert (await outcomes.claim(turn_id, call_id(turn_id, 0), 5)).state is ClaimState.SOMEBODY_ELSE_IS_SENDING


async def test_nobody_may_send_once_the_call_has_an_outcome(outcomes: OutcomeStore, turn_id: TurnId) -> None:
    claim = await outcomes.claim(turn_id, call_id(turn_id, 0), 5)
    await outcomes.record(turn_id, succeeded(turn_id))

    assert not await outcomes.mark_sending(claim, 5)
    assert not await outcomes.prolong(claim, 5)


@pytest.mark.parametrize(
    ("method", "has_left", "reason"),
    [
        ("POST", True, FailureReason.UNKNOWN),
        ("POST", False, FailureReason.TIMED_OUT),
        ("GET", False, FailureReason.TIMED_OUT),
    ],
)
async def test_giving_a_call_up_is_honest_about_whether_it_left(
    outcomes: OutcomeStore,
    make_call: MakeCall,
    turn_id: TurnId,
    method: str,
    has_left: bool,  # noqa: FBT001
    reason: FailureReason,
) -> None:
    call = make_call("/fine", method=method)
    claim = await outcomes.claim(turn_id, call.call_id, 5)
    if has_left:
        await outcomes.mark_sending(claim, 5)

    ended = await outcomes.give_up(turn_id, call)

    assert isinstance(ended, CallFailed)
    assert ended.reason is reason


async def test_a_redis_that_is_away_is_said_so() -> None:
    client = async_client(RedisSettings(url="redis://127.0.0.1:1/0", socket_timeout_s=0.2))
    store = OutcomeStore(client, Keys())
    turn = TurnId("0123456789abcdef-0123456789abcdef")

    with pytest.raises(StoreUnavailable):
        await store.claim(turn, call_id(turn, 0), 1)
    with pytest.raises(StoreUnavailable):
        await store.all_of(turn)
    await client.aclose()
    await client.connection_pool.disconnect()
