"""A turn by its id: where it stands, its events from any point on, and its stop. Never a second run."""

from __future__ import annotations

import re
import time

from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from api_shim import sse
from api_shim.admission import cancel
from api_shim.door import door_of
from api_shim.failures import InvalidRequest, NoSuchThing, TurnIsGone
from api_shim.frames import FrameWriter
from api_shim.reading import language_of, wants_rich_events
from api_shim.stream import HEADERS, Stream
from api_shim.tail import Tail, place_of
from api_shim.tenancy import tenant_of
from schemas.base import DoorModel
from schemas.endpoints import Language
from schemas.events import AnswerCompleted, SlotAsked, TerminalEvent, TurnCancelled, TurnFailed
from schemas.failures import FailureCode, FieldError
from schemas.ids import TurnId, is_turn_id
from schemas.routing import Layer
from schemas.turns import Phase, Turn
from workers.messages.catalog import text

_EVENT_ID = re.compile(r"(\d{1,15})(-0)?")


class TurnState(DoorModel):
    """Answer of GET /turns/{id}."""

    turn_id: str
    chat_id: str
    phase: Phase
    is_over: bool
    language: Language | None = None
    layer: Layer | None = None
    endpoints: tuple[str, ...] = ()
    answer: str = ""
    failure: FailureCode | None = None
    error_id: str | None = None
    accepted_at: str
    deadline_at: str


class TurnStopped(DoorModel):
    """Answer of DELETE /turns/{id}."""

    turn_id: str
    state: str


async def turn_state(request: Request) -> JSONResponse:
    """GET /turns/{id}."""
    turn = await _find(request.scope)
    asked = turn.request
    state = TurnState(
        turn_id=turn.turn_id,
        chat_id=asked.chat_id,
        phase=turn.phase,
        is_over=not turn.phase.is_moving,
        language=turn.language,
        layer=turn.decision.layer if turn.decision else None,
        endpoints=tuple(call.endpoint.name for call in turn.calls),
        answer=turn.answer,
        failure=turn.failure.code if turn.failure else None,
        error_id=turn.failure.error_id if turn.failure else None,
        accepted_at=asked.accepted_at.isoformat(),
        deadline_at=asked.deadline_at.isoformat(),
    )
    return JSONResponse(
        state.model_dump(mode="json", by_alias=True, exclude_none=True), headers={"cache-control": "no-store"}
    )


async def stop_turn(request: Request) -> JSONResponse:
    """DELETE /turns/{id}: 202 when this stopped the turn, 200 when it was over already."""
    turn = await _find(request.scope)
    state = await cancel(door_of(request.scope), turn.turn_id)
    if state == "unknown":
        raise TurnIsGone
    body = TurnStopped(turn_id=turn.turn_id, state=state).model_dump(mode="json", by_alias=True)
    return JSONResponse(body, 202 if state == "cancelled" else 200)


class TurnEvents:
    """GET /turns/{id}/events, as raw ASGI: everything after Last-Event-ID, from any instance."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        door = door_of(scope)
        door.require_open()
        seen = _last_seen(scope)
        turn = await _find(scope)
        rich = wants_rich_events(scope)
        frames = FrameWriter(turn.request.chat_id, rich=rich)
        channel = door.keys.live(TurnId(turn.turn_id))
        async with door.follower.follow(channel, limit=door.settings.shim.slow_reader_events) as reader:
            await reader.confirmed()
            if not turn.phase.is_moving and not await door.log.read(turn.turn_id):
                await _send_from_record(turn, frames, send, language=language_of(scope))
                return
            stream = Stream(
                door,
                turn.request,
                reader=reader,
                tail=Tail(reader, door.log, turn.turn_id, is_replaying=True),
                frames=frames,
                language=language_of(scope),
            )
            await stream.run(receive, send, first=_greeting(turn, rich=rich), seen=seen)


def _greeting(turn: Turn, *, rich: bool) -> bytes:
    if not rich:
        return sse.comment("resuming")
    return sse.comment("resuming") + sse.event(
        {"turnId": turn.turn_id, "chatId": turn.request.chat_id, "state": turn.phase, "position": 0}, name="meta"
    )


async def _find(scope: Scope) -> Turn:
    """Load the turn that the path names, if it is this tenant's."""
    turn_id = str(scope["path_params"]["turn_id"])
    if not is_turn_id(turn_id):
        raise NoSuchThing
    turn = await door_of(scope).turns.load(turn_id)
    if turn is None or turn.request.tenant != tenant_of(scope):
        raise TurnIsGone
    return turn


def _last_seen(scope: Scope) -> int:
    """Read where the client stopped: the header that browsers send, or the query where they can't."""
    given = Headers(scope=scope).get("last-event-id") or QueryParams(scope["query_string"]).get("last_event_id") or "0"
    if _EVENT_ID.fullmatch(given) is None:
        raise InvalidRequest([FieldError(path="last_event_id", message="must be the id of an event, such as 7-0")])
    return place_of(given)


async def _send_from_record(turn: Turn, frames: FrameWriter, send: Send, *, language: Language) -> None:
    """Tell a finished turn whose events are no longer kept, from its record."""
    event = _end_from_record(turn, language)
    body = frames.write("", event, now_ms=int(time.time() * 1000))
    await send({"type": "http.response.start", "status": 200, "headers": list(HEADERS)})
    await send({"type": "http.response.body", "body": body})


def _end_from_record(turn: Turn, language: Language) -> TerminalEvent:
    if turn.failure is not None:
        said = text(f"failure.{turn.failure.code}", turn.language or language, error_id=turn.failure.error_id)
        return TurnFailed(failure=turn.failure, text=said)
    match turn.phase:
        case Phase.WAITING_FOR_USER:
            return SlotAsked(attempt=turn.attempt, text=turn.answer)
        case Phase.DONE:
            layer = turn.decision.layer if turn.decision else Layer.OOD
            return AnswerCompleted(attempt=turn.attempt, text=turn.answer, layer=layer)
        case _:
            return TurnCancelled()
