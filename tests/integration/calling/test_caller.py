"""The order of guards on a real Redis and a real server."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from schemas.calls import CallFailed, CallSucceeded, FailureReason
from schemas.endpoints import ParamSpec
from schemas.ids import TurnId
from tests.integration.calling.conftest import MakeCall
from tests.integration.calling.misbehaving import Misbehaving
from workers.calling.caller import Caller
from workers.calling.outcomes import OutcomeStore
from workers.errors import StoreUnavailable
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import CallingSettings, RedisSettings


def within(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def test_an_outcome_is_recorded_and_a_second_delivery_calls_nobody(
    caller: Caller, outcomes: OutcomeStore, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    call = make_call("/fine/x", method="POST")
    first = await caller.call(call, turn_id=turn_id, deadline=soon)
    again = await caller.call(call, turn_id=turn_id, deadline=soon)

    assert isinstance(first, CallSucceeded)
    assert again == first == (await outcomes.all_of(turn_id))[call.call_id]
    assert len(server.seen) == 1


async def test_five_deliveries_at_once_send_one_post_and_agree(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    call = make_call("/slowish", method="POST")

    ended = await asyncio.gather(*(caller.call(call, turn_id=turn_id, deadline=soon) for _ in range(5)))

    assert len({outcome.model_dump_json() for outcome in ended}) == 1
    assert len(server.seen) == 1


async def test_a_get_is_tried_again_after_a_503(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    outcome = await caller.call(make_call("/recovering"), turn_id=turn_id, deadline=soon)

    assert isinstance(outcome, CallSucceeded)
    assert len(server.seen) == 2


async def test_a_post_is_never_tried_again_unless_declared_idempotent(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    once = await caller.call(make_call("/recovering", method="POST"), turn_id=turn_id, deadline=soon)
    seen = len(server.seen)
    declared = make_call("/status/503", index=1, method="POST", idempotent=True)
    await caller.call(declared, turn_id=turn_id, deadline=soon)

    assert isinstance(once, CallFailed)
    assert once.reason is FailureReason.SERVER_ERROR
    assert seen == 1
    assert server.count("/status/503") == 3


@pytest.mark.parametrize("path", ["/hang-up", "/slow-headers", "/reset", "/status/504"])
async def test_a_post_that_may_have_been_obeyed_is_unknown_and_sent_once(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime, path: str
) -> None:
    outcome = await caller.call(make_call(path, method="POST"), turn_id=turn_id, deadline=soon)

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.UNKNOWN
    assert len(server.seen) == 1


async def test_retry_after_is_honoured_when_the_deadline_allows(
    caller: Caller, make_call: MakeCall, turn_id: TurnId
) -> None:
    started = time.monotonic()
    outcome = await caller.call(make_call("/rate-limited?wait=1"), turn_id=turn_id, deadline=within(10))

    assert isinstance(outcome, CallSucceeded)
    assert time.monotonic() - started >= 1.0


async def test_a_wait_beyond_the_deadline_is_not_begun(caller: Caller, make_call: MakeCall, turn_id: TurnId) -> None:
    started = time.monotonic()
    outcome = await caller.call(make_call("/rate-limited?wait=60"), turn_id=turn_id, deadline=within(10))

    assert isinstance(outcome, CallFailed)
    assert (outcome.reason, outcome.retry_after_s) == (FailureReason.RATE_LIMITED, 60.0)
    assert time.monotonic() - started < 1.0


@pytest.mark.parametrize("path", ["/slow-headers", "/slow-body", "/endless"])
async def test_no_call_outlives_the_deadline(caller: Caller, make_call: MakeCall, turn_id: TurnId, path: str) -> None:
    started = time.monotonic()
    outcome = await caller.call(make_call(path, timeout_s=30), turn_id=turn_id, deadline=within(0.5))

    assert isinstance(outcome, CallFailed)
    assert time.monotonic() - started < 1.2


async def test_a_call_whose_deadline_has_passed_sends_nothing(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId
) -> None:
    outcome = await caller.call(make_call("/fine/x"), turn_id=turn_id, deadline=within(-1))

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.TIMED_OUT
    assert server.seen == []


@pytest.mark.parametrize(
    ("url", "method"),
    [
        ("http://169.254.169.254/latest/meta-data", "GET"),
        ("http://2852039166/", "GET"),
        ("http://[::ffff:10.0.0.1]/", "POST"),
        ("file:///etc/passwd", "GET"),
        ("http://a.ee@127.0.0.1/", "GET"),
        ("http://127.0.0.1:6379\\@a.ee/", "GET"),
        ("http://[::1/x", "GET"),
        ("no url at all", "POST"),
        (f"http://127.0.0.1/{'x' * 3900}{{id}}", "GET"),
    ],
)
async def test_an_inner_address_or_an_odd_url_is_refused_as_a_value(
    caller: Caller, make_call: MakeCall, turn_id: TurnId, soon: datetime, url: str, method: str
) -> None:
    outcome = await caller.call(make_call(url, method=method), turn_id=turn_id, deadline=soon)

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.REFUSED


@pytest.mark.parametrize("host", ["a..b", "xn--", "-", "a" * 300, "ä" * 80, "no-such-host.invalid", "[fe80::1%25lo]"])
async def test_a_host_that_cannot_be_is_a_failure_and_no_crash(
    caller: Caller, make_call: MakeCall, turn_id: TurnId, soon: datetime, host: str
) -> None:
    outcome = await caller.call(make_call(f"http://{host}/x", method="POST"), turn_id=turn_id, deadline=soon)

    assert isinstance(outcome, CallFailed)
    assert outcome.reason in (FailureReason.UNREACHABLE, FailureReason.REFUSED, FailureReason.TIMED_OUT)


async def test_a_value_that_cannot_be_placed_is_refused_as_a_value(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    call = make_call("/fine/{id}", params=(ParamSpec(name="id"),), arguments={"id": "../admin"})
    outcome = await caller.call(call, turn_id=turn_id, deadline=soon)

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.REFUSED
    assert server.seen == []


async def test_an_abandoned_get_is_called_again_and_an_abandoned_post_never(
    caller: Caller, outcomes: OutcomeStore, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    get, post = make_call("/fine/x", index=0), make_call("/fine/x", index=1, method="POST")
    for call in (get, post):
        await outcomes.mark_sending(await outcomes.claim(turn_id, call.call_id, 5), 0.05)
    await asyncio.sleep(0.08)

    got = await caller.call(get, turn_id=turn_id, deadline=soon)
    posted = await caller.call(post, turn_id=turn_id, deadline=soon)

    assert isinstance(got, CallSucceeded)
    assert isinstance(posted, CallFailed)
    assert posted.reason is FailureReason.UNKNOWN
    assert [request.method for request in server.seen] == ["GET"]


async def test_waiting_for_somebody_else_ends_with_the_deadline(
    caller: Caller, outcomes: OutcomeStore, make_call: MakeCall, turn_id: TurnId
) -> None:
    call = make_call("/fine/x", method="POST")
    await outcomes.mark_sending(await outcomes.claim(turn_id, call.call_id, 30), 30)
    started = time.monotonic()
    outcome = await caller.call(call, turn_id=turn_id, deadline=within(0.4))

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.UNKNOWN
    assert 0.3 < time.monotonic() - started < 1.0


async def test_a_cancelled_call_that_had_not_left_is_free_for_the_next_worker_at_once(
    caller: Caller, make_call: MakeCall, turn_id: TurnId, soon: datetime
) -> None:
    call = make_call("/slowish")
    task = asyncio.create_task(caller.call(call, turn_id=turn_id, deadline=soon))
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    started = time.monotonic()
    outcome = await caller.call(call, turn_id=turn_id, deadline=soon)

    assert isinstance(outcome, CallSucceeded)
    assert time.monotonic() - started < 1.0, "it did not wait for the lease to run out"


async def test_each_ending_is_counted_by_host(
    caller: Caller, make_call: MakeCall, turn_id: TurnId, soon: datetime
) -> None:
    def count(outcome: str) -> float:
        return REGISTRY.get_sample_value("signalbox_api_calls_total", {"host": "127.0.0.1", "outcome": outcome}) or 0.0

    before = count("unknown"), count("succeeded")
    await caller.call(make_call("/hang-up", index=0, method="POST"), turn_id=turn_id, deadline=soon)
    await caller.call(make_call("/fine/x", index=1), turn_id=turn_id, deadline=soon)

    assert (count("unknown"), count("succeeded")) == (before[0] + 1, before[1] + 1)


async def test_the_log_tells_the_ending_and_no_secret_value_or_body(
    caller: Caller, make_call: MakeCall, turn_id: TurnId, soon: datetime
) -> None:
    secret = "s3cr3t-token"  # noqa: S105
    call = make_call(
        f"/fine/x?api_key={secret}",
        headers={"Authorization": f"Bearer {secret}"},
        params=(ParamSpec(name="who"),),
        arguments={"who": "Mari Maasikas"},
    )
    with capture_logs() as logs:
        outcome = await caller.call(call, turn_id=turn_id, deadline=soon)
        for path in ("/status/500", "http://10.0.0.1/x"):
            await caller.call(
                make_call(f"{path}?api_key={secret}", index=len(path), headers={"X-Api-Key": secret}),
                turn_id=turn_id,
                deadline=soon,
            )

    finished = [line for line in logs if line["event"] == "call_finished"]
    assert [(line["outcome"], line["log_level"]) for line in finished] == [
        ("succeeded", "info"),
        ("server_error", "warning"),
        ("refused", "warning"),
    ]
    assert secret not in repr(logs)
    assert "Maasikas" not in repr(logs)
    assert secret not in outcome.model_dump_json()


async def test_a_redis_that_is_away_is_raised_and_nothing_is_sent(
    make_call: MakeCall, server: Misbehaving, settings: CallingSettings, turn_id: TurnId, soon: datetime
) -> None:
    client = async_client(RedisSettings(url="redis://127.0.0.1:1/0", socket_timeout_s=0.2))
    caller = Caller.open(redis=client, keys=Keys(), settings=settings, outcomes=OutcomeStore(client, Keys()))

    with pytest.raises(StoreUnavailable):
        await caller.call(make_call("/fine/x"), turn_id=turn_id, deadline=soon)
    await caller.close()
    await client.aclose()
    await client.connection_pool.disconnect()
    assert server.seen == []
