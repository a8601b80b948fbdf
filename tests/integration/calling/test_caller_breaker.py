"""What the shared breaker does to a call, and what a call does to it: a real Redis, a real server."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
import redis.asyncio as aioredis

from schemas.calls import CallFailed, CallSucceeded, FailureReason
from schemas.endpoints import ParamSpec
from schemas.ids import TurnId
from tests.integration.calling.conftest import MakeCall
from tests.integration.calling.misbehaving import Misbehaving
from workers.calling.breaker import Verdict
from workers.calling.breaker_store import Admission, Pass
from workers.calling.caller import Caller
from workers.calling.outcomes import OutcomeStore
from workers.calling.plan import endpoint_address
from workers.runtime.keys import Keys
from workers.runtime.settings import CallingSettings


async def test_an_open_breaker_stops_the_call_and_says_until_when(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    for index in range(2):
        await caller.call(make_call("/status/500", index=index), turn_id=turn_id, deadline=soon)
    outcome = await caller.call(make_call("/status/500?other=query", index=2), turn_id=turn_id, deadline=soon)

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.BREAKER_OPEN
    assert outcome.retry_after_s is not None
    assert len(server.seen) == 5, "exactly the threshold"


async def test_a_call_stopped_between_two_tries_tells_what_the_api_did(
    caller: Caller, make_call: MakeCall, turn_id: TurnId, soon: datetime
) -> None:
    await caller.call(make_call("/status/500", index=0), turn_id=turn_id, deadline=soon)
    outcome = await caller.call(make_call("/status/500", index=1), turn_id=turn_id, deadline=soon)

    assert isinstance(outcome, CallFailed)
    assert (outcome.reason, outcome.status) == (FailureReason.SERVER_ERROR, 500)


async def test_a_users_bad_input_never_opens_the_breaker(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    for index in range(12):
        await caller.call(make_call("/status/422", index=index), turn_id=turn_id, deadline=soon)

    assert len(server.seen) == 12
    assert await caller.breakers.states() == []


async def test_a_4xx_between_two_5xx_begins_the_row_anew(
    caller: Caller, make_call: MakeCall, turn_id: TurnId, soon: datetime
) -> None:
    params = (ParamSpec(name="code", placement="path"),)
    for index, code in enumerate(["500", "404", "500"]):
        call = make_call("/status/{code}", index=index, method="POST", params=params, arguments={"code": code})
        await caller.call(call, turn_id=turn_id, deadline=soon)

    assert [view.failures for view in await caller.breakers.states()] == [1]


async def test_a_call_that_hangs_until_the_batch_is_over_counts_against_its_endpoint(
    clean_redis: aioredis.Redis, outcomes: OutcomeStore, make_call: MakeCall, turn_id: TurnId
) -> None:
    settings = CallingSettings(allowed_hosts="127.0.0.1", retries=0, breaker_failures_to_open=2)
    settings = settings.model_copy(update={"batch_timeout_s": 0.3})
    caller = Caller.open(redis=clean_redis, keys=Keys(), settings=settings, outcomes=outcomes)
    for index in range(2):
        call = make_call("/hanging", index=index, timeout_s=60)
        await caller.call(call, turn_id=turn_id, deadline=datetime.now(UTC) + timedelta(seconds=0.3))
    states = await caller.breakers.states()
    await caller.close()

    assert [(str(view.state), view.failures) for view in states] == [("open", 2)]


PROBES = ["/status/404", "/redirect", "/html/404", "/fine/x", "/fat-headers"]


@pytest.mark.parametrize("path", PROBES)
async def test_a_probe_answered_in_any_way_closes_the_breaker(
    caller: Caller, make_call: MakeCall, turn_id: TurnId, soon: datetime, path: str
) -> None:
    call = make_call(path)
    await _open(caller, call.endpoint.url)
    await asyncio.sleep(0.55)
    await caller.call(call, turn_id=turn_id, deadline=soon)

    assert await caller.breakers.states() == []


async def test_a_cancelled_probe_makes_room_for_the_next(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    call = make_call("/slowish")
    await _open(caller, call.endpoint.url)
    await asyncio.sleep(0.55)
    probe = asyncio.create_task(caller.call(call, turn_id=turn_id, deadline=soon))
    await server.arrived.wait()
    probe.cancel()
    with pytest.raises(asyncio.CancelledError):
        await probe
    outcome = await caller.call(make_call("/slowish", index=1), turn_id=turn_id, deadline=soon)

    assert isinstance(outcome, CallSucceeded)


async def test_a_refused_probe_makes_room_for_the_next(
    clean_redis: aioredis.Redis, outcomes: OutcomeStore, make_call: MakeCall, turn_id: TurnId, soon: datetime
) -> None:
    strict = Caller.open(
        redis=clean_redis, keys=Keys(), settings=CallingSettings(breaker_cooldown_s=0.1), outcomes=outcomes
    )
    call = make_call("/fine/x")
    await _open(strict, call.endpoint.url)
    await asyncio.sleep(0.15)
    outcome = await strict.call(call, turn_id=turn_id, deadline=soon)
    after = await strict.breakers.admit(endpoint_address(call.endpoint.url), owner="next", probe_s=1)
    await strict.close()

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.REFUSED
    assert after.verdict is Pass.PROBE


async def _open(caller: Caller, url: str) -> None:
    for _ in range(5):
        await caller.breakers.report(endpoint_address(url), Admission(owner="t", verdict=Pass.GO), Verdict.FAILING)
