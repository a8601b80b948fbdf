"""An answer with status 200 that is none: told by its plain form, or by the endpoint's own rule."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.base import JsonValue
from schemas.calls import FailureReason
from schemas.endpoints import SuccessRule
from schemas.registration import EndpointRegistration
from workers.calling.success import refusal_in

REFUSED, BROKEN = FailureReason.CLIENT_ERROR, FailureReason.SERVER_ERROR

BARE_ERRORS: list[tuple[JsonValue, FailureReason]] = [
    ({"error": "no such country"}, REFUSED),
    ({"error": {"code": 17, "message": "no such country"}}, REFUSED),
    ({"errors": ["name is missing"], "data": None}, REFUSED),
    ({"Error": "Bad date", "StatusCode": 400, "timestamp": "2026-12-02"}, REFUSED),
    ({"success": False, "message": "no such country"}, REFUSED),
    ({"ok": False, "error_code": 400}, REFUSED),
    ({"status": "error", "message": "no such country"}, REFUSED),
    ({"error": "down for repair", "status": 503}, BROKEN),
    ({"error": {"code": "500", "message": "internal"}}, BROKEN),
]


@pytest.mark.parametrize(("body", "reason"), BARE_ERRORS, ids=str)
def test_a_body_that_holds_nothing_but_an_error_is_a_failure(body: JsonValue, reason: FailureReason) -> None:
    assert refusal_in(body, None) is reason


@pytest.mark.parametrize(
    "body",
    [
        {"error": None, "items": []},
        {"error": None},
        {"errors": [], "data": {"a": 1}},
        {"error": "one of three failed", "items": [1, 2]},
        {"success": True, "message": "done"},
        {"ok": True},
        {"code": 0, "message": "ok"},
        {"status": "failed"},
        {"status": "error"},
        {"message": "hello"},
        {},
        [],
        [{"error": "x"}],
        "error",
        None,
        0,
        False,
    ],
    ids=str,
)
def test_anything_else_is_an_answer(body: JsonValue) -> None:
    assert refusal_in(body, None) is None


def test_a_problem_document_is_a_failure_whatever_its_status() -> None:
    assert refusal_in({"title": "No such thing"}, None, is_problem=True) is REFUSED
    assert refusal_in({"title": "Down", "status": 500}, None, is_problem=True) is BROKEN


RULES: list[tuple[dict[str, Any], JsonValue, bool]] = [
    ({"present": ("data.items",)}, {"data": {"items": []}}, True),
    ({"present": ("data.items",)}, {"data": None}, False),
    ({"present": ("data.items",)}, "text", False),
    ({"present": ("0.id",)}, [{"id": 1}], True),
    ({"absent": ("fault",)}, {"fault": "", "n": 1}, True),
    ({"absent": ("fault",)}, {"fault": {"why": "x"}, "n": 1}, False),
    ({"equals": {"state": "ok"}}, {"state": "ok"}, True),
    ({"equals": {"state": ["ok", "partial"]}}, {"state": "partial"}, True),
    ({"equals": {"state": ["ok", "partial"]}}, {"state": "gone"}, False),
    ({"equals": {"done": True}}, {"done": 1}, False),
    ({"equals": {"code": 0}}, {"code": False}, False),
    ({"equals": {"code": 0}}, {}, False),
]


@pytest.mark.parametrize(("rule", "body", "is_success"), RULES, ids=str)
def test_a_declared_rule_decides(rule: dict[str, Any], body: JsonValue, is_success: bool) -> None:  # noqa: FBT001
    assert (refusal_in(body, SuccessRule.model_validate(rule)) is None) is is_success


def test_a_declared_rule_goes_before_the_plain_form() -> None:
    log_of_errors: JsonValue = {"error": "the last error that was logged"}

    assert refusal_in(log_of_errors, SuccessRule(present=("error",))) is None
    assert refusal_in(log_of_errors, SuccessRule()) is None


def test_a_rule_is_registered_with_its_endpoint() -> None:
    given = {
        "name": "n", "description": "d", "url": "https://api.example.ee/n",
        "success": {"present": ["items"], "equals": {"state": "ok"}},
    }  # fmt: skip

    endpoint = EndpointRegistration.model_validate(given).to_endpoint("acme")

    assert endpoint.success == SuccessRule(present=("items",), equals={"state": ("ok",)})
