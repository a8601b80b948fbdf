"""Tiny documents, each with one thing that real ones have: what is taken, changed, skipped and refused."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from workers.indexing.openapi.document import DocumentRefused
from workers.indexing.openapi.importer import ImportReport, Operation, import_document

HEAD: dict[str, Any] = {"openapi": "3.1.0", "info": {"title": "T"}, "servers": [{"url": "https://api.ee"}]}
REFERENCE = "env:SECRET_T_S"
OK = {"responses": {"200": {"description": "fine"}}}


def report(paths: dict[str, Any], **beside: Any) -> ImportReport:
    return import_document(json.dumps({**HEAD, "paths": paths, **beside}))


def one(operation: dict[str, Any], path: str = "/a", method: str = "get", **beside: Any) -> Operation:
    (found,) = report({path: {method: {**OK, **operation}}}, **beside).operations
    return found


def json_body(schema: Any, *, required: bool = True) -> dict[str, Any]:
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": schema}}}}


def told(found: Operation) -> dict[str, tuple[str, str, bool]]:
    return {param.name: (param.place, param.type, param.required) for param in found.params}


def param(found: Operation, name: str) -> dict[str, Any]:
    assert found.endpoint is not None
    return next(one for one in found.endpoint["params"] if one["name"] == name)


def test_references_to_parameters_bodies_responses_and_path_items_are_followed() -> None:
    components = {
        "parameters": {"Page": {"name": "page", "in": "query", "schema": {"$ref": "#/components/schemas/Count"}}},
        "requestBodies": {"Pet": json_body({"$ref": "#/components/schemas/Pet"})["requestBody"]},
        "responses": {"Gone": {"description": "gone"}},
        "schemas": {
            "Count": {"type": "integer"},
            "Pet": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        },
        "pathItems": {
            "Pets": {
                "parameters": [{"$ref": "#/components/parameters/Page"}],
                "post": {
                    "requestBody": {"$ref": "#/components/requestBodies/Pet"},
                    "responses": {"410": {"$ref": "#/components/responses/Gone"}},
                },
            }
        },
    }
    (found,) = report({"/pets": {"$ref": "#/components/pathItems/Pets"}}, components=components).operations

    assert found.state == "taken"
    assert told(found) == {"page": ("query", "integer", False), "name": ("body", "string", True)}


def test_one_of_with_a_discriminator_offers_every_kind_and_every_property() -> None:
    cat = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
    }
    dog = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"const": "dog"}, "tricks": {"type": "array"}},
    }
    found = one(json_body({"oneOf": [cat, dog], "discriminator": {"propertyName": "kind"}}), method="post")

    assert told(found) == {
        "kind": ("body", "string", True),
        "lives": ("body", "integer", False),
        "tricks": ("body", "array", False),
    }
    assert param(found, "kind")["enum"] == ["cat", "dog"]
    assert found.state == "changed"


def test_any_of_with_null_is_the_other_type_and_all_of_adds_up() -> None:
    schema = {
        "allOf": [
            {
                "type": "object",
                "required": ["a"],
                "properties": {"a": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
            },
            {"type": "object", "required": ["b"], "properties": {"b": {"type": ["string", "null"], "format": "date"}}},
        ]
    }
    found = one(json_body(schema), method="post")

    assert told(found) == {"a": ("body", "integer", True), "b": ("body", "string", True)}
    assert param(found, "b")["type"] == "date"


def test_a_body_that_is_a_list_is_one_parameter_that_is_the_whole_body() -> None:
    found = one(json_body({"type": "array", "items": {"type": "integer"}}), method="post")

    assert found.endpoint is not None
    assert found.endpoint["body"] == "value"
    assert [(p["name"], p["type"], p["required"]) for p in found.endpoint["params"]] == [("body", "array", True)]


def test_boolean_schemas_and_keys_that_are_no_texts_are_read() -> None:
    text = """
openapi: 3.1.0
info: {title: T}
servers: [{url: "https://api.ee"}]
paths:
  /a:
    post:
      parameters: [{name: q, in: query, schema: true}]
      requestBody: {content: {application/json: {schema: {type: object, properties: {1: {type: string}, any: true}}}}}
"""
    (found,) = import_document(text).operations

    assert told(found) == {
        "q": ("query", "string", False),
        "1": ("body", "string", False),
        "any": ("body", "string", False),
    }


def test_yaml_anchors_and_merge_keys_are_read_and_a_circle_of_them_ends() -> None:
    text = """
openapi: 3.0.3
info: {title: T}
servers: [{url: "https://api.ee"}]
x-common: &common {name: page, in: query, schema: {type: integer}}
x-circle: &circle {type: object, allOf: [*circle], properties: {deep: *circle}}
paths:
  /a:
    get: {parameters: [*common, {<<: *common, name: size}]}
  /b:
    post: {requestBody: {required: true, content: {application/json: {schema: *circle}}}}
