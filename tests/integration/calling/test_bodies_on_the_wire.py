"""Whatever an API sends as its answer ends as an outcome and as words: over a real socket, through the formatter."""

from __future__ import annotations

import asyncio
import codecs
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime

import pytest

from schemas.base import JsonValue
from schemas.calls import ApiCall, CallFailed, CallOutcome, CallSucceeded, FailureReason
from schemas.endpoints import LANGUAGES
from schemas.ids import TurnId
from tests.integration.calling.conftest import MakeCall
from workers.caching.freshness import kept_for_s
from workers.calling.caller import Caller
from workers.formatting.formatter import answer
from workers.messages.catalog import text

JSON = "application/json"
KROSS: JsonValue = {"author": "Kross"}
OPEN = "Сегодня открыто до вечера"
ROWS = [{"name": f"Library {number}", "books": 1_000 + number, "open": "9.00"} for number in range(4_000)]
TITLES = {"en": "books", "et": "raamatud", "ru": "книги"}
Ask = Callable[..., Awaitable[tuple[ApiCall, CallOutcome]]]


@pytest.fixture
async def ask(caller: Caller, make_call: MakeCall, turn_id: TurnId, soon: datetime) -> AsyncIterator[Ask]:
    """Let an API answer with these bytes under this content type; return the call and its outcome."""
    said: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said[-1])
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]

    async def asked(
        body: bytes, content_type: str, status: str = "200 OK", **endpoint: object
    ) -> tuple[ApiCall, CallOutcome]:
        kind = f"content-type: {content_type}\r\n" if content_type else ""
        said.append(f"HTTP/1.1 {status}\r\n{kind}content-length: {len(body)}\r\n\r\n".encode() + body)
        call = make_call(f"http://127.0.0.1:{port}/x", index=len(said), titles=TITLES, **endpoint)
        return call, await caller.call(call, turn_id=turn_id, deadline=soon)

    yield asked
    listener.close()


@pytest.mark.parametrize(
    ("sent", "content_type", "body", "said"),
    [
        (b'{"n":1}\n{"author":"Kross"}\n', "application/x-ndjson", [{"n": 1}, KROSS], "Kross"),
        (b"<book><author>Kross</author></book>", "application/xml", {"book": KROSS}, "Kross"),
        (b"author;year\r\nKross;1978\r\n", "text/csv", [{"author": "Kross", "year": "1978"}], "Kross"),
        ("Täna avatud".encode("cp1257"), "text/plain; charset=windows-1257", "Täna avatud", "Täna avatud"),
        (OPEN.encode("cp1251"), "text/plain; charset=utf-8", OPEN, "открыто"),
        (codecs.BOM_UTF8 + b'{"author":"Kross"}', JSON, KROSS, "Kross"),
        ('{"author":"Kross"}'.encode("utf-16"), JSON, KROSS, "Kross"),
        (b'{"author":"Kross","rating":NaN}', JSON, {"author": "Kross", "rating": None}, "Kross"),
        (b'{"a":{"b":{"c":{"author":"Kross"}}}}', JSON, {"a": {"b": {"c": KROSS}}}, "Kross"),
        (b"42", JSON, 42, "42"),
    ],
    ids=["json lines", "xml", "csv", "text", "wrong charset", "bom", "utf-16", "nan", "deep", "number"],
)  # fmt: skip
async def test_an_answer_is_read_and_said(ask: Ask, sent: bytes, content_type: str, body: JsonValue, said: str) -> None:
    call, outcome = await ask(sent, content_type)

    assert isinstance(outcome, CallSucceeded), outcome
    assert outcome.body == body
    assert said in answer("author?", [(call, outcome)], language="en")


