from __future__ import annotations

import json
import time
from typing import Any

import pytest

from workers.indexing.openapi.importer import Operation, import_document


def document(paths: dict[str, Any], **beside: Any) -> dict[str, Any]:
    return {
        "openapi": "3.0.3",
        "info": {"title": "Demo API", "version": "1"},
        "servers": [{"url": "https://api.ee/v1/"}],
        "paths": paths,
        **beside,
    }


def read(spec: dict[str, Any], **how: str) -> tuple[Operation, ...]:
    return import_document(json.dumps(spec), **how).operations


def one(operation: dict[str, Any], path: str = "/things", method: str = "get", **beside: Any) -> Operation:
    (found,) = read(document({path: {method: operation}}, **beside))
    return found


def names(found: Operation) -> dict[str, str]:
    return {param.name: param.place for param in found.params}


def body(schema: dict[str, Any], kind: str = "application/json", *, required: bool = True) -> dict[str, Any]:
    return {"requestBody": {"required": required, "content": {kind: {"schema": schema}}}}


def test_every_place_of_a_parameter_is_kept_and_the_operations_own_wins() -> None:
    listed = [{"name": n, "in": n, "schema": {"type": "integer"}} for n in ("query", "header", "cookie")]
    shared = [
        {"name": "path", "in": "path", "required": True, "schema": {"type": "string"}},
        {"name": "query", "in": "query", "schema": {"type": "boolean"}},
    ]
    (found,) = read(document({"/a/{path}": {"parameters": shared, "get": {"parameters": listed}}}))

    assert names(found) == {"path": "path", "query": "query", "header": "header", "cookie": "cookie"}
    assert {p.name: (p.type, p.required) for p in found.params}["query"] == ("integer", False)
    assert found.endpoint is not None
    assert found.endpoint["url"] == "https://api.ee/v1/a/{path}"


def test_enum_format_default_and_description_reach_the_registration() -> None:
    schema = {"type": "string", "format": "date", "default": "2026-01-01", "enum": ["2026-01-01", None]}
    found = one({"parameters": [{"name": "day", "in": "query", "description": "Which day", "schema": schema}]})

    assert found.endpoint is not None
    assert found.endpoint["params"] == [
        {
            "name": "day",
            "type": "date",
            "in": "query",
            "required": False,
            "description": "Which day",
            "enum": ["2026-01-01"],
            "format": "date",
            "default": "2026-01-01",
        }
    ]


def test_all_of_is_merged_and_one_of_requires_what_every_alternative_requires() -> None:
    base = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}
    card = {"type": "object", "required": ["sum", "card"], "properties": {"sum": {}, "card": {}}}
    bank = {"type": "object", "required": ["sum"], "properties": {"sum": {}, "iban": {}}}
    found = one(body({"allOf": [base, {"oneOf": [card, bank]}]}), method="post")

    assert {p.name: p.required for p in found.params} == {"id": True, "sum": True, "card": False, "iban": False}
    assert found.state == "changed"


def test_a_schema_that_contains_itself_ends() -> None:
    node = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/components/schemas/N"}}}
    found = one(body({"$ref": "#/components/schemas/N"}), method="post", components={"schemas": {"N": node}})

    assert names(found) == {"name": "body", "next": "body"}
    assert [r.reason for r in found.remarks if "contains itself" in r.reason]


def test_references_that_only_point_at_each_other_refuse_the_operation_and_no_other() -> None:
    loop = {"A": {"$ref": "#/components/schemas/B"}, "B": {"$ref": "#/components/schemas/A"}}
    bad = body({"$ref": "#/components/schemas/A"})
    spec = document({"/bad": {"post": bad}, "/good": {"get": {}}}, components={"schemas": loop})

    found = read(spec)

    assert [(o.path, o.state) for o in found] == [("/bad", "refused"), ("/good", "taken")]


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("#/components/schemas/Gone", "leads to nothing"),
        ("other.yaml#/A", "leads out of the document"),
        ("#/info/title", "leads to no mapping"),
    ],
)
def test_a_broken_reference_is_told_with_its_pointer(reference: str, reason: str) -> None:
    found = one({"parameters": [{"name": "q", "in": "query", "schema": {"$ref": reference}}]})

    assert found.state == "changed"  # the parameter is there, as a text
    assert found.remarks[0].pointer == "#/paths/~1things/get/parameters/0/schema/$ref"
    assert reason in found.remarks[0].reason