"""
    first, second = import_document(text).operations

    assert told(first) == {"page": ("query", "integer", False), "size": ("query", "integer", False)}
    assert second.state in ("changed", "refused")


def test_aliases_that_multiply_do_not_fill_the_memory() -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    text = "\n".join(
        [
            *lines,
            "openapi: 3.0.3\ninfo: {title: T}\nservers: [{url: 'https://api.ee'}]",
            "paths: {/a: {get: {parameters: [{name: q, in: query, schema: {type: string, example: *a9}}]}}}",
        ]
    )
    began = time.monotonic()
    (found,) = import_document(text).operations

    assert time.monotonic() - began < 10
    assert "example" not in param(found, "q")
    assert "too large" in found.remarks[0].reason


def test_a_mark_at_the_beginning_of_json_is_no_fault() -> None:
    assert len(import_document("\ufeff" + json.dumps({**HEAD, "paths": {"/a": {"get": OK}}})).operations) == 1


def test_callbacks_and_webhooks_are_not_ours_to_call() -> None:
    calls_back = {"callbacks": {"done": {"{$request.body#/url}": {"post": OK}}}}
    found = report({"/a": {"get": {**OK, **calls_back}}}, webhooks={"new": {"post": OK}})

    assert [(one.method, one.path) for one in found.operations] == [("GET", "/a")]
    with pytest.raises(DocumentRefused, match="webhooks"):
        import_document(json.dumps({"openapi": "3.1.0", "info": {"title": "T"}, "webhooks": {"new": {"post": OK}}}))


def test_names_given_twice_or_never_are_told_apart() -> None:
    paths = {"/a": {"get": {"operationId": "list"}}, "/b": {"get": {"operationId": "list"}}, "/c": {"get": {}}}
    registered = [one["name"] for one in report(paths).registrations]

    assert registered == ["list", "list GET /b", "GET /c"]


def test_what_cannot_be_served_is_refused_but_its_parameters_are_told() -> None:
    parameters = [{"name": "q", "in": "query", "required": True, "schema": {"type": "string"}}]
    found = one({"parameters": parameters}, servers=[{"url": "/v2"}])

    assert found.state == "refused"
    assert "--server" in found.remarks[0].reason
    assert told(found) == {"q": ("query", "string", True)}


def test_swagger_2_files_forms_and_what_it_consumes() -> None:
    def form(*fields: dict[str, Any]) -> dict[str, Any]:
        parameters = [{"in": "formData", **field} for field in fields]
        return {"post": {"consumes": ["multipart/form-data"], "parameters": parameters}}

    spec = {
        "swagger": "2.0",
        "info": {"title": "T"},
        "host": "api.ee",
        "basePath": "/v2",
        "schemes": ["http", "https"],
        "paths": {
            "/avatar": form({"name": "file", "type": "file"}, {"name": "note", "type": "string", "required": True}),
            "/scan": form({"name": "file", "type": "file", "required": True}),
        },
    }
    first, second = import_document(json.dumps(spec)).operations

    assert told(first) == {"file": ("body", "file", False), "note": ("body", "string", True)}
    assert first.endpoint is not None
    assert (first.endpoint["url"], first.endpoint["body"]) == ("https://api.ee/v2/avatar", "multipart")
    assert [p["name"] for p in first.endpoint["params"]] == ["note"]
    assert (second.state, told(second)) == ("refused", {"file": ("body", "file", True)})


@pytest.mark.parametrize(
    ("scheme", "auth", "kind"),
    [
        ({"type": "apiKey", "in": "query", "name": "key"}, "api_key", "apiKey"),
        ({"type": "apiKey", "in": "cookie", "name": "sid"}, "api_key", "apiKey"),
        ({"type": "http", "scheme": "bearer"}, "bearer", "http"),
        ({"type": "http", "scheme": "basic"}, None, "http"),
        ({"type": "http", "scheme": "digest"}, None, "http"),
        ({"type": "oauth2", "flows": {}}, "bearer", "oauth2"),
        ({"type": "openIdConnect", "openIdConnectUrl": "https://id.ee/.well-known/x"}, "bearer", "openIdConnect"),
        ({"type": "mutualTLS"}, None, "mutualTLS"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_every_kind_of_security_becomes_a_reference_or_is_told(
    scheme: dict[str, Any], auth: str | None, kind: str
) -> None:
    found = one({"security": [{"s": []}]}, components={"securitySchemes": {"s": scheme}})

    assert found.endpoint is not None
    assert found.endpoint.get("auth", {}).get("kind") == auth
    assert [need.kind for need in found.needs] == [kind]
    assert all(need.secret == REFERENCE for need in found.needs)
    assert ("by hand" in str(found.remarks)) == (auth is None)


def test_an_alternative_that_can_be_said_is_chosen() -> None:
    schemes = {"b": {"type": "http", "scheme": "basic"}, "k": {"type": "apiKey", "in": "header", "name": "X-Key"}}
    found = one({"security": [{"b": []}, {"k": []}]}, components={"securitySchemes": schemes})

    assert found.endpoint is not None
    assert found.endpoint["auth"]["kind"] == "api_key"


def test_a_parameter_that_leads_nowhere_is_a_text_and_an_unknown_place_is_told() -> None:
    parameters = [
        {"name": "q", "in": "query", "schema": {"$ref": "#/components/schemas/Gone"}},
        {"name": "w", "in": "querystring", "schema": {"type": "string"}},
    ]
    found = one({"parameters": parameters})

    assert told(found) == {"q": ("query", "string", False)}
    assert {remark.reason.partition(";")[0] for remark in found.remarks} == {
        "#/components/schemas/Gone leads to nothing",
        "a parameter in querystring is unknown",
    }
