from __future__ import annotations

import pytest

from schemas.base import JsonValue
from schemas.calls import ApiCall
from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import Endpoint, ParamSpec
from schemas.ids import chat_key, new_turn_id
from workers.calling.plan import CannotPlace, PreparedRequest, endpoint_address, place, plan, wire_text

TURN = new_turn_id(chat_key("default", "c"))


def an_endpoint(**changes: object) -> Endpoint:
    values: dict[str, object] = {
        "endpoint_id": "e1",
        "name": "thing",
        "description": "A thing.",
        "url": "https://a.ee/x",
    }
    return Endpoint.model_validate(values | changes)


def request_of(arguments: dict[str, JsonValue], *params: ParamSpec, **endpoint: object) -> PreparedRequest:
    described = an_endpoint(params=params, **endpoint)
    return place(ApiCall(call_id=f"{TURN}:0", index=0, endpoint=described, arguments=arguments))


def collecting(*progress: EndpointProgress) -> Collecting:
    return Collecting(endpoints=progress, original_query="?")


def test_calls_keep_the_order_and_have_the_same_ids_each_time() -> None:
    both = collecting(
        EndpointProgress(endpoint=an_endpoint()), EndpointProgress(endpoint=an_endpoint(endpoint_id="e2"))
    )

    assert [(c.call_id, c.endpoint.endpoint_id) for c in plan(TURN, both)] == [(f"{TURN}:0", "e1"), (f"{TURN}:1", "e2")]
    assert plan(TURN, both) == plan(TURN, both)


def test_defaults_are_filled_and_nulls_and_strangers_left_out() -> None:
    endpoint = an_endpoint(params=[{"name": "lang", "default": "ET"}, {"name": "year"}, {"name": "q"}])
    (call,) = plan(TURN, collecting(EndpointProgress(endpoint=endpoint, values={"q": "x", "year": None, "evil": 1})))

    assert call.arguments == {"lang": "ET", "q": "x"}


def test_a_false_or_a_zero_that_was_said_is_not_replaced_by_the_default() -> None:
    endpoint = an_endpoint(params=[{"name": "on", "type": "boolean", "default": True}])
    (call,) = plan(TURN, collecting(EndpointProgress(endpoint=endpoint, values={"on": False})))

    assert call.arguments == {"on": False}


def test_the_same_call_twice_is_made_once_but_true_is_not_one() -> None:
    endpoint = an_endpoint(params=[{"name": "v", "type": "object"}])
    said: list[JsonValue] = [1, True, 1]
    calls = plan(TURN, collecting(*(EndpointProgress(endpoint=endpoint, values={"v": v}) for v in said)))

    assert [call.arguments["v"] for call in calls] == [1, True]
    assert [call.index for call in calls] == [0, 1]


@pytest.mark.parametrize(
    ("method", "where"), [("GET", "query"), ("DELETE", "query"), ("POST", "json"), ("PUT", "json"), ("PATCH", "json")]
)
def test_the_method_decides_where_values_go(method: str, where: str) -> None:
    request = request_of({"q": "x"}, ParamSpec(name="q"), method=method)

    assert request.method == method
    assert request.query == ((("q", "x"),) if where == "query" else ())
    assert request.json == ({"q": "x"} if where == "json" else None)


def test_a_declared_placement_wins_over_the_method() -> None:
    request = request_of(
        {"q": "x", "h": "õ", "c": "a;b", "b": 1},
        ParamSpec(name="q", placement="query"),
        ParamSpec(name="h", placement="header"),
        ParamSpec(name="c", placement="cookie"),
        ParamSpec(name="b", placement="body", type="integer"),
        method="PUT",
    )

    assert request.query == (("q", "x"),)
    assert request.headers == (("h", "õ"), ("Cookie", "c=a%3Bb"))
    assert request.json == {"b": 1}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("a/b", "/x/a%2Fb/y"),
        ("õ ?#%", "/x/%C3%B5%20%3F%23%25/y"),
        (7, "/x/7/y"),
        (True, "/x/true/y"),
        ([1, 2], "/x/1%2C2/y"),
        ("v1.2", "/x/v1.2/y"),
    ],
)
def test_path_values_are_encoded_whole(value: JsonValue, path: str) -> None:
    request = request_of({"id": value}, ParamSpec(name="id"), url="https://a.ee/x/{id}/y")

    assert request.url == f"https://a.ee{path}"
    assert request.query == ()


@pytest.mark.parametrize("value", ["", "  ", ".", "..", "../admin", "a/../b", "a\\..\\b", "a/.. /b", []])
def test_a_path_value_that_would_change_the_path_is_refused(value: JsonValue) -> None:
    with pytest.raises(CannotPlace):
        request_of({"id": value}, ParamSpec(name="id"), url="https://a.ee/x/{id}")