@pytest.mark.parametrize(("version", "kind"), [("3.0.3", "object"), ("3.1.0", "number")])
def test_keys_beside_a_reference_count_from_3_1_on(version: str, kind: str) -> None:
    schema = {"$ref": "#/components/schemas/Sum", "type": "number"}
    spec = document({"/a": {"get": {"parameters": [{"name": "sum", "in": "query", "schema": schema}]}}})
    spec |= {"openapi": version, "components": {"schemas": {"Sum": {"type": "object"}}}}

    assert read(spec)[0].params[0].type == kind


def test_a_nullable_type_of_3_1_is_the_type() -> None:
    found = one({"parameters": [{"name": "n", "in": "query", "schema": {"type": ["integer", "null"]}}]})

    assert found.params[0].type == "integer"


def test_read_only_properties_and_files_are_not_asked_for() -> None:
    schema = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "readOnly": True},
            "scan": {"type": "string", "format": "binary"},
            "note": {"type": "string"},
        },
    }
    found = one(body(schema, "multipart/form-data"), method="post")

    assert names(found) == {"scan": "body", "note": "body"}  # what the document says
    assert found.endpoint is not None
    assert [param["name"] for param in found.endpoint["params"]] == ["note"]
    assert found.endpoint["body"] == "multipart"
    assert [r.reason for r in found.remarks] == ["scan is a file; it is left out"]


@pytest.mark.parametrize(("required", "state"), [(True, "refused"), (False, "changed")])
def test_a_body_that_cannot_be_sent_is_refused_when_it_is_needed(required: bool, state: str) -> None:  # noqa: FBT001
    found = one(body({"type": "string"}, "image/png", required=required), method="post")

    assert found.state == state


def test_a_body_property_named_like_a_path_parameter_is_told() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}
    found = one(body(schema), path="/things/{id}", method="put")

    assert found.endpoint is not None
    assert [(param["name"], param["in"]) for param in found.endpoint["params"]] == [("id", "path"), ("name", "body")]
    assert any("id in body is left out" in remark.reason for remark in found.remarks)


def test_deprecated_operations_are_skipped_and_trace_is_refused() -> None:
    found = read(document({"/a": {"get": {"deprecated": True}, "trace": {}}}))

    assert [(o.method, o.state) for o in found] == [("GET", "skipped"), ("TRACE", "refused")]


def test_servers_of_the_operation_win_and_variables_take_their_defaults() -> None:
    server = {"url": "https://{place}.api.ee", "variables": {"place": {"default": "eu"}}}
    found = one({"servers": [server]})

    assert found.endpoint is not None
    assert found.endpoint["url"] == "https://eu.api.ee/things"


def test_a_relative_server_is_read_from_where_the_document_came_from() -> None:
    spec = document({"/a": {"get": {}}}, servers=[{"url": "/v2"}])

    (near,) = read(spec, source_url="https://x.ee/docs/openapi.json")
    (lost,) = read(spec)

    assert near.endpoint is not None
    assert near.endpoint["url"] == "https://x.ee/v2/a"
    assert (lost.state, lost.remarks[0].pointer) == ("refused", "#/servers/0/url")


