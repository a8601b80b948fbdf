"""The registration door: what it accepts, and how it names what it refuses."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import ValidationError

from schemas.endpoints import Endpoint
from schemas.registration import EndpointRegistration


def body(**changes: Any) -> dict[str, Any]:
    return {
        "endpointId": "a3f7c2d1-84e6-4b19-92f3-d51c7e890ab2",
        "serviceId": "s",
        "name": "get_national_holidays",
        "description": "Fetch national holidays for a country.",
        "method": "GET",
        "url": "https://openholidaysapi.org/PublicHolidays",
        "params": [{"name": "countryIsoCode", "type": "string", "required": True, "description": "ISO code"}],
    } | changes


def registered(**changes: Any) -> Endpoint:
    return EndpointRegistration.model_validate(body(**changes)).to_endpoint("acme")


def faults(**changes: Any) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        EndpointRegistration.model_validate(body(**changes))
    return [(".".join(str(part) for part in e["loc"]), e["msg"]) for e in caught.value.errors()]


def test_the_seeds_body_becomes_an_endpoint_of_the_tenant() -> None:
    endpoint = registered()

    assert (endpoint.endpoint_id, endpoint.tenant) == ("a3f7c2d1-84e6-4b19-92f3-d51c7e890ab2", "acme")
    assert endpoint.required[0].name == "countryIsoCode"


def test_snake_case_is_read_like_camel_case() -> None:
    camel = registered(cacheTtlSeconds=60, timeoutS=3, requiresApproval=True)
    snake = registered(cache_ttl_seconds=60, timeout_s=3, requires_approval=True)

    assert camel == snake
    assert (camel.cache_ttl_seconds, camel.timeout_s, camel.requires_approval) == (60, 3.0, True)


@pytest.mark.parametrize("encode", [json.dumps, lambda params: quote(json.dumps(params))], ids=["json", "url-encoded"])
def test_params_may_arrive_as_text(encode: Any) -> None:
    assert registered(params=encode(body()["params"])) == registered()


def test_an_encoded_plus_and_percent_in_params_survive() -> None:
    params = [{"name": "share", "description": "100 % + VAT"}]

    assert registered(params=quote(json.dumps(params))).params[0].description == "100 % + VAT"
    assert registered(params=json.dumps(params)).params[0].description == "100 % + VAT"


def test_a_parameter_keeps_its_place_its_options_and_its_parts() -> None:
    param = {
        "name": "where",
        "type": "object",
        "in": "body",
        "unknownField": 1,
        "properties": {"kind": {"type": "enum", "enum": ["a", {"value": 2, "labels": {"et": "kaks"}}]}},
        "required_properties": ["kind"],
    }

    where = registered(params=[param]).params[0]

    assert where.placement == "body"
    kind = where.properties[0]
    assert kind.required
    assert [option.value for option in kind.enum] == ["a", "2"]
    assert kind.enum[1].labels == {"et": "kaks"}


def test_seen_spellings_of_types_are_understood() -> None:
    spelled = [{"name": name, "type": name} for name in ("float", "int", "bool", "String")]

    assert [p.type for p in registered(params=spelled).params] == ["number", "integer", "boolean", "string"]


def test_an_array_names_the_type_of_its_items() -> None:
    short, long = registered(
        params=[
            {"name": "a", "type": "array", "items": "integer"},
            {"name": "b", "type": "array", "items": {"type": "float"}},
        ]
    ).params

    assert short.items is not None
    assert long.items is not None
    assert (short.items.type, long.items.type) == ("integer", "number")


def test_translations_are_gathered_from_both_spellings() -> None:
    endpoint = registered(
        description_et="Pühad", descriptionRu="Праздники", descriptions={"en": "Holidays"}, title_et="Pühad"
    )

    assert endpoint.descriptions == {"en": "Holidays", "et": "Pühad", "ru": "Праздники"}
    assert endpoint.titles == {"et": "Pühad"}


def test_examples_are_a_list_or_a_list_per_language() -> None:
    assert registered(examples=["When is Easter?"]).examples == {"en": ("When is Easter?",)}
    assert registered(examples={"et": ["Millal on jõulud?"], "ru": "Когда Пасха?"}).examples == {
        "et": ("Millal on jõulud?",),
        "ru": ("Когда Пасха?",),
    }


def test_a_missing_id_is_derived_from_tenant_name_and_url() -> None:
    first = registered(endpointId=None)

    assert first.endpoint_id == registered(endpointId="").endpoint_id
    assert first.endpoint_id != registered(endpointId=None, url="https://example.org/x").endpoint_id
    other = EndpointRegistration.model_validate(body(endpointId=None)).to_endpoint("other")
    assert first.endpoint_id != other.endpoint_id


def test_emoji_and_right_to_left_text_are_kept() -> None:
    assert registered(description="Pühad 🎉 חגים").description == "Pühad 🎉 חגים"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"method": "TRACE"}, "method"),
        ({"url": "openholidaysapi.org/PublicHolidays"}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"url": "https://a b.ee/"}, "url"),
        ({"url": "https://user:word@a.ee/"}, "url"),
        ({"url": "https://a.ee:99999/"}, "url"),
        ({"url": "https://a.ee:0/"}, "url"),
        ({"params": [{"name": "a"}, {"name": "a"}]}, "params"),
        ({"params": [{"name": "a", "type": "strng"}]}, "params.0.type"),
        ({"params": [{"type": "string"}]}, "params.0.name"),
        ({"params": "%5Bnot json"}, "params"),
        ({"params": "[" * 100_000}, "params"),
        ({"name": "a\x00b"}, "name"),
        ({"name": ""}, "name"),
        ({"description": "x" * 2_000_000}, "description"),
        ({"headers": {"X-A": "b\r\nX-Evil: 1"}}, "headers"),
        ({"headers": {"bad name": "b"}}, "headers"),
        ({"timeoutS": -1}, "timeoutS"),
        ({"descriptions": "x"}, "descriptions"),
        ({"cacheTtlSeconds": -5}, "cacheTtlSeconds"),
        ({"name": "   "}, "name"),
        ({"description": " \n "}, "description"),
        ({"params": [{"name": "a", "type": "number", "default": float("nan")}]}, "params.0"),
        ({"params": [{"name": "a", "example": [1, {"b": float("inf")}]}]}, "params.0"),
        ({"params": [{"name": "a", "type": "array", "items": {"type": "integer", "default": 2**63}}]}, "params.0"),
        ({"params": [{"name": "o", "type": "object", "properties": [{"name": "a"}, {"name": "a"}]}]}, "params.0"),
        ({"params": [{"name": "a", "description": "x" * 2_000_000}]}, "params.0"),
        ({"params": [{"name": "a", "enum": [str(at) for at in range(10_001)]}]}, "params.0"),
        ({"constants": [{"name": "a", "value": 10**400}]}, "constants.0"),
        ({"examples": ["Will it rain?"] * 201}, "examples"),
        ({"aliases": {"et": ["ilm " * 1_000]}}, "aliases"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_fault_is_named_by_the_path_of_its_field(changes: dict[str, Any], path: str) -> None:
    assert path in [fault for fault, _ in faults(**changes)]


def test_a_list_of_required_properties_is_read_as_json_schema_means_it() -> None:
    item = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}
    registration = EndpointRegistration.model_validate(
        {
            "name": "n",
            "description": "d",
            "url": "https://example.ee/",
            "params": [{"name": "rows", "type": "array", "items": item}],
        }
    )

    rows = registration.params[0].items

    assert rows is not None
    assert [(one.name, one.required) for one in rows.properties] == [("a", True), ("b", False)]
