from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from starlette.exceptions import HTTPException

from api_shim.failures import ChatIsBusy, IndexRefused, InvalidRequest, body_as_json, error_body, new_error_id, told
from schemas.endpoints import LANGUAGES, Language
from schemas.failures import FailureCode, FieldError
from workers.errors import StoreUnavailable


@pytest.mark.parametrize(
    ("error", "status", "code", "retries"),
    [
        (InvalidRequest([]), 422, FailureCode.INVALID, False),
        (ChatIsBusy(), 409, FailureCode.BUSY, False),
        (StoreUnavailable("redis"), 503, FailureCode.UNAVAILABLE, True),
        (HTTPException(404), 404, FailureCode.NOT_FOUND, False),
        (HTTPException(405), 405, FailureCode.INVALID, False),
        (KeyError("ours"), 500, FailureCode.INTERNAL, False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
)
def test_each_failure_has_its_status_and_code(
    error: Exception, status: int, code: FailureCode, *, retries: bool
) -> None:
    how = told(error)

    assert (how.status, how.code, how.asks_to_retry) == (status, code, retries)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", FailureCode)
def test_every_code_has_a_sentence_in_each_language(code: FailureCode, language: Language) -> None:
    from api_shim.failures import sentence

    said = sentence(code, language, error_id="ERR-1")
    assert said
    assert "{" not in said


def test_an_error_id_can_be_read_out_and_names_its_moment() -> None:
    made = new_error_id(datetime(2026, 12, 1, 9, 5, 7, tzinfo=UTC))

    assert re.fullmatch(r"ERR-20261201-090507-[0-9A-F]{4}", made)


def test_fields_stand_only_where_there_are_some() -> None:
    plain = body_as_json(error_body(ChatIsBusy(), error_id="ERR-1", language="en"))
    fields = body_as_json(
        error_body(InvalidRequest([FieldError(path="a.0", message="m")]), error_id="ERR-1", language="en")
    )
    refused = body_as_json(error_body(IndexRefused("e", "taken"), error_id="ERR-1", language="en"))

    assert set(plain) == {"error", "error_id", "type"}
    assert fields["fields"] == [{"path": "a.0", "message": "m"}]
    assert refused["fields"] == [{"path": "endpointId", "message": "taken"}]
