"""Bodies, constants, environments, idempotency headers and check calls, as requests."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.calls import ApiCall
from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import Endpoint
from schemas.ids import chat_key, new_turn_id
from workers.calling.plan import check_call, in_environment, place, plan
from workers.calling.prepared import Part

TURN = new_turn_id(chat_key("default", "c"))


def a_call(arguments: dict[str, Any] | None = None, **endpoint: Any) -> ApiCall:
    given = {"endpoint_id": "e", "name": "n", "description": "d", "url": "https://a.ee/x", "method": "POST"} | endpoint
    return ApiCall(call_id=f"{TURN}:0", index=0, endpoint=Endpoint.model_validate(given), arguments=arguments or {})


@pytest.mark.parametrize(
    "declared", [{"body": "form"}, {"headers": {"Content-Type": "application/x-www-form-urlencoded"}}]
)
def test_a_form_repeats_the_key_of_a_list(declared: dict[str, Any]) -> None:
    request = place(a_call({"y": [1, 2]}, params=[{"name": "y", "type": "array"}], **declared))

    assert (request.form, request.json, request.multipart) == ((("y", "1"), ("y", "2")), None, None)


@pytest.mark.parametrize("declared", [{"body": "multipart"}, {"headers": {"Content-Type": "multipart/form-data"}}])
def test_a_multipart_body_has_parts_and_leaves_its_content_type_to_the_client(declared: dict[str, Any]) -> None:
    params = [{"name": "o", "type": "object"}, {"name": "doc", "format": "binary"}, {"name": "y", "type": "array"}]
    request = place(a_call({"o": {"a": 1}, "doc": "text", "y": ["1", "2"]}, params=params, **declared))

    assert request.multipart == (
        Part(name="o", text='{"a":1}', media_type="application/json"),
        Part(name="doc", text="text", file_name="doc"),
        Part(name="y", text="1"),
        Part(name="y", text="2"),
    )
    assert "content-type" not in {name.lower() for name, _ in request.headers}


def test_constants_go_where_they_are_declared_and_win_over_what_was_said() -> None:
    constants = [
        {"name": "lang", "value": "et"},
        {"name": "X-App", "value": "sb", "placement": "header"},
        {"name": "c", "value": 1, "placement": "cookie"},
        {"name": "kind", "value": {"a": [1]}, "placement": "body"},
    ]
    request = place(a_call({"kind": "mine", "q": 1}, params=[{"name": "kind"}, {"name": "q"}], constants=constants))

    assert request.query == (("lang", "et"),)
    assert request.json == {"kind": {"a": [1]}, "q": 1}
    assert {("X-App", "sb"), ("Cookie", "c=1")} <= set(request.headers)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://test.ee", "https://test.ee/v1/x/{id}?f={f}"),
        ("https://test.ee:8443/api/", "https://test.ee:8443/api/v1/x/{id}?f={f}"),
    ],
)
def test_an_environment_moves_the_scheme_and_the_host(base: str, url: str) -> None:
    endpoint = a_call(url="https://a.ee/v1/x/{id}?f={f}", base_urls={"test": base}).endpoint

    assert in_environment(endpoint, "test").url == url
    assert in_environment(endpoint, "production").url == endpoint.url


def test_a_plan_is_made_for_an_environment() -> None:
    endpoint = a_call(base_urls={"test": "http://t.ee"}).endpoint
    (call,) = plan(
        TURN, Collecting(endpoints=(EndpointProgress(endpoint=endpoint),), original_query="?"), environment="test"
    )

    assert call.endpoint.url == "http://t.ee/x"


@pytest.mark.parametrize("said", [{"idempotency_header": "X-Request-Id"}, {}])
def test_the_idempotency_key_goes_under_the_name_that_the_endpoint_declares(said: dict[str, str]) -> None:
    names = [name for name, _ in place(a_call(**said)).headers]

    assert names == [said.get("idempotency_header", "Idempotency-Key")]


def test_a_check_asks_the_same_host_with_the_same_key_and_only_what_its_path_names() -> None:
    call = a_call(
        {"nr": "a/b", "secret": "s"},
        url="https://a.ee/orders?x=1",
        params=[{"name": "nr"}, {"name": "secret"}],
        check="/orders/{nr}?key={idempotency_key}",
    )
    check = check_call(call)
    assert check is not None
    request = place(check)

    (key,) = [value for name, value in place(call).headers if name == "Idempotency-Key"]
    assert (request.method, request.url) == ("GET", "https://a.ee/orders/a%2Fb")
    assert request.query == (("key", key),)
    assert request.json is None
    assert check_call(a_call()) is None


def test_no_value_shows_in_the_repr_of_a_request() -> None:
    assert "Mari" not in repr(place(a_call({"who": "Mari"}, params=[{"name": "who"}])))
