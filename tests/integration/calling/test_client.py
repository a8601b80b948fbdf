"""The client against a server that misbehaves on order: every ending is a value."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest

from schemas.calls import CallFailed, CallOutcome, CallSucceeded, FailureReason
from schemas.endpoints import ParamSpec
from tests.integration.calling.conftest import MakeCall
from tests.integration.calling.misbehaving import Misbehaving
from workers.calling.client import ApiClient
from workers.calling.egress import AllowList, EgressGuard
from workers.calling.plan import place
from workers.runtime.settings import CallingSettings

Send = Callable[..., Awaitable[Any]]

POST = {"method": "POST"}


@pytest.fixture
async def client(settings: CallingSettings) -> AsyncIterator[ApiClient]:
    opened = ApiClient(settings, EgressGuard(AllowList.parse("127.0.0.1")))
    yield opened
    await opened.aclose()


async def _nothing() -> None:
    return None


@pytest.fixture
def send(client: ApiClient, make_call: MakeCall) -> Send:
    async def _send(path: str, *, timeout_s: float = 0.5, **endpoint: object) -> CallOutcome:
        call = make_call(path, **endpoint)
        return await client.send(call, place(call), timeout_s=timeout_s, before_leaving=_nothing)

    return _send


ENDINGS = [
    ("/slow-headers", FailureReason.TIMED_OUT, FailureReason.UNKNOWN, 0),
    ("/slow-body", FailureReason.TIMED_OUT, FailureReason.UNKNOWN, 0),
    ("/reset", FailureReason.UNREACHABLE, FailureReason.UNKNOWN, 0),
    ("/hang-up", FailureReason.UNREACHABLE, FailureReason.UNKNOWN, 0),
    ("/garbage", FailureReason.UNREACHABLE, FailureReason.UNKNOWN, 0),
    ("/wrong-length", FailureReason.UNREACHABLE, FailureReason.UNKNOWN, 0),
    ("/status/502", FailureReason.SERVER_ERROR, FailureReason.UNKNOWN, 502),
    ("/status/504", FailureReason.SERVER_ERROR, FailureReason.UNKNOWN, 504),
    ("/html/200", FailureReason.SERVER_ERROR, FailureReason.UNKNOWN, 200),
    ("/status/500", FailureReason.SERVER_ERROR, FailureReason.SERVER_ERROR, 500),
    ("/status/503", FailureReason.SERVER_ERROR, FailureReason.SERVER_ERROR, 503),
    ("/status/408", FailureReason.TIMED_OUT, FailureReason.TIMED_OUT, 408),
    ("/status/422", FailureReason.CLIENT_ERROR, FailureReason.CLIENT_ERROR, 422),
    ("/rate-limited", FailureReason.RATE_LIMITED, FailureReason.RATE_LIMITED, 429),
    ("/redirect", FailureReason.REDIRECTED, FailureReason.REDIRECTED, 302),
    ("/status/304", FailureReason.REDIRECTED, FailureReason.REDIRECTED, 304),
    ("/bomb", FailureReason.TOO_LARGE, FailureReason.TOO_LARGE, 200),
    ("/endless", FailureReason.TOO_LARGE, FailureReason.TOO_LARGE, 200),
    ("/fat-headers", FailureReason.TOO_LARGE, FailureReason.TOO_LARGE, 200),
    ("/endless-headers", FailureReason.TOO_LARGE, FailureReason.TOO_LARGE, 0),
]


@pytest.mark.parametrize(("path", "reason", "_of_post", "status"), ENDINGS, ids=[row[0] for row in ENDINGS])
async def test_a_repeatable_call_ends_with_the_reason(
    send: Send, path: str, reason: FailureReason, _of_post: object, status: int
) -> None:
    outcome = await send(path, timeout_s=2.0 if reason is FailureReason.TOO_LARGE else 0.5)

    assert isinstance(outcome, CallFailed)
    assert (outcome.reason, outcome.status) == (reason, status)


@pytest.mark.parametrize(("path", "_of_get", "reason", "status"), ENDINGS, ids=[row[0] for row in ENDINGS])
async def test_a_post_that_may_have_been_obeyed_ends_as_unknown(
    send: Send, path: str, _of_get: object, reason: FailureReason, status: int
) -> None:
    outcome = await send(path, timeout_s=2.0 if reason is FailureReason.TOO_LARGE else 0.5, **POST)

    assert isinstance(outcome, CallFailed)
    assert (outcome.reason, outcome.status) == (reason, status)


@pytest.mark.parametrize(
    ("says", "fresh_s", "stale_s"),
    [
        ("no-store", 0.0, 0.0),
        ("max-age=60", 60.0, 0.0),
        ("max-age=60, stale-while-revalidate=5", 60.0, 5.0),
        ("public", None, 0.0),
    ],
)
async def test_what_an_api_allows_caches_is_noted(send: Send, says: str, fresh_s: float | None, stale_s: float) -> None:
    outcome = await send(f"/kept?says={quote(says)}", timeout_s=2.0)

    assert isinstance(outcome, CallSucceeded)
    assert (outcome.fresh_for_s, outcome.stale_for_s) == (fresh_s, stale_s)


async def test_a_post_to_a_closed_port_was_never_sent_and_is_not_unknown(send: Send) -> None:
    outcome = await send("http://127.0.0.1:9/x", **POST)

    assert outcome.reason is FailureReason.UNREACHABLE


async def test_a_name_that_does_not_resolve_is_unreachable(send: Send) -> None:
    assert (await send("http://no-such-host.invalid/x", timeout_s=3.0)).reason is FailureReason.UNREACHABLE


async def test_the_time_bound_covers_the_whole_answer_however_it_trickles(send: Send) -> None:
    started = time.monotonic()

    await send("/slow-body", timeout_s=0.4)

    assert time.monotonic() - started < 1.0


async def test_an_endless_stream_is_left_after_the_cap(
    send: Send, server: Misbehaving, settings: CallingSettings
) -> None:
    await send("/endless", timeout_s=5.0)

    slack = 8 * 1024 * 1024  # what the kernel buffers on both sides
    assert server.sent_blocks * 65536 < settings.max_response_bytes + slack


async def test_redirects_are_not_followed_and_credentials_stay(send: Send, server: Misbehaving) -> None:
    server.redirect_to = server.url("/fine/elsewhere")

    await send("/redirect", headers={"X-API-Key": "k-123456"})

    assert [request.target for request in server.seen] == ["/redirect"]


@pytest.mark.parametrize("how", ["gzip", "zlib", "raw"])
async def test_compressed_answers_are_read(send: Send, how: str) -> None:
    assert (await send(f"/packed/{how}")).body == {"packed": True}


@pytest.mark.parametrize("path", ["/no-content", "/empty"])
async def test_an_answer_without_a_body_succeeds_with_none(send: Send, path: str) -> None:
    outcome = await send(path, **POST)

    assert isinstance(outcome, CallSucceeded)
    assert outcome.body is None


@pytest.mark.parametrize("path", ["/cyrillic/declared", "/cyrillic/undeclared"])
async def test_other_charsets_are_decoded_as_declared_or_detected(send: Send, path: str) -> None:
    assert (await send(path)).body == "Налог на транспорт оплачен"


async def test_an_error_in_another_charset_is_kept_readable(send: Send) -> None:
    assert (await send("/latin-error")).body == "pole sõidukit"


async def test_a_problem_document_is_parsed_and_kept(send: Send) -> None:
    assert (await send("/status/422")).body == {"title": "no", "status": "422"}


@pytest.mark.parametrize("status", ["404", "500", "200"])
async def test_nothing_of_an_html_page_gets_into_the_outcome(send: Send, status: str) -> None:
    outcome = await send(f"/html/{status}")

    assert isinstance(outcome, CallFailed)
    assert outcome.body is None


async def test_the_wait_that_a_busy_api_asks_for_is_kept(send: Send) -> None:
    assert (await send("/rate-limited?wait=17")).retry_after_s == 17.0


async def test_cookies_of_one_answer_do_not_travel_with_the_next_call(send: Send) -> None:
    await send("/cookie")

    assert (await send("/cookie")).body == {"got": ""}


async def test_a_secret_that_the_api_echoes_is_blanked_out(send: Send) -> None:
    outcome = await send("/fine/x", headers={"Authorization": "Bearer s3cr3t-token", "X-Lang": "et"})

    assert "s3cr3t-token" not in outcome.model_dump_json()
    assert outcome.body["headers"]["x-lang"] == "et"


async def test_path_values_keep_their_encoding_on_the_wire(send: Send, server: Misbehaving) -> None:
    params = (ParamSpec(name="id"), ParamSpec(name="q", type="array"), ParamSpec(name="on", type="boolean"))

    await send("/fine/{id}/x", params=params, arguments={"id": "a/b õ?&", "q": ["ä b", "c&d"], "on": True})

    assert server.seen[0].target == "/fine/a%2Fb%20%C3%B5%3F%26/x?q=%C3%A4%20b&q=c%26d&on=true"


async def test_a_body_of_a_post_is_json_with_real_types(send: Send, server: Misbehaving) -> None:
    params = (ParamSpec(name="query", type="object"), ParamSpec(name="n", type="number"))

    await send("/fine/x", params=params, arguments={"query": {"a": [1]}, "n": 2.5}, **POST)

    assert server.seen[0].body == b'{"query":{"a":[1]},"n":2.5}'
    assert server.seen[0].headers["content-type"] == "application/json"


async def test_a_form_is_sent_where_the_endpoint_says_so(send: Send, server: Misbehaving) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}

    await send(
        "/fine/x", params=(ParamSpec(name="q", type="array"),), arguments={"q": ["õ", "b c"]}, headers=form, **POST
    )

    assert server.seen[0].body == b"q=%C3%B5&q=b+c"


async def test_a_header_with_letters_beyond_ascii_arrives_as_utf8(send: Send) -> None:
    params = (ParamSpec(name="X-Name", placement="header"),)

    assert isinstance(await send("/fine/x", params=params, arguments={"X-Name": "Õnne"}), CallSucceeded)


async def test_what_before_leaving_raises_passes_through_and_nothing_is_sent(
    client: ApiClient, make_call: MakeCall, server: Misbehaving
) -> None:
    async def refuse() -> None:
        raise LookupError

    call = make_call("/fine/x", method="POST")
    with pytest.raises(LookupError):
        await client.send(call, place(call), timeout_s=1, before_leaving=refuse)

    assert server.seen == []


async def test_an_address_that_is_not_allowed_is_refused_before_connecting(
    settings: CallingSettings, make_call: MakeCall, server: Misbehaving
) -> None:
    strict = ApiClient(settings, EgressGuard(AllowList()))
    call = make_call("/fine/x")

    outcome = await strict.send(call, place(call), timeout_s=1, before_leaving=_nothing)
    await strict.aclose()

    assert outcome.reason is FailureReason.REFUSED
    assert server.seen == []


async def test_a_name_that_resolves_differently_the_second_time_gains_nothing(
    settings: CallingSettings, make_call: MakeCall, server: Misbehaving
) -> None:
    answers = iter(["127.0.0.1", "10.0.0.1", "10.0.0.1"])
    asked: list[str] = []

    async def rebinding(host: str, _port: int) -> tuple[str, ...]:
        asked.append(host)
        return (next(answers),)

    client = ApiClient(settings, EgressGuard(AllowList.parse("127.0.0.0/8"), resolve=rebinding))
    call = make_call(f"http://rebinding.test:{server.port}/fine/x")
    first = await client.send(call, place(call), timeout_s=1, before_leaving=_nothing)
    again = await client.send(call, place(call), timeout_s=1, before_leaving=_nothing)
    await client.aclose()

    # The first connection stands and is used again; nobody asked the resolver between check and connect.
    assert isinstance(first, CallSucceeded)
    assert isinstance(again, CallSucceeded)
    assert asked == ["rebinding.test"]
    assert server.seen[0].headers["host"] == f"rebinding.test:{server.port}"
