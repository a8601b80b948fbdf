"""A call of unknown fate is asked after, and never sent again."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from schemas.calls import CallFailed, CallSucceeded, FailureReason
from schemas.endpoints import ParamSpec
from schemas.ids import TurnId
from tests.integration.calling.conftest import MakeCall
from tests.integration.calling.misbehaving import Misbehaving
from workers.calling import sending
from workers.calling.caller import Caller
from workers.calling.outcomes import OutcomeStore


@pytest.fixture(autouse=True)
def brief_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "CHECK_PAUSES_S", (0.0, 0.05, 0.05))


async def test_a_post_that_the_api_knows_of_has_succeeded(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    call = make_call("/order", method="POST", check="/order/kept/{idempotency_key}")
    outcome = await caller.call(call, turn_id=turn_id, deadline=soon)

    key = server.seen[0].headers["idempotency-key"]
    assert isinstance(outcome, CallSucceeded)
    assert outcome.body == {"order": key}
    assert [request.method for request in server.seen] == ["POST", "GET"]


async def test_a_post_that_the_api_keeps_denying_did_not_go_through(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    call = make_call("/order", method="POST", check="/order/lost/{idempotency_key}")
    outcome = await caller.call(call, turn_id=turn_id, deadline=soon)

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.TIMED_OUT
    assert [request.method for request in server.seen] == ["POST", "GET", "GET", "GET"]


@pytest.mark.parametrize("check", [None, "/status/500", "/status/403", "/redirect", "/order/lost/{never_given}"])
async def test_without_a_clear_word_the_fate_stays_unknown(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime, check: str | None
) -> None:
    call = make_call("/order", method="POST", check=check, params=(ParamSpec(name="never_given"),))
    outcome = await caller.call(call, turn_id=turn_id, deadline=soon)

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.UNKNOWN
    assert sum(request.method == "POST" for request in server.seen) == 1


async def test_no_time_left_leaves_the_fate_unknown(caller: Caller, make_call: MakeCall, turn_id: TurnId) -> None:
    call = make_call("/slow-headers", method="POST", check="/order/kept/1")
    outcome = await caller.call(call, turn_id=turn_id, deadline=datetime.now(UTC) + timedelta(seconds=0.3))

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.UNKNOWN


async def test_a_post_whose_worker_died_is_asked_after(
    caller: Caller, outcomes: OutcomeStore, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    call = make_call("/order", method="POST", check="/order/kept/{idempotency_key}")
    await outcomes.mark_sending(await outcomes.claim(turn_id, call.call_id, 5), 0.05)
    await asyncio.sleep(0.08)
    outcome = await caller.call(call, turn_id=turn_id, deadline=soon)

    assert isinstance(outcome, CallSucceeded)
    assert [request.method for request in server.seen] == ["GET"]
