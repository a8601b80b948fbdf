"""Whether an answer with a 2xx status is one: by the endpoint's declared rule, else by its plain form. Pure.

Some APIs say `{"error": "…"}` with status 200. Without a declared rule only a body that holds nothing but an error is
taken for one: `{"errors": [], "data": {…}}` is an answer, and so is an error beside data.
"""

from __future__ import annotations

import re
from http import HTTPStatus

from schemas.base import JsonValue
from schemas.calls import FailureReason
from schemas.endpoints import SuccessRule

_ERROR_KEYS = frozenset({"error", "errors", "errormessage", "fault", "exception"})
# What stands beside an error and is no data.
_COMPANIONS = frozenset(
    {
        "status", "statuscode", "statustext", "httpstatus", "code", "errorcode", "errorid", "message", "msg",
        "description", "errordescription", "detail", "details", "title", "type", "instance", "reason", "hint",
        "success", "ok", "result", "timestamp", "time", "path", "method", "trace", "traceid", "requestid",
        "correlationid", "help", "documentationurl", "errorurl", "erroruri",
    }
)  # fmt: skip
# JSend's words (github.com/omniti-labs/jsend), beside a message.
_NEGATIVE = frozenset({"error", "fail"})
_MESSAGES = frozenset({"message", "msg", "errordescription", "detail", "description", "reason"})
_STATUS_KEYS = frozenset({"status", "statuscode", "httpstatus", "code"})
_NO_LETTER = re.compile(r"[^a-z]")


def refusal_in(body: JsonValue, rule: SuccessRule | None, *, is_problem: bool = False) -> FailureReason | None:
    """Return what a 2xx answer amounts to when it is a failure; None when it is a success.

    `is_problem`: it was sent as problem+json. A body that names a status of 500 or more is the server's trouble;
    anything else is a refusal of what was sent.
    """
    is_failure = (is_problem or _is_bare_error(body)) if rule is None else not _keeps(rule, body)
    if not is_failure:
        return None
    return FailureReason.SERVER_ERROR if _is_servers(body) else FailureReason.CLIENT_ERROR


def _keeps(rule: SuccessRule, body: JsonValue) -> bool:
    return (
        all(_at(body, path) is not None for path in rule.present)
        and not any(_at(body, path) for path in rule.absent)
        and all(any(_is_same(_at(body, path), value) for value in values) for path, values in rule.equals.items())
    )


def _is_same(found: JsonValue, wanted: JsonValue) -> bool:
    """Compare as JSON does: true is not 1."""
    return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)


def _at(body: JsonValue, path: str) -> JsonValue:
    for step in path.removeprefix("$").strip(".").split("."):
        if isinstance(body, dict):
            body = body.get(step)
        elif isinstance(body, list) and step.isdecimal() and int(step) < len(body):
            body = body[int(step)]
        else:
            return None
    return body


def _is_bare_error(body: JsonValue) -> bool:
    """Whether an object tells of an error and of nothing else; empty members do not count."""
    if not isinstance(body, dict):
        return False
    told = {_plain(name): value for name, value in body.items() if value is False or value}
    if not told.keys() <= _ERROR_KEYS | _COMPANIONS:
        return False
    has_error = any(told.get(key) for key in _ERROR_KEYS)
    is_denied = any(told.get(key) is False for key in ("success", "ok"))
    is_negative = told.get("status") in _NEGATIVE and bool(told.keys() & _MESSAGES)
    return has_error or is_denied or is_negative


def _is_servers(body: JsonValue) -> bool:
    if not isinstance(body, dict):
        return False
    inner = body.get("error")
    holders = [body, inner] if isinstance(inner, dict) else [body]
    numbers = [value for one in holders for name, value in one.items() if _plain(name) in _STATUS_KEYS]
    return any(_number(value) in range(HTTPStatus.INTERNAL_SERVER_ERROR, 600) for value in numbers)


def _number(value: JsonValue) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and re.fullmatch(r"[0-9]{3}", value) else 0


def _plain(name: str) -> str:
    return _NO_LETTER.sub("", name.lower())
