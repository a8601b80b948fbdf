"""Failed calls, told honestly and without other people's internals."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.calls import FailureReason
from schemas.endpoints import LANGUAGES, Language
from tests.unit.workers.formatting.saying import failed
from workers.formatting.excuses import excuse, own_reason
from workers.messages.catalog import text

PROBLEM = {
    "type": "about:blank",
    "title": "Unprocessable content",
    "status": 422,
    "detail": "The registration number must look like 123ABC.",
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("reason", list(FailureReason))
def test_each_reason_has_its_sentence(reason: FailureReason, language: Language) -> None:
    assert excuse(failed(reason), language) == text(f"call.{reason}", language)


def test_the_apis_own_reason_is_quoted_after_a_client_error() -> None:
    said = excuse(failed(FailureReason.CLIENT_ERROR, body=PROBLEM, status=422), "et")

    assert said.endswith("Teenuse selgitus: „The registration number must look like 123ABC.“")


def test_only_client_errors_quote_the_api() -> None:
    assert excuse(failed(FailureReason.SERVER_ERROR, body=PROBLEM, status=500), "en") == text("call.server_error", "en")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (PROBLEM, "The registration number must look like 123ABC."),
        ({"errors": [{"field": "x", "message": "must be a date"}]}, "must be a date"),
        ({"error": {"message": "The year is too early."}}, "The year is too early."),
        ({"message": "No such station."}, "No such station."),
        ({"detail": [{"loc": ["query", "a"], "msg": "field required"}]}, "field required"),
        ("Card number is wrong", "Card number is wrong"),
        ({"message": "<b>Bad</b> date"}, "Bad date"),
        ({"title": "Unprocessable content"}, "Unprocessable content"),
    ],
)
def test_a_reason_is_found_where_apis_put_it(body: Any, reason: str) -> None:
    assert own_reason(body) == reason


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        [],
        42,
        {"error": "E1234"},
        {"error": "invalid_grant"},
        {"message": "java.lang.NullPointerException: Exception at Foo.bar(Foo.java:12)"},
        {"message": "Traceback (most recent call last): boom"},
        {"message": "select name from users where id = 7"},
        {"message": "cannot open /var/lib/app/config"},
        {"message": "host 10.0.0.7 refused the request"},
        {"message": "see https://evil.example/login to continue"},
        {"message": "your api_key abc is wrong"},
        {"message": "word " * 200},
        "<html><body><h1>Bad gateway page</h1></body></html>",
    ],
)
def test_what_people_should_not_see_is_kept_back(body: Any) -> None:
    assert own_reason(body) is None


def test_what_was_said_of_single_values_is_shown_instead_of_the_whole() -> None:
    said = excuse(failed(FailureReason.CLIENT_ERROR, body=PROBLEM, status=422), "en", reasons=["invalid", "too old"])

    assert said == f"{text('call.client_error', 'en')} It said: “invalid”; “too old”"


def test_reasons_that_tell_of_the_inside_of_a_server_are_left_out() -> None:
    said = excuse(failed(FailureReason.CLIENT_ERROR, status=422), "en", reasons=["ValueError at app.find(", "too old"])

    assert said.endswith("It said: “too old”")
