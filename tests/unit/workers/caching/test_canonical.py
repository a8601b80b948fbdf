"""Which calls may share a response: a table of pairs, each the same or different under a declared type."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.auth import UserTokenAuth
from schemas.calls import ApiCall
from schemas.endpoints import Endpoint, ParamSpec
from schemas.ids import chat_key
from workers.caching.canonical import Asker, is_cacheable, response_key

CHAT, OTHER_CHAT = chat_key("t", "one"), chat_key("t", "two")
EVERYBODY = Asker(chat=CHAT)


def param(kind: str, **more: Any) -> ParamSpec:
    return ParamSpec(name="p", type=kind, **more)


STRING, ENUM = param("string"), param("enum", enum=("EE", "LV"))
INTEGER, NUMBER, BOOLEAN = param("integer"), param("number"), param("boolean")
DATE, MOMENT = param("date"), param("datetime")
LIST = param("array", items=ParamSpec(name="i"))
NUMBERS = param("array", items=ParamSpec(name="i", type="integer"))
OBJECT = param("object", properties=(ParamSpec(name="n", type="integer", default=1), ParamSpec(name="s")))
ABSENT = object()

SAME = [
    (STRING, "Tartu", " Tartu "),
    (STRING, "Jõgeva", "Jo\u0303geva"),
    (INTEGER, 5, "5"),
    (INTEGER, 5, 5.0),
    (INTEGER, "5.0", 5),
    (INTEGER, "007", 7),
    (INTEGER, 2026, "2026"),
    (INTEGER, -3, "-3"),
    (INTEGER, 0, "-0"),
    (INTEGER, 100, "1e2"),
    (INTEGER, 12345678901234567890, "12345678901234567890"),
    (NUMBER, "1.50", 1.5),
    (NUMBER, 1, 1.0),
    (NUMBER, "0.1", 0.1),
    (NUMBER, "+2", 2),
    (BOOLEAN, True, "true"),
    (BOOLEAN, "False", False),
    (ENUM, "EE", "ee"),
    (ENUM, "Lv", " LV "),
    (param("string", enum=("day", "week")), "Day", "day"),
    (param("enum", enum=("1", "2")), 1, "1"),
    (DATE, "2026-01-01", "01.01.2026"),
    (DATE, "2026-1-1", "2026-01-01"),
    (DATE, "20260101", "2026-01-01"),
    (DATE, "2026-01-01T00:00:00", "2026-01-01"),
    (DATE, "1. 1. 2026", "2026-01-01"),
    (param("string", format="date"), "24.02.2026", "2026-02-24"),
    (MOMENT, "2026-01-01T12:00:00Z", "2026-01-01T14:00:00+02:00"),
    (MOMENT, "2026-01-01T12:00", "2026-01-01 12:00:00"),
    (NUMBERS, [1, 2], ["1", 2.0]),
    (OBJECT, {"n": 1, "s": "a"}, {"s": "a", "n": "1"}),
    (OBJECT, {"s": "a"}, {"n": 1, "s": "a"}),
    (param("integer", default=10), ABSENT, 10),
    (param("integer", default=10), ABSENT, "10"),
    (param("enum", enum=("EE", "LV"), default="EE"), ABSENT, "ee"),
    (param("date", default="2026-01-01"), ABSENT, "1.1.2026"),
]
DIFFERENT = [
    (STRING, "007", "7"),
    (STRING, "0012", "12"),
    (STRING, "5", "5.0"),
    (STRING, "Ee", "ee"),
    (STRING, "Tamm", "tamm"),
    (STRING, "mW", "MW"),
    (STRING, "New York", "new york"),
    (STRING, "true", "True"),
    (STRING, "1.50", "1.5"),
    (STRING, "2026-01-01", "01.01.2026"),
    (STRING, "", ABSENT),
    (STRING, None, ABSENT),
    (STRING, "null", ABSENT),
    (STRING, "a b", "a  b"),
    (INTEGER, 5, 6),
    (INTEGER, "٣", 3),
    (INTEGER, "²", 2),
    (INTEGER, True, 1),
    (INTEGER, 9007199254740993, 9007199254740992),
    (NUMBER, 0.1, 0.10000001),
    (NUMBER, "NaN", 0),
    (NUMBER, "1,5", 1.5),
    (BOOLEAN, True, False),
    (BOOLEAN, True, 1),
    (BOOLEAN, "yes", True),
    (ENUM, "EE", "LV"),
    (ENUM, "XX", "xx"),
    (param("enum", enum=("a", "A", "b")), "a", "A"),
    (DATE, "2026-01-02", "2026-02-01"),
    (DATE, "1/2/2026", "2026-02-01"),
    (DATE, "30.02.2026", "2026-03-02"),
    (DATE, "2026-01-01T23:00:00", "2026-01-01"),
    (MOMENT, "2026-01-01T12:00:00", "2026-01-01T12:00:00Z"),
    (MOMENT, "2026-01-01T12:00:00Z", "2026-01-01T12:00:01Z"),
    (LIST, ["a", "b"], ["b", "a"]),
    (LIST, ["a"], ["a", "a"]),
    (LIST, ["a,b"], ["a", "b"]),
    (LIST, [], ABSENT),
    (LIST, ["1"], ["01"]),
    (OBJECT, {"s": "a"}, {"s": "b"}),
    (OBJECT, {"n": 1}, {"n": 2}),
    (OBJECT, {"s": "1"}, {"s": 1}),
    (param("integer", default=10), ABSENT, 11),
    (param("integer", default=10), ABSENT, None),
    (param("integer"), ABSENT, 0),
]


def an_endpoint(*params: ParamSpec, **more: Any) -> Endpoint:
    given_ = {
        "endpoint_id": "e1",
        "tenant": "t",
        "name": "holidays",
        "description": "d",
        "url": "https://a.ee/h",
    } | more
    return Endpoint(params=params, **given_)


def key(endpoint: Endpoint, asker: Asker = EVERYBODY, **arguments: Any) -> str | None:
    return response_key(ApiCall(call_id="c", index=0, endpoint=endpoint, arguments=arguments), asker)


def key_of(spec: ParamSpec, value: Any) -> str | None:
    return key(an_endpoint(spec)) if value is ABSENT else key(an_endpoint(spec), p=value)


def named(pairs: list[tuple[ParamSpec, Any, Any]]) -> pytest.MarkDecorator:
    ids = [f"{spec.type} {a!r} {b!r}".replace(repr(ABSENT), "absent") for spec, a, b in pairs]
    return pytest.mark.parametrize(("spec", "one", "other"), pairs, ids=ids)


@named(SAME)
def test_these_mean_the_same_call(spec: ParamSpec, one: Any, other: Any) -> None:
    assert key_of(spec, one) == key_of(spec, other)


@named(DIFFERENT)
def test_these_mean_different_calls(spec: ParamSpec, one: Any, other: Any) -> None:
    assert key_of(spec, one) != key_of(spec, other)


def test_the_order_of_arguments_and_undeclared_ones_do_not_matter() -> None:
    endpoint = an_endpoint(ParamSpec(name="a"), ParamSpec(name="b"))
    assert key(endpoint, a="1", b="2") == key(endpoint, b="2", a="1", stray="x")
    assert key(endpoint, a="1", b="2") != key(endpoint, a="2", b="1")


@pytest.mark.parametrize(
    "change",
    [{"tenant": "u"}, {"endpoint_id": "e2"}, {"version": 2}, {"url": "https://test.a.ee/h"}, {"method": "POST"}],
    ids=["another tenant", "another endpoint of the same name", "a new version", "another address", "another method"],
)
def test_another_endpoint_misses(change: dict[str, Any]) -> None:
    assert key(an_endpoint(STRING), p="x") != key(an_endpoint(STRING, **change), p="x")


def test_a_name_is_no_part_of_the_key() -> None:
    assert key(an_endpoint(STRING), p="x") == key(an_endpoint(STRING, name="public_holidays"), p="x")


def a_person(token_name: str) -> Asker:
    return Asker(chat=CHAT, user_token_name=token_name)


def test_a_response_to_a_persons_own_token_is_that_persons() -> None:
    endpoint = an_endpoint(STRING, auth=UserTokenAuth())
    of_a, of_b = key(endpoint, a_person("token-a"), p="x"), key(endpoint, a_person("token-b"), p="x")
    assert of_a
    assert of_a == key(endpoint, a_person("token-a"), p="x")
    assert of_a != of_b
    assert key(endpoint, a_person(""), p="x") is None


def test_a_token_that_is_not_passed_on_does_not_matter() -> None:
    assert key(an_endpoint(STRING), a_person("token-a"), p="x") == key(an_endpoint(STRING), a_person("b"), p="x")


@pytest.mark.parametrize(
    "value",
    ["37605030299", "4111 1111 1111 1111", "EE382200221020145685", "mari@example.ee", "+372 5555 5555"],
    ids=["personal code", "card number", "IBAN", "mail address", "phone number"],
)
def test_arguments_that_name_a_person_are_kept_for_their_own_chat(value: str) -> None:
    endpoint = an_endpoint(STRING)
    assert key(endpoint, p=value) == key(endpoint, p=value)
    assert key(endpoint, p=value) != key(endpoint, Asker(chat=OTHER_CHAT), p=value)


@pytest.mark.parametrize("value", ["37605030298", "123ABC", "2026", "4111 1111 1111 1112", "10111"])
def test_an_ordinary_value_is_shared(value: str) -> None:
    assert key(an_endpoint(STRING), p=value) == key(an_endpoint(STRING), Asker(chat=OTHER_CHAT), p=value)


def test_private_endpoints_and_trials_are_kept_for_their_own_chat() -> None:
    private = an_endpoint(STRING, visibility="private")
    assert key(private, p="x") != key(private, Asker(chat=OTHER_CHAT), p="x")
    trial, other = (Asker(chat=chat, environment="test") for chat in (CHAT, OTHER_CHAT))
    assert len({key(an_endpoint(STRING), who, p="x") for who in (EVERYBODY, trial, other)}) == 3


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, True),
        ({"method": "POST"}, False),
        ({"method": "PUT"}, False),
        ({"method": "DELETE"}, False),
        ({"method": "POST", "cacheable": True}, True),
        ({"cacheable": False}, False),
        ({"cache_ttl_seconds": 0}, False),
        ({"requires_approval": True}, False),
    ],
)
def test_only_get_is_kept_unless_declared(more: dict[str, Any], *, expected: bool) -> None:
    assert is_cacheable(an_endpoint(**more)) is expected


@given(st.text(max_size=20), st.text(max_size=20))
def test_two_texts_share_a_key_only_if_they_differ_by_blanks_or_spelling(one: str, other: str) -> None:
    import unicodedata

    same = unicodedata.normalize("NFC", one).strip() == unicodedata.normalize("NFC", other).strip()
    assert (key_of(STRING, one) == key_of(STRING, other)) is same


@given(st.integers(min_value=-(10**12), max_value=10**12), st.integers(min_value=-(10**12), max_value=10**12))
def test_two_numbers_share_a_key_only_if_they_are_equal(one: int, other: int) -> None:
    assert (key_of(NUMBER, one) == key_of(NUMBER, str(other))) is (one == other)


def test_the_table_is_long_enough() -> None:
    assert len(SAME) + len(DIFFERENT) >= 60
