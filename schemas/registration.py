"""How an endpoint is registered at the door: camelCase or snake_case, old spellings accepted, unknown fields ignored.

`to_endpoint` gives the strict Endpoint of the house. Pydantic's ValidationError carries the path of every fault.
"""

from __future__ import annotations

import json
import math
import re
import uuid
from collections.abc import Iterator
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, model_validator

from schemas.auth import Auth, ClientCertificate, NoAuth
from schemas.base import DoorModel, JsonValue
from schemas.endpoints import (
    BASE_URL,
    LANGUAGES,
    BodyEncoding,
    Constant,
    Endpoint,
    Method,
    ParamSpec,
    Phrases,
    Rendering,
    SuccessRule,
    Texts,
)

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NAMESPACE = uuid.UUID("8c0d4f9e-9a58-5d0f-9d5f-3f1a2c6b7e10")
_MOST_PHRASES = 200
_LONGEST_PHRASE = 2_000
_MOST_OPTIONS = 10_000
_LONGEST_TEXT = 20_000
_PARAM_SPELLINGS = {"in": "placement", "placedIn": "placement", "allowedValues": "enum"}


def _without_control(value: object) -> object:
    if isinstance(value, str) and _CONTROL.search(value):
        raise ValueError("control characters are not allowed")
    return value


def _spoken_words(value: str) -> str:
    if not value.strip():
        raise ValueError("must not be blank")
    return value


def _upper(value: object) -> object:
    return value.strip().upper() if isinstance(value, str) else value


def _by_language(value: object) -> object:
    """Accept a plain text or list as English-by-default phrases: `["…"]` means `{"en": ["…"]}`."""
    if isinstance(value, str):
        return {"en": (value,)}
    if isinstance(value, list | tuple):
        return {"en": tuple(value)} if value else {}
    if isinstance(value, dict):
        return {language: (said,) if isinstance(said, str) else said for language, said in value.items()}
    return value


def _decoded(value: object) -> object:
    """Read `params` given as a JSON string, URL-encoded or not (the form Ruuter forwards)."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text:
        return ()
    try:
        return json.loads(text if text[0] == "[" else unquote(text))
    except (ValueError, RecursionError) as error:
        raise ValueError("params must be a list, or a JSON list as (URL-encoded) text") from error


def _house_spelling(param: object) -> object:
    """Rename the wire's keys of one parameter, keep what ParamSpec knows, and do the same to nested ones."""
    if not isinstance(param, dict):
        return param
    spelled: dict[str, Any] = {_PARAM_SPELLINGS.get(str(key), str(key)): value for key, value in param.items()}
    if isinstance(spelled.get("required"), list):  # JSON Schema's list of an object's required properties
        spelled.setdefault("required_properties", spelled.pop("required"))
    known = {key: value for key, value in spelled.items() if key in ParamSpec.model_fields and value is not None}
    if isinstance(known.get("type"), str):
        known["type"] = known["type"].strip().lower()
    if isinstance(known.get("enum"), list):
        known["enum"] = [_house_option(option) for option in known["enum"]]
    if "items" in known:
        known["items"] = _nested_item(known["items"])
    if "properties" in known:
        known["properties"] = _nested_properties(known["properties"], spelled.get("required_properties"))
    return known


def _house_option(option: object) -> object:
    if not isinstance(option, dict):
        return option
    known = {key: value for key, value in option.items() if key in ("value", "labels", "synonyms")}
    return {**known, "value": str(known["value"])} if "value" in known else known


def _nested_item(item: object) -> object:
    """The element type of an array: a bare type name, or a parameter that needs no name."""
    if isinstance(item, str):
        return {"name": "item", "type": item}
    return _house_spelling({"name": "item", **item}) if isinstance(item, dict) else item


def _nested_properties(properties: object, required: object) -> object:
    """Properties of an object: a list of parameters, or JSON Schema's mapping from name to schema."""
    if isinstance(properties, dict):
        names = required if isinstance(required, list) else []
        properties = [
            {"name": name, "required": name in names, **schema}
            for name, schema in properties.items()
            if isinstance(schema, dict)
        ]
    return [_house_spelling(one) for one in properties] if isinstance(properties, list | tuple) else properties


def _snake_keys(value: object) -> object:
    """Read the keys of one object in camelCase, and `in` as `placement`."""
    if not isinstance(value, dict):
        return value
    spelled = {_PARAM_SPELLINGS.get(str(key), str(key)): one for key, one in value.items()}
    return {re.sub(r"(?<!^)(?=[A-Z])", "_", key).lower(): one for key, one in spelled.items()}


def _callable_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError("can't be read as a URL") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be absolute and start with http:// or https://")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user name or a password")
    if port == 0:
        raise ValueError("must not name port 0")
    if re.search(r"\s", url):
        raise ValueError("must not hold white space")
    return url


def _sendable_headers(headers: dict[str, str]) -> dict[str, str]:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no header name")
        if _CONTROL.search(value) or "\n" in value or "\r" in value:
            raise ValueError(f"the value of {name} holds a line break or a control character")
    return headers


def _bounded(phrases: Phrases) -> Phrases:
    """Each phrase is embedded: thousands would keep a worker from everybody else's endpoints."""
    for language, said in phrases.items():
        if len(said) > _MOST_PHRASES:
            raise ValueError(f"{language}: at most {_MOST_PHRASES} phrases, not {len(said)}")
        if any(len(one) > _LONGEST_PHRASE for one in said):
            raise ValueError(f"{language}: a phrase has at most {_LONGEST_PHRASE} characters")
    return phrases


