"""The chat frontends' three routes: an answer as JSON, as a stream, and for testers in a chat of their own."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import orjson
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from api_shim import sse
from api_shim.admission import Followed, admitted, cancel, turn_request
from api_shim.departure import watching_client
from api_shim.door import Door, door_of
from api_shim.failures import ClientLeft, InvalidRequest, LateTurn
from api_shim.frames import FrameWriter, View, answered_by, told_costs
from api_shim.reading import M, is_set, language_of, parse, read_body, user_token_of, wants_rich_events
from api_shim.stream import LATE, Stream, patience_s
from api_shim.tenancy import conversation_key, tenant_of
from schemas.base import JsonValue
from schemas.endpoints import Language
from schemas.events import (
    AnswerCompleted,
    SlotAsked,
    TerminalEvent,
    TokenDelta,
    TurnCancelled,
    TurnEvent,
    TurnFailed,
)
from schemas.ids import chat_key
from schemas.orchestrate import Button, OrchestrateRequest, OrchestrateResponse, TestRequest
from schemas.routing import Layer
from schemas.turns import TurnRequest
from workers.messages.catalog import text

_LOOK_AGAIN_S = 15.0


async def orchestrate(request: Request) -> JSONResponse:
    """POST /orchestrate: wait for the turn's end; a client that leaves meanwhile stops the turn."""
    door = door_of(request.scope)
    asked = await _read(OrchestrateRequest, request.scope, request.receive)
    ended = await _wait(door, _of_chat(door, asked, request.scope), asked, request)
    return _response(ended, request.scope, chat_id=asked.chat_id)


async def orchestrate_test(request: Request) -> JSONResponse:
    """POST /orchestrate/test: the same in a fresh chat, so that testers never share one; no chat id in the answer."""
    door = door_of(request.scope)
    tested = await _read(TestRequest, request.scope, request.receive)
    asked = OrchestrateRequest(
        chat_id=f"test-{secrets.token_hex(8)}",
        message=tested.message,
        environment=tested.environment,
        connection_id=tested.connection_id,
    )
    tenant = tenant_of(request.scope)
    turn = turn_request(
        door, asked, tenant=tenant, chat=chat_key(tenant, asked.chat_id), user_token=user_token_of(request.scope)
    )
    return _response(await _wait(door, turn, asked, request), request.scope, chat_id=None)


class OrchestrateStream:
    """POST /orchestrate/stream, as raw ASGI. A client that leaves may come back: the turn goes on."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        door = door_of(scope)
        asked = await _read(OrchestrateRequest, scope, receive)
        turn = _of_chat(door, asked, scope)
        rich = wants_rich_events(scope)
        async with admitted(door, turn, on_busy=asked.on_busy, user_token=user_token_of(scope)) as followed:
            stream = Stream(
                door,
                turn,
                reader=followed.reader,
                tail=followed.tail,
                frames=FrameWriter(turn.chat_id, rich=rich),
                language=language_of(scope),
            )
            await stream.run(receive, send, first=_greeting(followed, rich=rich))


def _greeting(followed: Followed, *, rich: bool) -> bytes:
    """The first bytes: where the turn stands, as a comment that plain clients skip, or as an event."""
    standing = followed.state if followed.state == "started" else f"queued behind {followed.position}"
    if not rich:
        return sse.comment(standing)
    known: JsonValue = {
        "turnId": followed.request.turn_id,
        "chatId": followed.request.chat_id,
        "state": followed.state,
        "position": followed.position,
    }
    return sse.comment(standing) + sse.event(known, name="meta")


async def _read(model: type[M], scope: Scope, receive: Receive) -> M:
    body = await read_body(scope, receive, max_bytes=door_of(scope).settings.shim.max_body_bytes)
    try:
        parsed = parse(model, body)
    except InvalidRequest:
        scope["state"]["chat_id"] = _chat_id_in(body)
        raise
    scope["state"]["chat_id"] = getattr(parsed, "chat_id", "")
    return parsed


def _chat_id_in(body: bytes) -> str:
    """Find the chat id of a body that was refused, so that the error's frame reaches the right chat."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return ""
    chat_id = found.get("chatId") if isinstance(found, dict) else None
    return chat_id if isinstance(chat_id, str) else ""


