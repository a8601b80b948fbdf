from __future__ import annotations

import json

import pytest

from schemas.calls import CallSucceeded
from workers.calling.bodies import MAX_DEPTH, BodyTooDeep, BodyUnreadable, media_type, read_body, to_text

JSON = "application/json"


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON;charset=UTF-8",
        "application/problem+json",
        "application/hal+json; profile=x",
        "text/json",
        "text/plain",
        "application/octet-stream",
        "",
        "application/json; charset=no-such-charset",
        ";;;=",
    ],
)
def test_json_is_recognised_under_many_names(content_type: str) -> None:
    assert read_body('{"a": [1, "õ"]}'.encode(), content_type) == {"a": [1, "õ"]}


@pytest.mark.parametrize("data", [b"", b"  \r\n", b"\xef\xbb\xbf", b"\x00"])
def test_an_empty_body_is_none(data: bytes) -> None:
    assert read_body(data, JSON) is None


@pytest.mark.parametrize(
    ("data", "content_type", "text"),
    [
        ("õhtu".encode("iso-8859-1"), "text/plain; charset=iso-8859-1", "õhtu"),
        ("õhtu".encode("iso-8859-1"), "text/plain", "õhtu"),
        ("õhtu žanr šokk".encode("windows-1252"), "text/plain", "õhtu žanr šokk"),
        ("õhtu žanr šokk".encode("windows-1257"), "text/plain", "õhtu žanr šokk"),
        ("Привет, мир".encode("windows-1251"), "text/plain", "Привет, мир"),
        ("Привет".encode("koi8-r"), 'text/plain; charset="koi8-r"', "Привет"),
        ("Привет".encode(), "text/plain; charset=us-ascii", "Привет"),
        ("õhtu".encode("utf-16"), "text/plain", "õhtu"),
        ("õhtu".encode("utf-8-sig"), "text/plain; charset=utf-8", "õhtu"),
        (b"abc \xff\xfe\x81", "text/plain; charset=utf-8", None),
    ],
)
def test_text_is_decoded_by_mark_then_declaration_then_detection(
    data: bytes, content_type: str, text: str | None
) -> None:
    found = read_body(data, content_type)

    assert isinstance(found, str)
    assert text is None or found == text


@pytest.mark.parametrize(
    "charset", ["zlib", "hex", "rot13", "idna", "punycode", "unicode_escape", "undefined", "\x00", "utf_7"]
)
def test_codecs_that_are_no_charsets_are_ignored(charset: str) -> None:
    assert to_text("a\\u0041 õ".encode(), charset) == "a\\u0041 õ"


@pytest.mark.parametrize(
    "data", [b"<!DOCTYPE html><p>x", b"  <html>x", b"<!-- c -->\n<html>", b"<HEAD></HEAD>"], ids=repr
)
@pytest.mark.parametrize("content_type", ["text/html", JSON, "text/plain", ""])
def test_an_html_page_is_no_answer_whatever_it_is_called(data: bytes, content_type: str) -> None:
    with pytest.raises(BodyUnreadable):
        read_body(data, content_type)


@pytest.mark.parametrize(
    ("data", "content_type"),
    [
        (b"\x89PNG\r\n\x1a\n0000", "image/png"),
        (b"\xff\xd8\xff\xe0JFIF", "image/jpeg"),
        (b"PK\x03\x04\x14\x00\x08\x08word", "application/octet-stream"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\nstream\nx\x9c\x00\x01\x02", "application/pdf"),
        (b"\x00\x01\x02\x03 no type", ""),
    ],
    ids=["png", "jpeg", "zip", "pdf", "untyped"],
)
def test_bytes_that_are_no_text_are_not_read_out(data: bytes, content_type: str) -> None:
    with pytest.raises(BodyUnreadable):
        read_body(data, content_type)


def test_a_drawing_in_xml_and_coloured_text_are_still_text() -> None:
    assert read_body(b"<svg/>", "image/svg+xml") == "<svg/>"
    assert read_body(b"\x1b[31mred\x1b[0m", "text/plain") == "\x1b[31mred\x1b[0m"


@pytest.mark.parametrize("data", [b'{"a": ', b"{'error': 1}", b"[1, 2"])
def test_broken_json_is_told(data: bytes) -> None:
    with pytest.raises(BodyUnreadable):
        read_body(data, JSON)


def test_a_bare_word_called_json_is_text_and_text_that_only_looks_like_json_too() -> None:
    assert read_body(b"OK", JSON) == "OK"
    assert read_body(b"[not json]", "text/plain") == "[not json]"


def test_json_lines_become_a_list() -> None:
    assert read_body(b'{"a":1}\n\n{"a":2}\n', "application/x-ndjson") == [{"a": 1}, {"a": 2}]


def test_numbers_that_are_none_become_null() -> None:
    assert read_body(b'{"a": NaN, "b": [Infinity, -Infinity, 1]}', JSON) == {"a": None, "b": [None, None, 1]}


def test_large_whole_numbers_keep_every_digit() -> None:
    assert read_body(b'{"id": 12345678901234567890123}', JSON) == {"id": 12345678901234567890123}


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 5_000, 200_000])
@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")], ids=["lists", "objects"])
def test_nesting_beyond_the_limit_is_refused(depth: int, begin: str, end: str) -> None:
    with pytest.raises(BodyTooDeep):
        read_body(f"{begin * depth}1{end * depth}".encode(), JSON)


def test_nesting_up_to_the_limit_survives_the_record() -> None:
    body = read_body(f"{'[' * MAX_DEPTH}1{']' * MAX_DEPTH}".encode(), JSON)
    outcome = CallSucceeded(call_id="c", status=200, body=body)

    assert CallSucceeded.model_validate_json(outcome.model_dump_json()) == outcome


def test_half_a_surrogate_pair_is_replaced_so_that_the_outcome_can_be_written() -> None:
    body = read_body(rb'{"a": "x\ud83dy", "b": "\ud83d\ude00"}', JSON)

    assert body == {"a": "x?y", "b": "😀"}
    CallSucceeded(call_id="c", status=200, body=body).model_dump_json()


def test_secrets_are_blanked_out() -> None:
    body = read_body(b'{"you sent": "Bearer s3cr3t"}', JSON, secrets=frozenset({"s3cr3t"}))

    assert json.dumps(body) == '{"you sent": "Bearer ***"}'


def test_a_charset_is_read_from_the_header_in_any_case() -> None:
    assert media_type('Text/Plain; Charset="UTF-8"').charset == "UTF-8"
    assert media_type("text/plain").charset is None


def test_of_an_html_page_the_title_is_told_to_the_log_without_secrets() -> None:
    page = b"<!doctype html><head><title lang=en>\n Sign in &amp; go on: s3cretValue \n</title></head><p>private"

    with pytest.raises(BodyUnreadable, match=r"^an HTML page: Sign in & go on: \*\*\*$"):
        read_body(page, "text/html", secrets=frozenset({"s3cretValue"}))
    with pytest.raises(BodyUnreadable, match="without a title"):
        read_body(b"<html><p>x", "")