def _storable(param: ParamSpec) -> ParamSpec:
    """Refuse what no engine can hold, in the parameter and in its parts."""
    if len(param.description) > _LONGEST_TEXT:
        raise ValueError(f"the description of {param.name} has at most {_LONGEST_TEXT} characters")
    if len(param.enum) > _MOST_OPTIONS:
        raise ValueError(f"{param.name} has at most {_MOST_OPTIONS} allowed values, not {len(param.enum)}")
    for what, value in (("default", param.default), ("example", param.example)):
        fault = _unstorable(value)
        if fault:
            raise ValueError(f"the {what} of {param.name} {fault}")
    _distinct_names(param.properties)
    for part in (*param.properties, *((param.items,) if param.items else ())):
        _storable(part)
    return param


def _storable_constant(constant: Constant) -> Constant:
    fault = _unstorable(constant.value)
    if fault:
        raise ValueError(f"the value of {constant.name} {fault}")
    return constant


def _unstorable(value: JsonValue) -> str:
    """Say why a value can't be stored: JSON has no NaN, and vector engines keep whole numbers of 64 bits."""
    for one in _leaves(value):
        if isinstance(one, float) and not math.isfinite(one):
            return "must be a finite number"
        if isinstance(one, int) and not -(2**63) <= one < 2**63:
            return "must be a whole number of at most 64 bits; write a longer one as a text"
    return ""


def _leaves(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield value


def _distinct_names(params: tuple[ParamSpec, ...]) -> tuple[ParamSpec, ...]:
    names = [param.name for param in params]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"names must be unique; seen twice: {', '.join(twice)}")
    return params


def _translated(given: dict[str, Any], single: str) -> dict[str, Any]:
    """Join the `<single>s` mapping with the fields `<single>_et`, `<single>Et` …; the mapping wins."""
    texts = dict(given.get(f"{single}s", {}))
    for language in LANGUAGES:
        text = given.get(f"{single}_{language}") or given.get(f"{single}{language.capitalize()}")
        if text:
            texts.setdefault(language, text)
    return texts


Plain = Annotated[str, BeforeValidator(_without_control)]
Spoken = Annotated[Phrases, BeforeValidator(_by_language), AfterValidator(_bounded)]
DoorParam = Annotated[ParamSpec, BeforeValidator(_house_spelling), AfterValidator(_storable)]
DoorConstant = Annotated[Constant, BeforeValidator(_snake_keys), AfterValidator(_storable_constant)]


class EndpointRegistration(DoorModel):
    """Body of POST /api-tools and of a catalogue entry. Without `endpointId` one is derived from tenant, name, url."""

    endpoint_id: Plain = Field(
        default="", max_length=200, validation_alias=AliasChoices("endpointId", "endpoint_id", "id")
    )
    service_id: Plain = Field(default="", max_length=200)
    name: Annotated[Plain, AfterValidator(_spoken_words)] = Field(min_length=1, max_length=200)
    description: Annotated[Plain, AfterValidator(_spoken_words)] = Field(min_length=1, max_length=_LONGEST_TEXT)
    descriptions: Texts = {}
    titles: Texts = {}
    examples: Spoken = {}
    aliases: Spoken = {}
    url: Annotated[Plain, AfterValidator(_callable_url)] = Field(min_length=1, max_length=4_000)
    method: Annotated[Method, BeforeValidator(_upper)] = "GET"
    params: Annotated[tuple[DoorParam, ...], BeforeValidator(_decoded), AfterValidator(_distinct_names)] = Field(
        default=(), max_length=200
    )
    headers: Annotated[dict[str, str], AfterValidator(_sendable_headers)] = {}
    visibility: Literal["public", "private"] = "public"
    type: Plain = "custom_endpoint"
    tags: tuple[Plain, ...] = ()
    enriched_context: Plain = Field(default="", max_length=20_000)
    idempotent: bool = False
    cacheable: bool | None = None
    cache_ttl_seconds: int | None = Field(
        default=None, ge=0, validation_alias=AliasChoices("cacheTtlSeconds", "cache_ttl_seconds")
    )
    requires_approval: bool = False
    timeout_s: float | None = Field(
        default=None, gt=0, le=120, validation_alias=AliasChoices("timeoutS", "timeout_s", "timeoutSeconds")
    )
    rendering: Rendering = Rendering()
    auth: Annotated[Auth, BeforeValidator(_snake_keys)] = NoAuth()
    client_certificate: Annotated[ClientCertificate | None, BeforeValidator(_snake_keys)] = None
    constants: tuple[DoorConstant, ...] = Field(default=(), max_length=100)
    body: BodyEncoding | None = None
    base_urls: dict[str, Annotated[str, Field(pattern=BASE_URL)]] = {}
    idempotency_header: str = Field(default="Idempotency-Key", pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$")
    check: str | None = Field(default=None, pattern=r"^/[^\s#\\]*$", max_length=2_000)
    success: SuccessRule | None = None

    @model_validator(mode="before")
    @classmethod
    def _gather_translations(cls, data: object) -> object:
        """Read `description_et`, `descriptionRu`, `title_et` … as `descriptions` and `titles`; null means absent."""
        if not isinstance(data, dict):
            return data
        given = {key: value for key, value in data.items() if value is not None}
        return given | {
            plural: _translated(given, single)
            for plural, single in (("descriptions", "description"), ("titles", "title"))
            if isinstance(given.get(plural, {}), dict)
        }

    def to_endpoint(self, tenant: str) -> Endpoint:
        """Give the house's form; the same registration always derives the same id."""
        fields: dict[str, JsonValue] = self.model_dump(mode="json", by_alias=False)
        fields["endpoint_id"] = self.endpoint_id or str(uuid.uuid5(_NAMESPACE, f"{tenant}\0{self.name}\0{self.url}"))
        return Endpoint.model_validate({**fields, "tenant": tenant})
