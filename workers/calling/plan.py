"""From collected values to calls, and from a call to the request it means. Pure: no I/O, no clock."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, quote, urlsplit, urlunsplit

from schemas.base import JsonValue
from schemas.calls import ApiCall
from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import Endpoint, ParamSpec, Placement
from schemas.ids import TurnId, call_id

_PLACEHOLDER = re.compile(r"\{([^{}/?#]+)\}")
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# They frame the message or choose the host: whoever sets them could smuggle a second request.
_RESERVED_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect", "keep-alive"}
)
_FORM = "application/x-www-form-urlencoded"

Pairs = tuple[tuple[str, str], ...]


class CannotPlace(ValueError):
    """A value has no safe place in the request; `param` names it, `why` is for the log and carries no value."""

    def __init__(self, param: str, why: str) -> None:
        super().__init__(param, why)
        self.param = param
        self.why = why


@dataclass(frozen=True, kw_only=True)
class PreparedRequest:
    """What goes over the wire. `url` has no query; keys of `query` may repeat; at most one of `json`, `form` is set."""

    method: str
    url: str
    query: Pairs = ()
    headers: Pairs = ()
    json: dict[str, JsonValue] | None = None
    form: Pairs | None = None


def plan(turn_id: TurnId, collecting: Collecting) -> tuple[ApiCall, ...]:
    """List the calls of a finished collection, in its order, defaults filled in.

    The same endpoint with the same arguments is called once. Values of parameters that the endpoint does not declare
    are dropped. The n-th call of a turn always has the same id, so that a redelivered task means the same call.
    """
    distinct: dict[str, tuple[Endpoint, dict[str, JsonValue]]] = {}
    for progress in collecting.endpoints:
        arguments = _arguments(progress)
        endpoint = progress.endpoint
        identity = json.dumps([endpoint.tenant, endpoint.endpoint_id, arguments], sort_keys=True)
        distinct.setdefault(identity, (endpoint, arguments))
    return tuple(
        ApiCall(call_id=call_id(turn_id, index), index=index, endpoint=endpoint, arguments=arguments)
        for index, (endpoint, arguments) in enumerate(distinct.values())
    )


def _arguments(progress: EndpointProgress) -> dict[str, JsonValue]:
    values = ((param.name, progress.values.get(param.name, param.default)) for param in progress.endpoint.params)
    return {name: value for name, value in values if value is not None}


def place(call: ApiCall) -> PreparedRequest:
    """Put every argument where the endpoint wants it.

    A declared placement wins; then a `{name}` in the URL; then the query for GET and DELETE, the body for the others.
    Path values are percent-encoded whole, so a value never adds a segment. Arrays repeat their key in a query and
    are joined by commas in paths, headers and cookies; objects are JSON. POST and PATCH that are not declared
    idempotent carry an Idempotency-Key that is the same for each delivery of the call.

    Raises:
        CannotPlace: NaN or infinity, a path value that is missing, empty or a dot segment, a header with line breaks,
            a placeholder in the host name, no URL at all.
    """
    for name, value in call.arguments.items():
        _refuse_nan(name, value)
    split = _split(call.endpoint.url)
    sorted_out = _by_placement(call, split)
    headers = _headers(call, sorted_out)
    body = sorted_out["body"]
    json_body, form = None, None
    if any(_placement(call.endpoint, param, split) == "body" for param in call.endpoint.params):
        if _is_form(headers):
            form = _pairs(body)
        else:
            json_body = dict(body)
    return PreparedRequest(
        method=call.endpoint.method,
        url=_url(split, sorted_out["path"]),
        query=(*_template_query(split, call.arguments), *_pairs(sorted_out["query"])),
        headers=headers,
        json=json_body,
        form=form,
    )


def endpoint_address(url: str) -> str:
    """Return `scheme://host[:port]/path/{template}`: what a breaker guards. No query, no user, no fragment."""
    split = urlsplit(url)
    return f"{split.scheme.lower()}://{split.netloc.rpartition('@')[2].lower()}{split.path}"


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise CannotPlace("url", "not a URL") from None


def wire_text(value: JsonValue) -> str:
    """Write one value as a query, path or header carries it: `true`, `12.5`, text as it is, JSON for objects."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _placement(endpoint: Endpoint, param: ParamSpec, split: SplitResult) -> Placement | None:
    """Return where the parameter goes; None when the URL's own query has a place for it."""
    if param.placement is not None:
        return param.placement
    placeholder = f"{{{param.name}}}"
    if placeholder in split.path:
        return "path"
    if placeholder in split.query:
        return None
    return "query" if endpoint.method in ("GET", "DELETE") else "body"