def test_security_names_a_secret_and_an_empty_alternative_needs_none() -> None:
    schemes = {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}
    guarded = {"get": {"security": [{"key": []}]}, "post": {"security": [{}]}}
    first, second = read(document({"/a": guarded}, components=schemes))

    secret = "env:SECRET_DEMO_API_KEY"  # noqa: S105 - a reference
    assert [(n.place, n.name, n.secret) for n in first.needs] == [("header", "X-Key", secret)]
    assert first.endpoint is not None
    assert first.endpoint["auth"] == {"kind": "api_key", "name": "X-Key", "in": "header", "value": secret}
    assert second.needs == ()


def test_a_user_name_that_no_document_tells_must_be_added_by_hand() -> None:
    schemes = {"securitySchemes": {"b": {"type": "http", "scheme": "basic"}}}
    found = one({"security": [{"b": []}]}, components=schemes)

    assert found.endpoint is not None
    assert "auth" not in found.endpoint
    assert [r.pointer for r in found.remarks] == ["#/paths/~1things/get/security"]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"style": "deepObject", "explode": True}, {"style": "deepObject", "explode": True}),
        ({"explode": False}, {"explode": False}),
        ({"type": "array", "collectionFormat": "pipes"}, {"style": "pipeDelimited", "explode": False}),
        ({"type": "array"}, {"style": "form", "explode": False}),
    ],
)
def test_how_lists_are_written_is_kept(said: dict[str, Any], kept: dict[str, Any]) -> None:
    found = one({"parameters": [{"name": "q", "in": "query", **said}]})

    assert found.endpoint is not None
    assert {key: found.endpoint["params"][0].get(key) for key in kept} == kept


def test_swagger_2_forms_bodies_and_base_path_are_read() -> None:
    spec = {
        "swagger": "2.0",
        "host": "api.ee",
        "basePath": "/v1",
        "schemes": ["http", "https"],
        "paths": {
            "/form": {"post": {"parameters": [{"name": "a", "in": "formData", "type": "integer", "required": True}]}},
            "/body": {"post": {"parameters": [{"name": "any", "in": "body", "schema": {"$ref": "#/definitions/B"}}]}},
        },
        "definitions": {"B": {"type": "object", "properties": {"b": {"type": "string"}}}},
    }
    form, posted = read(spec)

    assert names(form) == {"a": "body"}
    assert form.endpoint is not None
    assert form.endpoint["url"] == "https://api.ee/v1/form"
    assert form.endpoint["body"] == "form"
    assert names(posted) == {"b": "body"}


def test_parts_of_the_wrong_kind_never_break_the_import() -> None:
    wrong: list[Any] = [None, 5, "text", [], {}]
    paths = {f"/{n}{k}": {"post": {key: value}} for k, key in enumerate(_KEYS) for n, value in enumerate(wrong)}
    paths |= {f"/item{n}": value for n, value in enumerate(wrong)}

    found = read(document(paths))

    assert {o.state for o in found} <= {"taken", "changed", "refused"}
    assert len(found) >= len(wrong) * len(_KEYS)


_KEYS = ("parameters", "requestBody", "tags", "servers", "security", "summary", "operationId", "description")


def test_two_operations_of_one_name_and_odd_texts_are_registered_apart() -> None:
    twin = {"operationId": "same", "summary": "a\u0000b \u202eright to left 🚀"}
    first, second = read(document({"/a": {"get": twin}, "/b": {"get": twin}}))

    assert first.endpoint is not None
    assert second.endpoint is not None
    assert first.endpoint["name"] != second.endpoint["name"]
    assert "\0" not in first.endpoint["description"]


def test_schemas_that_branch_into_each_other_stay_small() -> None:
    everyone = {f"p{n}": {"$ref": f"#/components/schemas/S{n}"} for n in range(12)}
    schemas = {f"S{n}": {"type": "object", "properties": everyone} for n in range(12)}

    began = time.monotonic()
    found = one(body({"$ref": "#/components/schemas/S0"}), method="post", components={"schemas": schemas})

    assert time.monotonic() - began < 5
    assert len(json.dumps(found.endpoint)) < 1_000_000
