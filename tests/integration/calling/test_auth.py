"""Credentials on real requests: where they go, where they never go, and what becomes of a call without them."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from schemas.calls import CallFailed, CallOutcome, CallSucceeded, FailureReason
from schemas.conversations import Collecting, EndpointProgress
from schemas.ids import TurnId
from tests.integration.calling.conftest import MakeCall
from tests.integration.calling.misbehaving import Misbehaving, running
from tests.integration.calling.prying import everything_in
from workers.calling.caller import Caller
from workers.calling.plan import plan
from workers.runtime.settings import CallingSettings

Ask = Callable[..., Awaitable[CallOutcome]]
SECRET = "s3cr3t/+=value"  # noqa: S105
BASIC = base64.b64encode(f"signalbox:{SECRET}".encode()).decode()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CallingSettings:
    (tmp_path / "key").write_text(f"{SECRET}\n")
    (tmp_path.parent / "outside").write_text("not yours")
    monkeypatch.setenv("SECRET_KEY", SECRET)
    monkeypatch.setenv("SECRET_EMPTY", "")
    monkeypatch.setenv("SECRET_BOUND", SECRET)
    monkeypatch.setenv("SECRET_HERE", SECRET)
    monkeypatch.setenv("LLM_API_KEY", "not an endpoint's to read")
    return CallingSettings(
        timeout_s=3,
        allowed_hosts="127.0.0.1,localhost",
        secrets_dir=tmp_path,
        secret_hosts="env:SECRET_BOUND=api.elsewhere.ee, env:SECRET_HERE=127.0.0.1",  # noqa: S106
        user_token_hosts="127.0.0.1",  # noqa: S106
    )


@pytest.fixture
def ask(caller: Caller, make_call: MakeCall, turn_id: TurnId, soon: datetime) -> Ask:
    """Make a call and return its outcome."""

    async def asked(path: str, *, user_token: SecretStr | None = None, **call: Any) -> CallOutcome:
        return await caller.call(make_call(path, **call), turn_id=turn_id, deadline=soon, user_token=user_token)

    return asked


@pytest.mark.parametrize("reference", ["env:SECRET_KEY", "file:key"])
@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        ({"kind": "bearer", "token": "{}"}, "authorization", f"Bearer {SECRET}"),
        ({"kind": "basic", "username": "signalbox", "password": "{}"}, "authorization", f"Basic {BASIC}"),
        ({"kind": "api_key", "name": "X-Key", "value": "{}"}, "x-key", SECRET),
        ({"kind": "api_key", "name": "k", "placement": "cookie", "value": "{}"}, "cookie", "k=s3cr3t%2F%2B%3Dvalue"),
    ],
    ids=["bearer", "basic", "header", "cookie"],
)
async def test_a_credential_goes_into_its_header_and_is_blanked_out_of_the_echo(
    ask: Ask,
    server: Misbehaving,
    auth: dict[str, str],
    header: str,
    value: str,
    reference: str,
) -> None:
    given = {key: reference if said == "{}" else said for key, said in auth.items()}
    with capture_logs() as logs:
        outcome = await ask("/fine/x", auth=given)

    assert server.seen[0].headers[header] == value
    assert isinstance(outcome, CallSucceeded)
    told = outcome.model_dump_json() + repr(logs)
    assert "***" in told
    assert not any(form in told for form in (SECRET, BASIC, "s3cr3t", value))


async def test_a_key_in_the_query_takes_the_place_of_anything_of_its_name(ask: Ask, server: Misbehaving) -> None:
    auth = {"kind": "api_key", "name": "key", "placement": "query", "value": "env:SECRET_KEY"}
    await ask("/fine/x?key=mine&a=1", auth=auth)

    assert server.seen[0].target == "/fine/x?a=1&key=s3cr3t%2F%2B%3Dvalue"


@pytest.mark.parametrize(
    "reference",
    [
        "env:SECRET_NONE",
        "env:SECRET_EMPTY",
        "env:LLM_API_KEY",
        "env:PATH",
        "file:none",
        "file:../outside",
        "file:/etc/passwd",
        "file:.",
        "env:SECRET_BOUND",
    ],
)
async def test_a_secret_that_is_not_there_or_not_to_be_read_sends_nothing(
    ask: Ask, server: Misbehaving, reference: str
) -> None:
    auth = {"kind": "bearer", "token": reference}
    outcome = await ask("/fine/x", method="POST", auth=auth)

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.AUTH_MISSING
    assert server.seen == []


@pytest.mark.parametrize(("host", "token"), [("127.0.0.1", None), ("127.0.0.1", ""), ("localhost", "mine")])
async def test_a_persons_token_goes_to_listed_hosts_only(
    ask: Ask, server: Misbehaving, host: str, token: str | None
) -> None:
    url = f"http://{host}:{server.port}/fine/x"
    own = None if token is None else SecretStr(token)
    outcome = await ask(url, auth={"kind": "user_token"}, user_token=own)

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.AUTH_MISSING
    assert server.seen == []


async def test_a_persons_token_is_passed_on_to_a_listed_host_and_kept_nowhere(
    ask: Ask,
    redis_url: str,
    server: Misbehaving,
) -> None:
    await ask("/fine/x", auth={"kind": "user_token"}, user_token=SecretStr("persons-own"))

    assert server.seen[0].headers["authorization"] == "Bearer persons-own"
    kept = everything_in(redis_url)
    assert "Bearer ***" in kept
    assert "persons-own" not in kept


@pytest.mark.parametrize(
    "auth",
    [
        {"kind": "bearer", "token": "env:SECRET_KEY"},
        {"kind": "basic", "username": "u", "password": "env:SECRET_KEY"},
        {"kind": "api_key", "name": "X-Key", "value": "env:SECRET_KEY"},
        {"kind": "api_key", "name": "k", "placement": "query", "value": "env:SECRET_KEY"},
        {"kind": "api_key", "name": "k", "placement": "cookie", "value": "env:SECRET_KEY"},
        {"kind": "user_token"},
    ],
    ids=lambda auth: "-".join(auth.values()) if isinstance(auth, dict) else None,
)
@pytest.mark.parametrize("is_same_host", [True, False])
async def test_no_credential_follows_a_redirect(
    ask: Ask,
    server: Misbehaving,
    auth: dict[str, str],
    is_same_host: bool,  # noqa: FBT001
) -> None:
    async with running() as elsewhere:
        server.redirect_to = (server if is_same_host else elsewhere).url("/fine/landed")
        outcome = await ask("/redirect", auth=auth, user_token=SecretStr("persons-own"))

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.REDIRECTED
    assert [request.target.partition("?")[0] for request in server.seen] == ["/redirect"]
    assert elsewhere.seen == []


async def test_a_bound_secret_goes_to_its_host_and_not_along_to_another_environment(
    ask: Ask, make_call: MakeCall, server: Misbehaving, turn_id: TurnId
) -> None:
    auth = {"kind": "bearer", "token": "env:SECRET_HERE"}
    moved = {"url": server.url("/fine/x"), "base_urls": {"test": f"http://localhost:{server.port}"}}
    endpoint = make_call("/fine/x", auth=auth).endpoint.model_copy(update=moved)
    progress = EndpointProgress(endpoint=endpoint)
    (tested,) = plan(turn_id, Collecting(endpoints=(progress,), original_query="q"), environment="test")

    at_home = await ask("/fine/x", auth=auth)
    elsewhere = await ask(tested.endpoint.url, index=1, auth=auth)

    assert isinstance(at_home, CallSucceeded)
    assert isinstance(elsewhere, CallFailed)
    assert elsewhere.reason is FailureReason.AUTH_MISSING
    assert len(server.seen) == 1


def oauth(server: Misbehaving, path: str, **more: str) -> dict[str, str]:
    ids = {"client_id": "signal box", "client_secret": "env:SECRET_KEY", "scope": "read write"}
    return {"kind": "client_credentials", "token_url": server.url(path), **ids, **more}


async def test_fifty_calls_at_once_fetch_one_token(ask: Ask, server: Misbehaving) -> None:
    auth = oauth(server, "/token/3600")
    outcomes = await asyncio.gather(*(ask("/fine/x", index=n, auth=auth, timeout_s=15) for n in range(50)))

    assert {outcome.kind for outcome in outcomes} == {"succeeded"}
    assert server.count("/token/3600") == 1
    fine = [request.headers["authorization"] for request in server.seen if request.target == "/fine/x"]
    assert fine == ["Bearer access-token-3600-1"] * 50


@pytest.mark.parametrize("client_in", ["header", "body"])
async def test_a_token_is_asked_for_as_rfc_6749_says(ask: Ask, server: Misbehaving, client_in: str) -> None:
    auth = oauth(server, "/token/3600", client_in=client_in)
    await ask("/fine/x", auth=auth)

    asked = server.seen[0]
    body = asked.body.decode()
    assert body.startswith("grant_type=client_credentials&scope=read+write")
    assert ("client_secret=s3cr3t%2F%2B%3Dvalue" in body) == (client_in == "body")
    basic = base64.b64encode(b"signal+box:s3cr3t%2F%2B%3Dvalue").decode()
    assert (asked.headers.get("authorization") == f"Basic {basic}") == (client_in == "header")


async def test_a_token_that_has_run_out_is_fetched_anew_and_one_that_lasts_is_not(
    ask: Ask, server: Misbehaving
) -> None:
    for index in range(2):
        for path in ("/token/0.2", "/token/3600"):
            await ask("/fine/x", index=2 * index + len(path), auth=oauth(server, path))
        await asyncio.sleep(0.25)

    assert (server.count("/token/0.2"), server.count("/token/3600")) == (2, 1)


async def test_a_token_that_the_api_no_longer_takes_is_renewed_once(ask: Ask, server: Misbehaving) -> None:
    outcome = await ask("/guarded", method="POST", auth=oauth(server, "/token/3600"))

    assert isinstance(outcome, CallSucceeded)
    assert server.count("/guarded") == 2


async def test_an_api_that_refuses_every_token_is_no_cause_to_ask_for_one_at_each_call(
    ask: Ask, server: Misbehaving
) -> None:
    ends = [await ask("/status/401", index=n, method="POST", auth=oauth(server, "/token/3600")) for n in range(5)]

    assert {one.status for one in ends} == {401}
    assert server.count("/status/401") == 6, "the first is tried with a renewed token"
    assert server.count("/token/3600") == 2


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/token/refused", FailureReason.AUTH_MISSING),
        ("/fine/no-token", FailureReason.AUTH_MISSING),
        ("/redirect", FailureReason.AUTH_MISSING),
        ("/status/503", FailureReason.SERVER_ERROR),
        ("/slow-headers", FailureReason.TIMED_OUT),
    ],
)
async def test_without_a_token_the_call_is_not_sent_and_says_why(
    ask: Ask,
    server: Misbehaving,
    path: str,
    reason: FailureReason,
) -> None:
    outcome = await ask("/fine/x", method="POST", auth=oauth(server, path))

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is reason
    assert server.count("/fine/x") == 0


async def test_an_authority_at_an_inner_address_is_refused(ask: Ask, server: Misbehaving) -> None:
    auth = oauth(server, "/") | {"token_url": "http://169.254.169.254/token"}
    outcome = await ask("/fine/x", auth=auth)

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.REFUSED
    assert server.seen == []


async def test_who_waits_for_a_token_outlives_the_one_who_asked(ask: Ask, server: Misbehaving) -> None:
    auth = oauth(server, "/token/3600")
    asking = asyncio.ensure_future(ask("/fine/x", index=0, auth=auth))
    await server.arrived.wait()
    waiting = asyncio.ensure_future(ask("/fine/x", index=1, auth=auth))
    await asyncio.sleep(0.02)
    asking.cancel()

    assert isinstance(await waiting, CallSucceeded)
    assert server.count("/token/3600") == 1
