"""What an endpoint declares is what its API reads: each placement, style, body and method, as bytes on a socket."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import datetime
from email import message_from_bytes
from typing import Any

import pytest

from schemas.calls import CallFailed, CallOutcome, CallSucceeded, FailureReason
from schemas.conversations import Collecting, EndpointProgress
from schemas.ids import TurnId
from tests.integration.calling.conftest import MakeCall
from tests.integration.calling.misbehaving import Misbehaving, Seen
from workers.calling.caller import Caller
from workers.calling.plan import plan

Sent = Callable[..., Awaitable[Seen]]
LIST = ["blue", "black"]
OBJECT = {"R": 100, "G": 200}


@pytest.fixture
def sent(caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime) -> Sent:
    """Make a call that succeeds; return the request as the API read it."""

    async def send(path: str = "/fine/x", **call: Any) -> Seen:
        outcome = await caller.call(make_call(path, **call), turn_id=turn_id, deadline=soon)
        assert isinstance(outcome, CallSucceeded), outcome
        return server.seen[-1]

    return send


def a_param(value: object, **declared: Any) -> dict[str, Any]:
    """One parameter `c` of the value's type, and its value."""
    type_ = {list: "array", dict: "object"}.get(type(value), "string")
    return {"params": [{"name": "c", "type": type_, **declared}], "arguments": {"c": value}}


@pytest.mark.parametrize(
    ("value", "declared", "query"),
    [
        (LIST, {}, "c=blue&c=black"),
        (LIST, {"style": "form"}, "c=blue&c=black"),
        (LIST, {"style": "form", "explode": False}, "c=blue%2Cblack"),
        (LIST, {"style": "spaceDelimited", "explode": False}, "c=blue%20black"),
        (LIST, {"style": "pipeDelimited", "explode": False}, "c=blue%7Cblack"),
        (OBJECT, {"style": "form"}, "R=100&G=200"),
        (OBJECT, {"style": "form", "explode": False}, "c=R%2C100%2CG%2C200"),
        (OBJECT, {"style": "deepObject"}, "c%5BR%5D=100&c%5BG%5D=200"),
        (OBJECT, {}, "c=%7B%22R%22%3A100%2C%22G%22%3A200%7D"),
        ("õ & more", {}, "c=%C3%B5%20%26%20more"),
    ],
)
async def test_a_query_arrives_in_its_style(sent: Sent, value: object, declared: dict[str, Any], query: str) -> None:
    request = await sent(**a_param(value, **declared))

    assert request.target.lower() == f"/fine/x?{query}".lower()


@pytest.mark.parametrize(
    ("value", "declared", "segment"),
    [
        ("a b/c", {}, "a%20b%2Fc"),
        (LIST, {"style": "simple"}, "blue,black"),
        (LIST, {"style": "label", "explode": True}, ".blue.black"),
        (OBJECT, {"style": "label"}, ".R,100,G,200"),
        (LIST, {"style": "matrix", "explode": True}, ";c=blue;c=black"),
        (OBJECT, {"style": "matrix"}, ";c=R,100,G,200"),
    ],
)
async def test_a_path_arrives_in_its_style(sent: Sent, value: object, declared: dict[str, Any], segment: str) -> None:
    request = await sent("/fine/{c}/end", **a_param(value, **declared))

    assert request.target == f"/fine/{segment}/end"