@pytest.mark.parametrize(
    ("sent", "content_type", "reason"),
    [
        (b"<!doctype html><h1>Sign in</h1>", "text/html", FailureReason.SERVER_ERROR),
        (b'{"half": ', JSON, FailureReason.SERVER_ERROR),
        (b"[" * 50_000 + b"]" * 50_000, JSON, FailureReason.TOO_LARGE),
        (b"\x89PNG\r\n\x1a\n0000", "image/png", FailureReason.SERVER_ERROR),
    ],
    ids=["html page", "half a json", "50 000 levels", "picture"],
)
async def test_what_is_no_answer_is_a_failure_with_a_sentence_and_nothing_of_it_is_said(
    ask: Ask, sent: bytes, content_type: str, reason: FailureReason
) -> None:
    call, outcome = await ask(sent, content_type)

    assert isinstance(outcome, CallFailed)
    assert outcome.reason is reason
    for language in LANGUAGES:
        assert answer("?", [(call, outcome)], language=language) == text(f"call.{reason}", language)


@pytest.mark.parametrize(
    ("sent", "content_type"),
    [
        (b'{"error": "No such country."}', "application/json; charset=utf-8"),
        (b'{"title": "Bad Request", "detail": "No such country."}', "application/problem+json"),
    ],
)
async def test_an_error_with_status_200_is_a_failure_that_shows_the_apis_reason(
    ask: Ask, sent: bytes, content_type: str
) -> None:
    call, outcome = await ask(sent, content_type)

    assert isinstance(outcome, CallFailed)
    assert (outcome.reason, outcome.status) == (FailureReason.CLIENT_ERROR, 200)
    said = answer("?", [(call, outcome)], language="en")
    assert said.startswith(text("call.client_error", "en"))
    assert "No such country." in said


async def test_an_endpoint_may_declare_what_a_success_holds(ask: Ask) -> None:
    declared = {"success": {"equals": {"state": "ok"}}}

    _, refused = await ask(b'{"state": "gone", "items": [1]}', JSON, **declared)
    _, taken = await ask(b'{"state": "ok", "error": "old news"}', JSON, **declared)

    assert isinstance(refused, CallFailed)
    assert refused.reason is FailureReason.CLIENT_ERROR
    assert isinstance(taken, CallSucceeded)


@pytest.mark.parametrize(
    ("sent", "content_type", "is_whole"),
    [
        ("Täna avatud".encode(), "text/plain; charset=utf-8", True),
        ("Täna avatud".encode("cp1257"), "text/plain; charset=utf-8", True),
        (OPEN.encode("cp1251"), "text/plain", True),
        (codecs.BOM_UTF8 + "Täna avatud".encode("cp1257"), "text/plain", False),
        ('{"a": "T\ufffdna"}'.encode(), JSON, False),
    ],
)
async def test_what_could_not_be_decoded_whole_is_said_but_never_cached(
    ask: Ask,
    sent: bytes,
    content_type: str,
    is_whole: bool,  # noqa: FBT001 - a row of a table
) -> None:
    call, outcome = await ask(sent, content_type)

    assert isinstance(outcome, CallSucceeded)
    assert (kept_for_s(call, outcome, default_s=60.0) > 0) is is_whole


async def test_an_error_that_is_no_utf8_is_read_and_never_raises(ask: Ask) -> None:
    sent = '{"detail": "Riiki pole: Võru"}'.encode("latin-1")

    for content_type in ("application/json; charset=iso-8859-1", "application/json", "text/plain; charset=nonsense"):
        call, outcome = await ask(sent, content_type, status="404 Not Found")
        assert isinstance(outcome, CallFailed)
        assert "Riiki pole: Võru" in answer("?", [(call, outcome)], language="en")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_an_empty_204_is_an_accepted_request(ask: Ask, language: str) -> None:
    call, outcome = await ask(b"", "", status="204 No Content")

    assert isinstance(outcome, CallSucceeded)
    assert outcome.body is None
    assert answer("?", [(call, outcome)], language=language)  # type: ignore[arg-type] # a language of ours


async def test_of_a_list_beyond_the_cap_whole_rows_are_said_and_the_true_total(ask: Ask) -> None:
    sent = json.dumps(ROWS).encode()
    assert len(sent) > 100 * 1024
    call, outcome = await ask(sent, JSON)

    said = answer("How many books?", [(call, outcome)], language="en")

    assert "4,000" in said or "4000" in said
    assert "Library 0" in said
    assert "1,000" in said or "1000" in said
