from __future__ import annotations

import pytest

from schemas.base import JsonValue
from workers.calling.bodies import BodyTooDeep, BodyUnreadable, read_body

XML = b"""<?xml version="1.0" encoding="UTF-8"?>
<t:taxes xmlns:t="urn:x" year="2026">
<t:tax currency="EUR">12.5</t:tax><t:tax>7</t:tax><note/><who>\xc3\x95nne</who></t:taxes>"""
BOMB = b'<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><l>&b;</l>'
OUTSIDE = b'<!DOCTYPE l [<!ENTITY x SYSTEM "file:///etc/passwd">]><l>&x;</l>'


@pytest.mark.parametrize("kind", ["application/xml", "text/xml; charset=utf-8", "application/atom+xml"])
def test_xml_becomes_objects_lists_and_texts(kind: str) -> None:
    assert read_body(XML, kind) == {
        "taxes": {"@year": "2026", "tax": [{"@currency": "EUR", "#text": "12.5"}, "7"], "note": None, "who": "Õnne"}
    }


def test_xml_in_another_code_page_is_read_by_its_charset() -> None:
    body = '<?xml version="1.0" encoding="windows-1251"?><a>Налог</a>'.encode("windows-1251")

    assert read_body(body, "text/xml; charset=windows-1251") == {"a": "Налог"}


@pytest.mark.parametrize("body", [b"<a><b></a>", b"<a>", b"no xml", BOMB, OUTSIDE, b"<a>&undeclared;</a>"])
def test_broken_xml_and_any_document_type_is_unreadable(body: bytes) -> None:
    with pytest.raises(BodyUnreadable):
        read_body(body, "application/xml")


def test_xml_nested_too_deeply_is_told_from_broken_xml() -> None:
    with pytest.raises(BodyTooDeep):
        read_body(b"<a>" * 500 + b"</a>" * 500, "application/xml")


@pytest.mark.parametrize(
    ("kind", "text", "rows"),
    [
        ("text/csv", "a,b\r\n1,\r\n", [{"a": "1", "b": None}]),
        ("text/csv; charset=utf-8", 'nimi;summa\n"Tamm; Mari";12,50\n', [{"nimi": "Tamm; Mari", "summa": "12,50"}]),
        ("text/csv", 'a,b\n"x\ny","say ""hi"""\n', [{"a": "x\ny", "b": 'say "hi"'}]),
        ("text/tab-separated-values", "a,1\tb\n1\t2\n", [{"a,1": "1", "b": "2"}]),
        ("text/csv", "a,a,\n1,2,3,4\n5\n", [
            {"a": "1", "column 2": "2", "column 3": "3", "column 4": "4"},
            {"a": "5", "column 2": None, "column 3": None, "column 4": None},
        ]),
        ("text/csv", "a,b\n", []),
        ("application/csv", "\ufeffa,b\n1,2\n", [{"a": "1", "b": "2"}]),
    ],
)  # fmt: skip
def test_csv_becomes_rows_by_column(kind: str, text: str, rows: JsonValue) -> None:
    assert read_body(text.encode(), kind) == rows


def test_json_lines_are_a_list() -> None:
    assert read_body(b'{"a": 1}\n\n[2]\n', "application/x-ndjson") == [{"a": 1}, [2]]
