"""A callable API as the catalogue describes it. This is also the payload stored beside its vectors."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from schemas.auth import Auth, ClientCertificate, NoAuth
from schemas.base import Frozen, JsonValue

Language = Literal["en", "et", "ru"]
LANGUAGES: tuple[Language, ...] = ("en", "et", "ru")

ParamType = Literal["string", "date", "datetime", "integer", "number", "boolean", "array", "object", "enum"]
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Placement = Literal["path", "query", "header", "cookie", "body"]
Style = Literal["simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "deepObject"]
BodyEncoding = Literal["json", "form", "multipart", "value"]
"""How body parameters are written: members of a JSON object, fields of a form; `value`: the only one by itself."""
BASE_URL = r"^https?://[^\s/?#{}@]+(/[^\s?#{}]*)?$"
Texts = dict[Language, str]
Phrases = dict[Language, tuple[str, ...]]

_TYPE_SYNONYMS = {"float": "number", "double": "number", "int": "integer", "bool": "boolean"}


def _known_type(value: object) -> object:
    """Accept the spellings seen in the wild (float, int, bool); anything else stays and is refused by name."""
    return _TYPE_SYNONYMS.get(value, value) if isinstance(value, str) else value


class EnumOption(Frozen):
    """One allowed value, with the words people use for it."""

    value: str
    labels: Texts = {}
    synonyms: tuple[str, ...] = ()


def _as_option(value: object) -> object:
    return {"value": str(value)} if isinstance(value, str | int | float) else value


class ParamSpec(Frozen):
    """One parameter: what it is called, what it must look like, and where it goes in the request.

    `style` and `explode` say how a list or an object is written, as OpenAPI 3 names them.
    """

    name: str = Field(min_length=1, max_length=200)
    type: Annotated[ParamType, BeforeValidator(_known_type)] = "string"
    required: bool = False
    description: str = ""
    labels: Texts = {}
    enum: tuple[Annotated[EnumOption, BeforeValidator(_as_option)], ...] = ()
    format: str | None = None
    default: JsonValue = None
    placement: Placement | None = None
    example: JsonValue = None
    items: ParamSpec | None = None
    properties: tuple[ParamSpec, ...] = ()
    style: Style | None = None
    explode: bool | None = None


class Constant(Frozen):
    """A value that every request carries and nobody is asked for."""

    name: str = Field(min_length=1, max_length=200)
    value: JsonValue
    placement: Literal["query", "header", "cookie", "body"] = "query"


class Rendering(Frozen):
    """How an operator wants the answer worded. Every part may be absent: the formatter then reads the JSON's shape.

    `answer` and `row` are templates such as "The tax for {regNr} is {tax.total|money:EUR}": names address the body
    by dotted path, then the call's parameters. `items` is the path of the list whose elements fill `row`; `empty` is
    said when that list is empty; `labels` name single fields, by path.
    """

    answer: Texts = {}
    items: str | None = None
    row: Texts = {}
    empty: Texts = {}
    labels: dict[str, Texts] = {}


def _as_values(value: object) -> object:
    return value if isinstance(value, list | tuple) else (value,)


class SuccessRule(Frozen):
    """What a 2xx answer must hold to count as a success. Paths are dotted, as in `Rendering`: "data.items", "0.state".

    `present` must have a value; `absent` must have none (null, false, 0, "" and empty are none); `equals` names the
    values of which the one at the path must be one.
    """

    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    equals: dict[str, Annotated[tuple[JsonValue, ...], BeforeValidator(_as_values)]] = {}


class Endpoint(Frozen):
    """A registered API endpoint. `titles` name it to people ("public holidays"); `version` grows at each change.

    `base_urls` maps an environment (`test`) to what takes the place of the URL's scheme and host there; a path of its
    own is put before the URL's path. `idempotency_header` carries the key of a POST or PATCH, the same for each try; it
    is tried again only where it is declared `idempotent`.
    `check` is a path on the same host, such as `/orders/{idempotency_key}`: a GET there tells whether it went through.
    Without a rule of `success`, a 2xx answer that holds nothing but an error is a failure.
    """

    endpoint_id: str = Field(min_length=1, max_length=200)
    tenant: str = "default"
    service_id: str = ""
    name: str = Field(min_length=1, max_length=200)
    description: str = Field(min_length=1, max_length=20_000)
    descriptions: Texts = {}
    titles: Texts = {}
    examples: Phrases = {}
    aliases: Phrases = {}
    url: str = Field(min_length=1, max_length=4_000)
    method: Method = "GET"
    params: tuple[ParamSpec, ...] = ()
    headers: dict[str, str] = {}
    visibility: Literal["public", "private"] = "public"
    type: str = "custom_endpoint"
    tags: tuple[str, ...] = ()
    enriched_context: str = ""
    idempotent: bool = False
    cacheable: bool | None = None
    cache_ttl_seconds: int | None = Field(default=None, ge=0)
    requires_approval: bool = False
    timeout_s: float | None = Field(default=None, gt=0, le=120)
    rendering: Rendering = Rendering()
    auth: Auth = NoAuth()
    client_certificate: ClientCertificate | None = None
    constants: tuple[Constant, ...] = ()
    body: BodyEncoding | None = None
    base_urls: dict[str, Annotated[str, Field(pattern=BASE_URL)]] = {}
    idempotency_header: str = Field(default="Idempotency-Key", pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$")
    check: str | None = Field(default=None, pattern=r"^/[^\s#\\]*$", max_length=2_000)
    success: SuccessRule | None = None
    version: int = 1

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [param.name for param in self.params]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"parameter names must be unique; seen twice: {', '.join(twice)}")
        return self

    @property
    def required(self) -> tuple[ParamSpec, ...]:
        """Parameters that must be known before the call, in schema order; one with a default never asks."""
        return tuple(p for p in self.params if p.required and p.default is None)

    def param(self, name: str) -> ParamSpec | None:
        """Return the parameter of that name, or None."""
        return next((p for p in self.params if p.name == name), None)

    def is_repeatable(self) -> bool:
        """Whether a call may be sent again when its fate is unknown (RFC 9110 section 9.2.2, or declared)."""
        return self.method in ("GET", "PUT", "DELETE") or self.idempotent