def test_a_path_placeholder_without_a_value_is_refused() -> None:
    with pytest.raises(CannotPlace):
        request_of({}, ParamSpec(name="id"), url="https://a.ee/x/{id}")


def test_a_path_parameter_without_a_placeholder_becomes_the_last_segment() -> None:
    request = request_of({"id": 1790}, ParamSpec(name="id", placement="path"), url="https://a.ee/initiatives/")

    assert request.url == "https://a.ee/initiatives/1790"


def test_one_value_cannot_smuggle_a_placeholder_of_another() -> None:
    request = request_of({"a": "{b}", "b": "x"}, ParamSpec(name="a"), ParamSpec(name="b"), url="https://a.ee/{a}/{b}")

    assert request.url == "https://a.ee/%7Bb%7D/x"


def test_the_urls_own_query_is_kept_and_filled_and_pairs_without_a_value_go() -> None:
    request = request_of(
        {"nr": "1&x=2"}, ParamSpec(name="nr"), ParamSpec(name="to"), url="https://a.ee/x?fmt=json&reg={nr}&to={to}"
    )

    assert request.url == "https://a.ee/x"
    assert request.query == (("fmt", "json"), ("reg", "1&x=2"))


def test_arrays_repeat_the_key_and_objects_are_json_not_python() -> None:
    request = request_of(
        {"y": [2025, 2026, None], "o": {"query": [1], "on": True}},
        ParamSpec(name="y", type="array"),
        ParamSpec(name="o", type="object"),
    )

    assert request.query == (("y", "2025"), ("y", "2026"), ("o", '{"query":[1],"on":true}'))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": [float("nan")]}, [float("-inf")]])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_numbers_that_are_none_are_refused_at_any_depth(value: JsonValue, method: str) -> None:
    with pytest.raises(CannotPlace):
        request_of({"n": value}, ParamSpec(name="n", type="number"), method=method)


@pytest.mark.parametrize("value", ["x\r\nX-Evil: 1", "x\ny", "x\x00y", "\x7f"])
def test_a_header_value_with_line_breaks_is_refused(value: str) -> None:
    with pytest.raises(CannotPlace):
        request_of({"X-A": value}, ParamSpec(name="X-A", placement="header"))


@pytest.mark.parametrize("name", ["bad: x\r\nX-Evil", "a b", "", "Host", "content-length", "Transfer-Encoding"])
def test_a_header_name_from_the_catalogue_is_checked_too(name: str) -> None:
    with pytest.raises(CannotPlace):
        request_of({}, headers={name: "x"})


def test_a_host_that_is_a_template_is_refused() -> None:
    with pytest.raises(CannotPlace):
        request_of({"env": "evil.com/"}, ParamSpec(name="env"), url="https://{env}.a.ee/x")


def test_a_form_is_made_where_the_content_type_says_so() -> None:
    request = request_of(
        {"q": ["a", "b"]},
        ParamSpec(name="q", type="array"),
        method="POST",
        headers={"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"},
    )

    assert request.form == (("q", "a"), ("q", "b"))
    assert request.json is None


def test_a_post_without_body_parameters_has_no_body_and_with_them_an_object() -> None:
    assert request_of({}, method="POST").json is None
    assert request_of({}, ParamSpec(name="q"), method="POST").json == {}


def test_a_post_carries_a_key_that_is_the_same_each_time_and_never_shows_the_turn() -> None:
    post, again = request_of({}, method="POST"), request_of({}, method="POST")
    key = dict(post.headers)["Idempotency-Key"]

    assert post.headers == again.headers
    assert TURN not in key
    assert request_of({}, method="GET").headers == ()
    assert request_of({}, method="PUT").headers == ()
    assert request_of({}, method="POST", idempotent=True).headers == post.headers


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("HTTPS://A.ee:8443/x/{id}?key=s#f", "https://a.ee:8443/x/{id}"),
        ("http://user:secret@a.ee/x", "http://a.ee/x"),
        ("http://a.ee", "http://a.ee"),
    ],
)
def test_an_endpoints_address_has_neither_query_nor_secrets(url: str, address: str) -> None:
    assert endpoint_address(url) == address


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (False, "false"), (3, "3"), (2.5, "2.5"), ("õ", "õ"), ({"a": "õ"}, '{"a":"õ"}')]
)
def test_values_are_written_as_the_web_writes_them(value: JsonValue, text: str) -> None:
    assert wire_text(value) == text


def test_a_body_that_is_one_value_is_sent_by_itself() -> None:
    users = ParamSpec(name="body", type="array", required=True, placement="body")

    assert request_of({"body": [1, 2]}, users, method="POST", body="value").json == [1, 2]
