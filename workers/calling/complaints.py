"""What a refusal complains about: which parameter, and the API's own reason. Pure.

Read are problem+json with `errors` or `invalid-params` (RFC 9457 and its elder RFC 7807), the validation lists of
FastAPI, Spring, ASP.NET, Laravel, Rails, JSON:API and their like, and plain text that names a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus

from schemas.base import JsonValue
from schemas.calls import CallFailed, FailureReason
from schemas.endpoints import Endpoint, ParamSpec

REASON_LIMIT = 300
# Refusals that another value may mend; the others are about who asks, how often, or in which form.
_MENDABLE = frozenset(
    {
        HTTPStatus.OK,
        HTTPStatus.CREATED,
        HTTPStatus.ACCEPTED,
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.CONFLICT,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    }
)
_DEEPEST = 6
_ENTRIES_READ = 50
# Keys whose text names a field, and keys whose text says what is wrong with it; the most telling first.
_FIELD_KEYS = (
    "loc",
    "pointer",
    "parameter",
    "param",
    "field",
    "fieldname",
    "property",
    "propertypath",
    "propertyname",
    "path",
    "instancepath",
    "name",
    "location",
    "source",
    "attribute",
    "key",
    "target",
    "id",
)
_REASON_KEYS = (
    "detail",
    "msg",
    "message",
    "defaultmessage",
    "reason",
    "errormessage",
    "error_description",
    "description",
    "error",
    "title",
)
_PLACES = frozenset({"body", "query", "path", "header", "headers", "cookie", "data", "attributes", "request", "$", ""})
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_CAMEL = re.compile(r"(?<=[a-zäöõü0-9])(?=[A-ZÄÖÕÜ])")
_QUOTED = re.compile(r"[\"'`«„“]([\w.\-\[\]]+)[\"'`»”“]")
_SPACE = re.compile(r"\s+")
_SHORTEST_PLAIN_NAME = 3


@dataclass(frozen=True, kw_only=True)
class Complaint:
    """A parameter of the endpoint that the API did not accept; `reason` is the API's own words, maybe empty."""

    param: str
    reason: str = ""


def complaints(failed: CallFailed, endpoint: Endpoint) -> tuple[Complaint, ...]:
    """List the parameters that the answer complains about, each once, in the answer's order; () when it names none.

    Only declared parameters are named, and only by statuses that another value may mend: 400, 404, 409, 422, and
    those 2xx whose body tells of an error.
    """
    if failed.reason is not FailureReason.CLIENT_ERROR or failed.status not in _MENDABLE:
        return ()
    found: dict[str, str] = {}
    for name, reason in _entries(failed.body, endpoint, 0):
        if not found.get(name):
            found[name] = _plain(reason)
    if not found:
        found = _in_text(_main_text(failed.body), endpoint)
    return tuple(Complaint(param=name, reason=reason) for name, reason in found.items())


def _entries(body: JsonValue, endpoint: Endpoint, depth: int) -> Iterator[tuple[str, str]]:
    """Yield parameter and reason of every entry of every list or mapping of errors."""
    if depth > _DEEPEST:
        return
    if isinstance(body, list):
        for item in body[:_ENTRIES_READ]:
            yield from _entries(item, endpoint, depth + 1)
    elif isinstance(body, dict):
        own = _own_entry(body, endpoint)
        if own is not None:
            yield own
            return
        for key, held in list(body.items())[:_ENTRIES_READ]:
            param = _match(key, endpoint)
            if param is not None and _first_text(held):
                yield param, _first_text(held)
            else:
                yield from _entries(held, endpoint, depth + 1)


def _own_entry(body: dict[str, JsonValue], endpoint: Endpoint) -> tuple[str, str] | None:
    """Read one object as one complaint: it names a field and says something about it."""
    folded = {key.lower().replace("-", "").replace("_", ""): held for key, held in body.items()}
    reason = next((text for key in _REASON_KEYS if (text := _first_text(folded.get(key.replace("_", ""))))), "")
    if not reason:
        return None
    for key in _FIELD_KEYS:
        param = _of_location(folded.get(key), endpoint)
        if param is not None:
            return param, reason
    return None


def _of_location(location: JsonValue, endpoint: Endpoint) -> str | None:
    """Find the parameter that a location names: text, a list of steps, a JSON pointer, an object holding one."""
    if isinstance(location, dict):
        return next((found for held in location.values() if (found := _of_location(held, endpoint))), None)
    steps = (
        location
        if isinstance(location, list)
        else re.split(r"[./\[\]]+|#/", location)
        if isinstance(location, str)
        else []
    )
    whole = _match(location, endpoint) if isinstance(location, str) else None
    if whole is not None:
        return whole
    for step in steps:
        if isinstance(step, str) and step.lower() not in _PLACES and (param := _match(step, endpoint)) is not None:
            return param
    return None


def _match(name: str, endpoint: Endpoint) -> str | None:
    """Return the parameter of that name, in whatever spelling: regNr, reg_nr, RegNr and REG-NR are one."""
    wanted = _folded(name)
    if not wanted:
        return None
    return next((param.name for param in endpoint.params if _folded(param.name) == wanted), None)


def _folded(name: str) -> str:
    return "".join(_WORD.findall(name)).casefold()


def _first_text(value: JsonValue) -> str:
    """Return the value's text, or the first text of a list or of an object's telling keys."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return next((text for item in value if (text := _first_text(item))), "")
    if isinstance(value, dict):
        folded = {key.lower(): held for key, held in value.items()}
        return next((text for key in _REASON_KEYS if (text := _first_text(folded.get(key)))), "")
    return ""


def _main_text(body: JsonValue) -> str:
    """Return what the answer says as a whole."""
    if isinstance(body, dict):
        folded = {key.lower(): held for key, held in body.items()}
        texts = dict.fromkeys(filter(None, (_first_text(folded.get(key)) for key in _REASON_KEYS)))
        nested = _first_text(folded.get("errors"))
        return " ".join([*texts, *([nested] if nested and nested not in texts else [])])
    return _first_text(body)


def _in_text(text: str, endpoint: Endpoint) -> dict[str, str]:
    """Find parameters named in plain text: quoted ones first, then whole words that are a name or a label."""
    quoted = [found for name in _QUOTED.findall(text) if (found := _of_location(name, endpoint))]
    if quoted:
        return dict.fromkeys(quoted, _plain(text))
    named = [param.name for param in endpoint.params if any(_is_said(name, text) for name in _names(param))]
    return dict.fromkeys(named, _plain(text))


def _names(param: ParamSpec) -> list[str]:
    spaced = _CAMEL.sub(" ", param.name).replace("_", " ").replace("-", " ")
    names = [param.name, *([spaced] if " " in spaced else []), *param.labels.values()]
    return [name for name in names if len(name) >= _SHORTEST_PLAIN_NAME]


def _is_said(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


def _plain(text: str) -> str:
    """One line, of at most REASON_LIMIT characters, cut at a word."""
    line = _SPACE.sub(" ", text).strip()
    return line if len(line) <= REASON_LIMIT else f"{line[: REASON_LIMIT - 1].rsplit(' ', 1)[0]}…"