def _by_placement(call: ApiCall, split: SplitResult) -> dict[str, dict[str, JsonValue]]:
    places: dict[str, dict[str, JsonValue]] = {name: {} for name in ("path", "query", "header", "cookie", "body")}
    for param in call.endpoint.params:
        where = _placement(call.endpoint, param, split)
        if where is not None and param.name in call.arguments:
            places[where][param.name] = call.arguments[param.name]
    return places


def _url(split: SplitResult, values: Mapping[str, JsonValue]) -> str:
    """Fill the path; a path parameter without a placeholder becomes a last segment."""
    if "{" in split.netloc:
        raise CannotPlace(split.netloc, "the host name is a template")

    def segment(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in values:
            raise CannotPlace(name, "the path needs it and it is missing")
        return _path_segment(name, values[name])

    path = _PLACEHOLDER.sub(segment, split.path)
    named = set(_PLACEHOLDER.findall(split.path))
    for name, value in values.items():
        if name not in named:
            path = f"{path.rstrip('/')}/{_path_segment(name, value)}"
    return urlunsplit((split.scheme, split.netloc, path, "", ""))


def _path_segment(name: str, value: JsonValue) -> str:
    text = _joined(value)
    # "%2E%2E" is a dot segment too (WHATWG URL), and sloppy servers decode "%2F": encoding cannot save these.
    if not text.strip() or any(part.strip() in (".", "..") for part in re.split(r"[/\\]", text)):
        raise CannotPlace(name, "an empty or dot segment would change the path")
    return quote(text, safe="")


def _template_query(split: SplitResult, values: Mapping[str, JsonValue]) -> Pairs:
    """Fill the URL's own query; a pair whose parameter was not given is left out."""
    pairs = []
    for key, template in parse_qsl(split.query, keep_blank_values=True):
        names = _PLACEHOLDER.findall(template)
        if any(name not in values for name in names):
            continue
        pairs.append((key, _PLACEHOLDER.sub(lambda match: _joined(values[match.group(1)]), template)))
    return tuple(pairs)


def _pairs(values: Mapping[str, JsonValue]) -> Pairs:
    return tuple(
        (name, wire_text(item))
        for name, value in values.items()
        for item in (value if isinstance(value, list) else [value])
        if item is not None
    )


def _joined(value: JsonValue) -> str:
    if isinstance(value, list):
        return ",".join(wire_text(item) for item in value if item is not None)
    return wire_text(value)


def _headers(call: ApiCall, places: Mapping[str, Mapping[str, JsonValue]]) -> Pairs:
    """Join the endpoint's own headers, header parameters, cookies and the idempotency key; the last writer wins."""
    merged: dict[str, tuple[str, str]] = {}
    given = {name: _joined(value) for name, value in places["header"].items()}
    for name, value in (*call.endpoint.headers.items(), *given.items()):
        _refuse_header(name, value)
        merged[name.lower()] = (name, value.strip())
    if places["cookie"]:
        own = merged.get("cookie", ("Cookie", ""))[1]
        crumbs = (f"{_cookie_name(name)}={quote(_joined(value), safe='')}" for name, value in places["cookie"].items())
        merged["cookie"] = ("Cookie", "; ".join([*filter(None, [own]), *crumbs]))
    if not call.endpoint.is_repeatable():
        merged.setdefault("idempotency-key", ("Idempotency-Key", _idempotency_key(call)))
    return tuple(merged.values())


def _idempotency_key(call: ApiCall) -> str:
    """Digest the call id: a turn id opens its event stream, so it is not shown to third parties."""
    return hashlib.sha256(call.call_id.encode()).hexdigest()[:32]


def _refuse_header(name: str, value: str) -> None:
    if not _HEADER_NAME.fullmatch(name):
        raise CannotPlace(name, "not a header name")
    if name.lower() in _RESERVED_HEADERS:
        raise CannotPlace(name, "this header frames the message and is ours alone")
    if _CONTROL.search(value):
        raise CannotPlace(name, "a header value may not hold line breaks or control characters")


def _cookie_name(name: str) -> str:
    if not _HEADER_NAME.fullmatch(name):
        raise CannotPlace(name, "not a cookie name")
    return name


def _is_form(headers: Pairs) -> bool:
    return any(name.lower() == "content-type" and value.lower().startswith(_FORM) for name, value in headers)


def _refuse_nan(name: str, value: JsonValue) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise CannotPlace(name, "not a finite number")
    if isinstance(value, dict | list):
        children: Iterable[JsonValue] = value.values() if isinstance(value, dict) else value
        for child in children:
            _refuse_nan(name, child)
