"""The one place of the door where every exception ends: told to the client, named in the log."""

from __future__ import annotations

import time

import structlog
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api_shim.door import door_of
from api_shim.failures import (
    BodyTooLarge,
    BodyTooSlow,
    ClientLeft,
    DoorIsLeaving,
    body_as_json,
    error_body,
    new_error_id,
    told,
)
from api_shim.frames import FrameWriter
from api_shim.reading import EVENT_STREAM, language_of, wants_rich_events, wants_stream
from schemas.failures import ErrorBody, FailureCode

log = structlog.get_logger(__name__)


class Answering:
    """Pure ASGI, so that disconnects reach the routes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["app"] = self  # the router then raises for a wrong method, instead of answering in its own words
        has_started = False

        async def sending(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except ClientLeft:
            log.info("client_left_early", path=scope["path"])
        except Exception as error:
            error_id = _record(error, scope)
            if has_started:  # nothing can be said any more; the server closes the connection
                raise
            await _answer(error, error_id, scope)(scope, receive, send)


def _record(error: Exception, scope: Scope) -> str:
    """Log the failure under a new id: a refusal is everyday, a bug is for a person to see."""
    door = door_of(scope)
    how = told(error)
    error_id = new_error_id(door.clock())
    door.metrics.refusals.labels(how.code).inc()
    fields = {"error_id": error_id, "path": scope["path"], "status": how.status, "type": str(how.code)}
    if how.code is FailureCode.INTERNAL:
        log.error("request_failed", exc_info=error, **fields)
    else:
        log.info("request_refused", **fields)
    return error_id


def _answer(error: Exception, error_id: str, scope: Scope) -> Response:
    how = told(error)
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    if how.asks_to_retry:
        headers["retry-after"] = str(door_of(scope).settings.shim.retry_after_s)
    if isinstance(error, BodyTooLarge | BodyTooSlow | DoorIsLeaving):
        headers["connection"] = "close"  # the rest of the body is not read, or this process goes
    body = error_body(error, error_id=error_id, language=language_of(scope))
    if wants_stream(scope):
        headers |= {"cache-control": "no-store", "x-accel-buffering": "no"}
        return Response(_as_stream(body, scope), how.status, headers, media_type=EVENT_STREAM)
    return JSONResponse(body_as_json(body), how.status, headers)


def _as_stream(body: ErrorBody, scope: Scope) -> bytes:
    """One frame with the sentence, then END."""
    frames = FrameWriter(scope["state"].get("chat_id", ""), rich=wants_rich_events(scope))
    return frames.failure(body.error, code=body.type, error_id=body.error_id, now_ms=int(time.time() * 1000))
