"""Bodies as APIs write them: the parameter that is meant, and the API's reason."""

from __future__ import annotations

import pytest

from schemas.base import JsonValue
from schemas.calls import CallFailed, FailureReason
from schemas.endpoints import Endpoint, ParamSpec
from workers.calling.complaints import REASON_LIMIT, Complaint, complaints

ENDPOINT = Endpoint(
    endpoint_id="e",
    name="n",
    description="d",
    url="https://a.ee",
    params=(
        ParamSpec(name="regNr", labels={"en": "registration number", "et": "registreerimisnumber"}),
        ParamSpec(name="valid_to"),
        ParamSpec(name="country"),
        ParamSpec(name="id"),
    ),
)


def read(
    body: JsonValue, *, status: int = 422, reason: FailureReason = FailureReason.CLIENT_ERROR
) -> list[tuple[str, str]]:
    failed = CallFailed(call_id="c", reason=reason, status=status, body=body)
    return [(complaint.param, complaint.reason) for complaint in complaints(failed, ENDPOINT)]


BODIES: dict[str, tuple[JsonValue, list[tuple[str, str]]]] = {
    "FastAPI": (
        {"detail": [{"loc": ["body", "regNr"], "msg": "field required", "type": "missing"}]},
        [("regNr", "field required")],
    ),
    "RFC 7807 invalid-params": (
        {"title": "Invalid", "invalid-params": [{"name": "valid_to", "reason": "must be in the future"}]},
        [("valid_to", "must be in the future")],
    ),
    "RFC 9457 pointers": (
        {"title": "Invalid", "errors": [{"detail": "must be a code", "pointer": "#/country"}]},
        [("country", "must be a code")],
    ),
    "ASP.NET": (
        {
            "title": "One or more validation errors",
            "errors": {"RegNr": ["is too long", "again"], "ValidTo": ["no date"]},
        },
        [("regNr", "is too long"), ("valid_to", "no date")],
    ),
    "Laravel": ({"message": "bad", "errors": {"valid_to": ["The date is over."]}}, [("valid_to", "The date is over.")]),
    "Spring": (
        {"status": 400, "errors": [{"field": "regNr", "defaultMessage": "size must be 6", "code": "Size"}]},
        [("regNr", "size must be 6")],
    ),
    "JSON:API": (
        {"errors": [{"source": {"pointer": "/data/attributes/valid-to"}, "title": "Invalid", "detail": "is over"}]},
        [("valid_to", "is over")],
    ),
    "Django REST": ({"country": ["Not a valid choice."], "other": ["?"]}, [("country", "Not a valid choice.")]),
    "one field": ({"error": {"param": "country", "message": "no such country"}}, [("country", "no such country")]),
    "dotted path": ({"violations": [{"propertyPath": "find.country", "message": "blank"}]}, [("country", "blank")]),
    "quoted in a text": (
        {"message": "Parameter 'country' is unknown; see regNr"},
        [("country", "Parameter 'country' is unknown; see regNr")],
    ),
    "plain text": ("valid to must not be in the past", [("valid_to", "valid to must not be in the past")]),
    "by its label": ("The registration number has a bad form.", [("regNr", "The registration number has a bad form.")]),
    "by its Estonian label": ("Vigane registreerimisnumber", [("regNr", "Vigane registreerimisnumber")]),
    "no field": ({"message": "Nothing was found"}, []),
    "a short name in a sentence": ("Your id card is needed", []),
    "a part of a word": ("The countryside is closed", []),
    "an undeclared field": ({"errors": [{"field": "admin", "message": "no"}]}, []),
    "empty": (None, []),
    "nonsense": ([1, [2, {"x": None}]], []),
}


@pytest.mark.parametrize(("body", "expected"), BODIES.values(), ids=BODIES)
def test_a_complaint_names_its_parameter_and_its_reason(body: JsonValue, expected: list[tuple[str, str]]) -> None:
    assert read(body) == expected


@pytest.mark.parametrize("reason", [FailureReason.SERVER_ERROR, FailureReason.RATE_LIMITED, FailureReason.UNKNOWN])
def test_only_a_client_error_is_a_complaint(reason: FailureReason) -> None:
    assert read({"errors": {"country": ["no"]}}, reason=reason) == []


@pytest.mark.parametrize("status", [200, 400, 404, 409, 422])
def test_a_status_that_another_value_may_mend_is_a_complaint(status: int) -> None:
    assert read({"errors": {"country": ["no"]}}, status=status) == [("country", "no")]


@pytest.mark.parametrize("status", [401, 403, 405, 415])
def test_a_status_that_no_value_would_mend_names_nothing(status: int) -> None:
    assert read({"errors": {"country": ["no"]}}, status=status) == []


def test_a_long_reason_is_cut_at_a_word_and_is_one_line() -> None:
    ((_, reason),) = read({"errors": {"country": ["word\n" * 200]}})

    assert len(reason) <= REASON_LIMIT
    assert reason.endswith("word…")


def test_a_deep_or_wide_body_ends_soon() -> None:
    deep: JsonValue = {"country": "no"}
    for _ in range(50):
        deep = {"x": deep}

    assert read(deep) == []
    assert read([{"field": f"f{n}", "message": "m"} for n in range(100_000)]) == []


def test_a_complaint_is_a_value() -> None:
    assert Complaint(param="a") == Complaint(param="a", reason="")