async def test_headers_and_cookies_arrive_beside_the_constants(sent: Sent) -> None:
    request = await sent(
        params=[
            {"name": "X-Trace", "type": "array", "placement": "header"},
            {"name": "session", "placement": "cookie"},
            {"name": "q", "placement": "query"},
        ],
        arguments={"X-Trace": LIST, "session": "a;b", "q": "x"},
        headers={"Accept-Language": "et"},
        constants=[
            {"name": "v", "value": 2},
            {"name": "X-App", "value": "sb", "placement": "header"},
            {"name": "theme", "value": "dark", "placement": "cookie"},
        ],
    )

    assert request.headers["x-trace"] == "blue,black"
    assert request.headers["x-app"] == "sb"
    assert request.headers["accept-language"] == "et"
    assert sorted(request.headers["cookie"].split("; ")) == ["session=a%3Bb", "theme=dark"]
    assert sorted(request.target.partition("?")[2].split("&")) == ["q=x", "v=2"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_method_without_a_body_carries_its_values_in_the_query(sent: Sent, method: str) -> None:
    request = await sent(method=method, **a_param("x"))

    assert (request.method, request.target, request.body) == (method, "/fine/x?c=x", b"")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
async def test_a_method_with_a_body_carries_json_with_its_types_and_constants(sent: Sent, method: str) -> None:
    params = [{"name": "on", "type": "boolean"}, {"name": "n", "type": "number"}, {"name": "tags", "type": "array"}]
    constants = [{"name": "channel", "value": {"id": 7}, "placement": "body"}]
    request = await sent(
        method=method, params=params, arguments={"on": False, "n": 2.5, "tags": LIST}, constants=constants
    )

    assert request.method == method
    assert json.loads(request.body) == {"on": False, "n": 2.5, "tags": LIST, "channel": {"id": 7}}
    # What may not be repeated carries a key; PUT may.
    assert ("idempotency-key" in request.headers) == (method != "PUT")


async def test_a_multipart_body_is_read_by_a_parser_of_mail(sent: Sent) -> None:
    params = [{"name": "who", "type": "object"}, {"name": "doc", "format": "binary"}, {"name": "tags", "type": "array"}]
    request = await sent(
        method="POST",
        body="multipart",
        params=params,
        arguments={"who": {"a": 1}, "doc": "õ\r\n--x", "tags": LIST},
    )

    mail = message_from_bytes(f"Content-Type: {request.headers['content-type']}\r\n\r\n".encode() + request.body)
    parts = [
        (part.get_param("name", header="content-disposition"), part.get_payload(decode=True), part.get_content_type())
        for part in mail.get_payload()
        if not isinstance(part, str)
    ]
    assert [(name, body) for name, body, _ in parts] == [
        ("who", b'{"a":1}'),
        ("doc", "õ\r\n--x".encode()),
        ("tags", b"blue"),
        ("tags", b"black"),
    ]
    assert parts[0][2] == "application/json"


async def test_parameters_that_are_named_like_our_own_fields_are_values_and_never_the_schema(
    sent: Sent, make_call: MakeCall, turn_id: TurnId
) -> None:
    names = ("params", "call_params", "url", "method", "headers", "type", "auth", "name", "self")
    params = [{"name": name, "required": True, "description": f"schema of {name}"} for name in names]
    values = {name: f"value of {name}" for name in names}
    endpoint = make_call("/fine/x", method="POST", params=params).endpoint
    (planned,) = plan(
        turn_id,
        Collecting(
            endpoints=(EndpointProgress(endpoint=endpoint, values={**values, "stranger": "x"}),), original_query="q"
        ),
    )
    request = await sent(method="POST", params=params, arguments=planned.arguments)

    assert json.loads(request.body) == values
    assert b"schema of" not in request.body


async def test_an_environment_is_another_address(
    sent: Sent, make_call: MakeCall, server: Misbehaving, turn_id: TurnId
) -> None:
    endpoint = make_call("https://api.example.ee/v1?k=1", base_urls={"test": server.url("/fine")}).endpoint
    collected = Collecting(endpoints=(EndpointProgress(endpoint=endpoint),), original_query="q")
    (tested,) = plan(turn_id, collected, environment="test")
    (live,) = plan(turn_id, collected, environment="production")

    assert (await sent(tested.endpoint.url)).target == "/fine/v1?k=1"
    assert live.endpoint.url == "https://api.example.ee/v1?k=1"


async def test_the_key_of_a_call_arrives_under_the_declared_name_and_is_the_same_each_time(
    sent: Sent, turn_id: TurnId
) -> None:
    first = await sent(method="POST", idempotency_header="X-Request-Key")
    other = await sent(method="POST", idempotency_header="X-Request-Key", index=1)

    assert "idempotency-key" not in first.headers
    assert len(first.headers["x-request-key"]) == 32
    assert first.headers["x-request-key"] != other.headers["x-request-key"]
    assert turn_id not in first.headers["x-request-key"]


async def test_a_declared_idempotent_post_is_tried_again_under_one_key(
    caller: Caller, make_call: MakeCall, server: Misbehaving, turn_id: TurnId, soon: datetime
) -> None:
    outcome: CallOutcome = await caller.call(
        make_call("/status/503", method="POST", idempotent=True), turn_id=turn_id, deadline=soon
    )

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is FailureReason.SERVER_ERROR
    assert [request.method for request in server.seen] == ["POST"] * 3
    assert len({request.headers["idempotency-key"] for request in server.seen}) == 1
