"""What stays open after a call: the value its API named, if the person gave it."""

from __future__ import annotations

from schemas.base import JsonValue
from schemas.calls import ApiCall, CallFailed, CallOutcome, CallSucceeded, FailureReason
from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import Endpoint, ParamSpec
from schemas.ids import TurnId
from workers.calling.plan import plan
from workers.turn.reopening import reopen

TURN = TurnId("0123456789abcdef-0123456789abcdef")
TAX = Endpoint(
    endpoint_id="tax",
    name="tax",
    description="Tax",
    url="https://api.example.ee/tax",
    params=(
        ParamSpec(name="regNr", required=True),
        ParamSpec(name="year", type="integer", required=True, default=2026),
        ParamSpec(name="tags", type="array"),
    ),
)
FINE = TAX.model_copy(update={"endpoint_id": "fine", "name": "fine"})


def a_collection(*progresses: tuple[Endpoint, dict[str, JsonValue]]) -> Collecting:
    return Collecting(
        endpoints=tuple(EndpointProgress(endpoint=endpoint, values=values) for endpoint, values in progresses),
        original_query="q",
        turns=2,
        unmatched=("the rest",),
    )


def complaining_of(call: ApiCall, *names: str) -> CallOutcome:
    body: JsonValue = {"errors": [{"field": name, "message": f"no {name}"} for name in names]}
    return CallFailed(call_id=call.call_id, reason=FailureReason.CLIENT_ERROR, status=422, body=body)


def good(call: ApiCall) -> CallOutcome:
    return CallSucceeded(call_id=call.call_id, status=200)


def test_only_the_named_value_is_taken_out_and_the_questions_go_on_counting() -> None:
    collecting = a_collection((TAX, {"regNr": "1", "tags": ["a", {"b": 1}]}))
    (call,) = plan(TURN, collecting)

    left = reopen(collecting, [(call, complaining_of(call, "regNr"))])

    assert left is not None
    (progress,) = left.collecting.endpoints
    assert progress.values == {"tags": ["a", {"b": 1}]}
    assert progress.missing == ("regNr",)
    assert left.collecting.turns == 2
    assert left.reasons == {call.call_id: ("no regNr",)}


def test_an_optional_value_that_was_given_is_missing_again_too() -> None:
    collecting = a_collection((TAX, {"regNr": "1", "tags": ["a"]}))
    (call,) = plan(TURN, collecting)

    left = reopen(collecting, [(call, complaining_of(call, "tags"))])

    assert left is not None
    assert left.collecting.endpoints[0].missing == ("tags",)


def test_a_value_that_nobody_gave_reopens_nothing() -> None:
    collecting = a_collection((TAX, {"regNr": "1"}))
    (call,) = plan(TURN, collecting)

    assert reopen(collecting, [(call, complaining_of(call, "year", "tags", "unheardOf"))]) is None
    assert reopen(collecting, [(call, good(call))]) is None


def test_endpoints_that_were_answered_and_parts_that_were_told_leave_the_collection() -> None:
    collecting = a_collection((TAX, {"regNr": "1"}), (FINE, {"regNr": "1"}))
    first, second = plan(TURN, collecting)

    left = reopen(collecting, [(first, good(first)), (second, complaining_of(second, "regNr"))])

    assert left is not None
    assert [progress.endpoint.name for progress in left.collecting.endpoints] == ["fine"]
    assert left.collecting.unmatched == ()


def test_of_one_endpoint_asked_twice_the_right_one_reopens() -> None:
    collecting = a_collection((TAX, {"regNr": "1"}), (TAX, {"regNr": "2"}))
    first, second = plan(TURN, collecting, environment="test")

    left = reopen(collecting, [(first, good(first)), (second, complaining_of(second, "regNr"))])

    assert left is not None
    assert left.reasons == {second.call_id: ("no regNr",)}
    assert len(left.collecting.endpoints) == 1
