"""From collected values to calls, and from a call to the request it means. Pure: no I/O, no clock."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from schemas.base import JsonValue
from schemas.calls import ApiCall
from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import BodyEncoding, Endpoint, ParamSpec, Placement
from schemas.ids import TurnId, call_id
from workers.calling.headers import headers_of, idempotency_key
from workers.calling.prepared import CannotPlace, Pairs, Part, PreparedRequest
from workers.calling.styles import Placed, joined, pairs, path_text, wire_text

__all__ = [
    "CannotPlace",
    "PreparedRequest",
    "check_call",
    "endpoint_address",
    "in_environment",
    "place",
    "plan",
    "wire_text",
]

_PLACEHOLDER = re.compile(r"\{([^{}/?#]+)\}")
_ENCODINGS: dict[str, BodyEncoding] = {
    "application/x-www-form-urlencoded": "form",
    "multipart/form-data": "multipart",
}
_KEY_PARAM = "idempotency_key"


def plan(turn_id: TurnId, collecting: Collecting, *, environment: str = "production") -> tuple[ApiCall, ...]:
    """List the calls of a finished collection, in its order, defaults filled in, at the environment's addresses.

    The same endpoint with the same arguments is called once. Values of parameters that the endpoint does not declare
    are dropped. The n-th call of a turn always has the same id, so that a redelivered task means the same call.
    """
    distinct: dict[str, tuple[Endpoint, dict[str, JsonValue]]] = {}
    for progress in collecting.endpoints:
        arguments = _arguments(progress)
        endpoint = in_environment(progress.endpoint, environment)
        identity = json.dumps([endpoint.tenant, endpoint.endpoint_id, arguments], sort_keys=True)
        distinct.setdefault(identity, (endpoint, arguments))
    return tuple(
        ApiCall(call_id=call_id(turn_id, index), index=index, endpoint=endpoint, arguments=arguments)
        for index, (endpoint, arguments) in enumerate(distinct.values())
    )


def in_environment(endpoint: Endpoint, environment: str) -> Endpoint:
    """Move the endpoint to its base URL in the environment; one that has none there stays where it is."""
    base = endpoint.base_urls.get(environment)
    if base is None:
        return endpoint
    split = urlsplit(endpoint.url)
    tail = urlunsplit(("", "", split.path, split.query, ""))
    return endpoint.model_copy(
        update={"url": f"{base.rstrip('/')}{tail if tail[:1] in ('/', '?', '') else f'/{tail}'}"}
    )


def check_call(call: ApiCall) -> ApiCall | None:
    """Return the GET that tells whether a call went through; None when the endpoint declares none."""
    endpoint = call.endpoint
    if endpoint.check is None:
        return None
    split = urlsplit(endpoint.url)
    known = {**call.arguments, _KEY_PARAM: idempotency_key(call)}
    named = [name for name in _PLACEHOLDER.findall(endpoint.check) if name in known]
    return call.model_copy(
        update={
            "endpoint": endpoint.model_copy(
                update={
                    "url": f"{split.scheme}://{split.netloc}{endpoint.check}",
                    "method": "GET",
                    "params": tuple(ParamSpec(name=name) for name in dict.fromkeys(named)),
                    "constants": tuple(one for one in endpoint.constants if one.placement != "body"),
                    "headers": {k: v for k, v in endpoint.headers.items() if k.lower() != "content-type"},
                    "body": None,
                    "check": None,
                }
            ),
            "arguments": {name: known[name] for name in named},
        }
    )


def _arguments(progress: EndpointProgress) -> dict[str, JsonValue]:
    values = ((param.name, progress.values.get(param.name, param.default)) for param in progress.endpoint.params)
    return {name: value for name, value in values if value is not None}


def place(call: ApiCall) -> PreparedRequest:
    """Put every argument and every constant where the endpoint wants it.

    A declared placement wins; then a `{name}` in the URL; then the query for GET and DELETE, the body for the others.
    Path values are percent-encoded whole, so a value never adds a segment. How lists and objects are written: see
    `styles`. POST and PATCH that are not declared idempotent carry an idempotency key that is the same for each
    delivery of the call.

    Raises:
        CannotPlace: NaN or infinity, a path value that is missing, empty or a dot segment, a header with line breaks,
            a placeholder in the host name, no URL at all.
    """
    for name, value in call.arguments.items():
        _refuse_nan(name, value)
    split = _split(call.endpoint.url)
    places = _by_placement(call, split)
    headers = headers_of(call, given=places["header"], cookies=places["cookie"])
    request = PreparedRequest(
        method=call.endpoint.method,
        url=_url(split, places["path"]),
        query=(*_template_query(split, call), *_all_pairs(places["query"])),
        headers=headers,
    )
    return _with_body(request, call.endpoint, places["body"], has_body=_has_body(call.endpoint, split))


def _with_body(request: PreparedRequest, endpoint: Endpoint, body: list[Placed], *, has_body: bool) -> PreparedRequest:
    if not has_body:
        return request
    match endpoint.body or _declared_encoding(request.headers):
        case "form":
            return replace(request, form=_all_pairs(body))
        case "multipart":
            # The boundary is the client's to choose, so a declared content type would contradict it.
            headers = tuple((name, value) for name, value in request.headers if name.lower() != "content-type")
            return replace(request, headers=headers, multipart=tuple(part for one in body for part in _parts(one)))
        case "value":
            return replace(request, json=body[0].value if body else None)
        case _:
            return replace(request, json={one.name: one.value for one in body})


def endpoint_address(url: str) -> str:
    """Return `scheme://host[:port]/path/{template}`: what a breaker guards. No query, no user, no fragment."""
    split = urlsplit(url)
    return f"{split.scheme.lower()}://{split.netloc.rpartition('@')[2].lower()}{split.path}"


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise CannotPlace("url", "not a URL") from None


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


def _by_placement(call: ApiCall, split: SplitResult) -> dict[str, list[Placed]]:
    """Sort arguments and constants by where they go; a constant takes the place of an argument of its name."""
    places: dict[str, dict[str, Placed]] = {name: {} for name in ("path", "query", "header", "cookie", "body")}
    for param in call.endpoint.params:
        where = _placement(call.endpoint, param, split)
        if where is not None and param.name in call.arguments:
            places[where][param.name] = Placed(
                name=param.name,
                value=call.arguments[param.name],
                style=param.style,
                explode=param.explode,
                format=param.format,
            )
    for constant in call.endpoint.constants:
        _refuse_nan(constant.name, constant.value)
        places[constant.placement][constant.name] = Placed(name=constant.name, value=constant.value)
    return {where: list(held.values()) for where, held in places.items()}


def _has_body(endpoint: Endpoint, split: SplitResult) -> bool:
    return any(_placement(endpoint, param, split) == "body" for param in endpoint.params) or any(
        constant.placement == "body" for constant in endpoint.constants
    )


def _url(split: SplitResult, values: list[Placed]) -> str:
    """Fill the path; a path parameter without a placeholder becomes a last segment."""
    if "{" in split.netloc:
        raise CannotPlace(split.netloc, "the host name is a template")
    by_name = {placed.name: placed for placed in values}

    def segment(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in by_name:
            raise CannotPlace(name, "the path needs it and it is missing")
        return path_text(by_name[name])

    path = _PLACEHOLDER.sub(segment, split.path)
    named = set(_PLACEHOLDER.findall(split.path))
    for name, placed in by_name.items():
        if name not in named:
            path = f"{path.rstrip('/')}/{path_text(placed)}"
    return urlunsplit((split.scheme, split.netloc, path, "", ""))


def _template_query(split: SplitResult, call: ApiCall) -> Pairs:
    """Fill the URL's own query; a pair whose parameter was not given is left out."""
    values, filled = call.arguments, []
    for key, template in parse_qsl(split.query, keep_blank_values=True):
        names = _PLACEHOLDER.findall(template)
        if any(name not in values for name in names):
            continue
        filled.append((key, _PLACEHOLDER.sub(lambda match: joined(values[match.group(1)]), template)))
    return tuple(filled)


def _all_pairs(values: Iterable[Placed]) -> Pairs:
    return tuple(pair for placed in values for pair in pairs(placed))


def _parts(placed: Placed) -> list[Part]:
    """Write a value as parts: one for each item of a list, JSON for an object, a file for `format: binary`."""
    if placed.format in ("binary", "byte"):
        return [Part(name=placed.name, text=joined(placed.value), file_name=placed.name)]
    if isinstance(placed.value, dict) and placed.is_plain:
        return [Part(name=placed.name, text=wire_text(placed.value), media_type="application/json")]
    return [Part(name=name, text=text) for name, text in pairs(placed)]


def _declared_encoding(headers: Pairs) -> BodyEncoding:
    declared = next((value for name, value in headers if name.lower() == "content-type"), "")
    return _ENCODINGS.get(declared.partition(";")[0].strip().lower(), "json")


def _refuse_nan(name: str, value: JsonValue) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise CannotPlace(name, "not a finite number")
    if isinstance(value, dict | list):
        children: Iterable[JsonValue] = value.values() if isinstance(value, dict) else value
        for child in children:
            _refuse_nan(name, child)
