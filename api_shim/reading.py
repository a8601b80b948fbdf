"""Reads a request: its body within a limit, its JSON into a model, its wishes from headers and query."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from pydantic import BaseModel, SecretStr, ValidationError
from starlette.datastructures import Headers, QueryParams
from starlette.types import Receive, Scope

from api_shim.failures import BodyTooLarge, BodyTooSlow, ClientLeft, InvalidRequest
from schemas.endpoints import LANGUAGES, Language
from schemas.failures import FieldError

M = TypeVar("M", bound=BaseModel)

EVENT_STREAM = "text/event-stream"
BODY_WITHIN_S = 30.0
"""A client that needs longer to send what it wants holds a connection and nothing else."""
USER_TOKEN = "X-User-Token"  # noqa: S105 - the name of a header
"""Carries the person's own token for the APIs. `Authorization` would be about the frontend, not about the person."""
_TOKEN = re.compile(r"(?:bearer +)?(?P<token>[\x21-\x7e]{1,8192})", re.IGNORECASE)


async def read_body(scope: Scope, receive: Receive, *, max_bytes: int, within_s: float = BODY_WITHIN_S) -> bytes:
    """Return the body.

    Raises BodyTooLarge as soon as it is known to be, BodyTooSlow when it is not whole in time, ClientLeft when the
    client hangs up.
    """
    declared = Headers(scope=scope).get("content-length", "")
    if declared.isdigit() and int(declared) > max_bytes:
        raise BodyTooLarge
    try:
        async with asyncio.timeout(within_s):
            return await _all_of_body(receive, max_bytes=max_bytes)
    except TimeoutError as error:
        raise BodyTooSlow from error


async def _all_of_body(receive: Receive, *, max_bytes: int) -> bytes:
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > max_bytes:
            raise BodyTooLarge
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def parse(model: type[M], body: bytes) -> M:
    """Read JSON into the model; every fault becomes InvalidRequest with the path of its field."""
    with faults_of_request():
        parsed = model.model_validate_json(body)
    # NUL is legal JSON, but no store and no customer's API takes it; looking is cheap where there is none.
    if b"\\u0000" in body:
        found = [
            FieldError(path=path, message="must not hold NUL")
            for path in _with_nul(parsed.model_dump(by_alias=True), "")
        ]
        if found:
            raise InvalidRequest(found)
    return parsed


@contextmanager
def faults_of_request() -> Iterator[None]:
    """Blame the request for what pydantic finds wrong inside: raises InvalidRequest."""
    try:
        yield
    except ValidationError as error:
        raise InvalidRequest(_faults(error)) from error


def _faults(error: ValidationError) -> list[FieldError]:
    return [
        FieldError(path=".".join(str(step) for step in fault["loc"]) or "body", message=fault["msg"])
        for fault in error.errors(include_url=False, include_context=False, include_input=False)
    ]


def _with_nul(value: object, path: str) -> Iterator[str]:
    """Yield the paths of texts that hold NUL (a key that does is named by its parent)."""
    match value:
        case str() if "\0" in value:
            yield path or "body"
        case dict():
            for key, inner in value.items():
                if "\0" in str(key):
                    yield path or "body"
                yield from _with_nul(inner, f"{path}.{key}".lstrip("."))
        case list() | tuple():
            for index, inner in enumerate(value):
                yield from _with_nul(inner, f"{path}.{index}".lstrip("."))
        case _:
            pass


def language_of(scope: Scope) -> Language:
    """Choose the language of our own sentences: the first of ours that Accept-Language names, else English."""
    accepted = Headers(scope=scope).get("accept-language", "")
    for wish in accepted.split(","):
        tag = wish.partition(";")[0].strip().lower().partition("-")[0]
        for language in LANGUAGES:
            if tag == language:
                return language
    return "en"


def user_token_of(scope: Scope) -> SecretStr | None:
    """Return the person's own token, if one came along, with or without the word Bearer. Raises InvalidRequest."""
    given = Headers(scope=scope).get(USER_TOKEN, "").strip()
    if not given:
        return None
    found = _TOKEN.fullmatch(given)
    if found is None:
        raise InvalidRequest(
            [FieldError(path=USER_TOKEN, message="must be one token of at most 8192 ASCII characters")]
        )
    return SecretStr(found["token"])


def wants_stream(scope: Scope) -> bool:
    """Whether the client reads an event stream."""
    return EVENT_STREAM in Headers(scope=scope).get("accept", "")


def wants_rich_events(scope: Scope) -> bool:
    """Whether the client asked for named events: `Accept: …; profile=signalbox`, or `?events=rich`."""
    accepted = Headers(scope=scope).get("accept", "").replace('"', "").replace(" ", "")
    return "profile=signalbox" in accepted or QueryParams(scope["query_string"]).get("events") == "rich"


def is_set(scope: Scope, name: str) -> bool:
    """Whether a switch such as `?wait=true` is on."""
    return QueryParams(scope["query_string"]).get(name, "").lower() in ("true", "1", "yes")