def _of_chat(door: Door, asked: OrchestrateRequest, scope: Scope) -> TurnRequest:
    tenant = tenant_of(scope)
    chat = conversation_key(tenant, chat_id=asked.chat_id, author_id=asked.author_id)
    return turn_request(door, asked, tenant=tenant, chat=chat, user_token=user_token_of(scope))


@dataclass(frozen=True)
class _Ended:
    """A turn's end, the text that stood before it, and the language of our own sentences."""

    turn: TurnRequest
    event: TerminalEvent
    said: str


async def _wait(door: Door, turn: TurnRequest, asked: OrchestrateRequest, request: Request) -> _Ended:
    """Follow the turn to its end. Raises ClientLeft (the turn is stopped) and LateTurn."""
    own = user_token_of(request.scope)
    async with admitted(door, turn, on_busy=asked.on_busy, user_token=own) as followed:
        has_left = False

        def leave() -> None:
            nonlocal has_left
            has_left = True
            followed.reader.wake()

        view = View(takes_replacements=True)
        async with watching_client(request.receive, leave):
            while True:
                wait_s = patience_s(turn, now=door.clock(), at_most_s=_LOOK_AGAIN_S)
                for _, event in await followed.tail.next(wait_s):
                    if (ended := _end_of(turn, event, view)) is not None:
                        door.metrics.turns.labels(event.type).inc()
                        return ended
                if has_left:
                    await cancel(door, turn.turn_id)
                    raise ClientLeft
                if door.clock() >= turn.deadline_at + LATE:
                    raise LateTurn


def _end_of(turn: TurnRequest, event: TurnEvent, view: View) -> _Ended | None:
    match event:
        case TokenDelta():
            view.token(event)
        case SlotAsked() | AnswerCompleted() | TurnFailed() | TurnCancelled():
            return _Ended(turn, event, view.text)
        case _:
            pass
    return None


def _response(ended: _Ended, scope: Scope, *, chat_id: str | None) -> JSONResponse:
    event = ended.event
    choices = event.choices if isinstance(event, SlotAsked | AnswerCompleted) else ()
    response = OrchestrateResponse(
        chat_id=chat_id,
        llm_service_active=not isinstance(event, TurnFailed),
        question_out_of_llm_scope=isinstance(event, AnswerCompleted) and event.layer is Layer.OOD,
        input_guard_failed=isinstance(event, AnswerCompleted) and event.input_guard_failed,
        content=_content(event, ended.said, language_of(scope)),
        buttons=tuple(Button(title=one.title, payload=one.payload) for one in choices) or None,
        turn_id=ended.turn.turn_id,
    )
    body = response.model_dump(mode="json", by_alias=True, exclude_none=True)
    if is_set(scope, "meta"):
        body["meta"] = _meta(event)
    return JSONResponse(body, headers={"x-turn-id": ended.turn.turn_id, "cache-control": "no-store"})


def _content(event: TerminalEvent, said: str, language: Language) -> str:
    match event:
        case TurnCancelled():
            return said or text("door.stopped", language)
        case _:
            return event.text


def _meta(event: TerminalEvent) -> dict[str, JsonValue]:
    """What `?meta=true` adds: how the turn ended, and what answered it."""
    meta: dict[str, JsonValue] = {"outcome": event.type}
    match event:
        case AnswerCompleted():
            meta |= answered_by(event)
        case SlotAsked(missing=missing):
            meta |= {"missing": list(missing), "costs": told_costs(event.costs)}
        case TurnFailed(failure=failure):
            meta |= {"errorId": failure.error_id, "type": failure.code}
        case _:
            pass
    return meta
