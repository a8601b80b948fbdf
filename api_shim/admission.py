"""Lets a message in: records the turn, starts it or queues it, and follows it from its first event."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from pydantic import SecretStr

from api_shim.door import Door
from api_shim.failures import ChatIsBusy, ChatIsFull
from api_shim.follower import Reader
from api_shim.tail import Tail
from schemas.base import JsonValue
from schemas.commands import Command, Stage
from schemas.conversations import Utterance
from schemas.ids import ChatKey, TurnId, new_turn_id
from schemas.orchestrate import HistoryItem, OrchestrateRequest
from schemas.turns import OnBusy, TurnRequest
from workers.errors import StoreUnavailable

HISTORY_TEXT = 10_000
"""Characters of one earlier message that travel on; what a client pastes into its history is not our prompt."""


@dataclass(frozen=True, kw_only=True)
class Followed:
    """An admitted turn, and the reader that misses none of its events. `position` counts the turns before it."""

    request: TurnRequest
    tail: Tail
    reader: Reader
    state: Literal["started", "queued"]
    position: int = 0


def turn_request(
    door: Door, asked: OrchestrateRequest, *, tenant: str, chat: ChatKey, user_token: SecretStr | None
) -> TurnRequest:
    """Build the turn's immutable part; the deadline counts from now. Of a person's token it knows only the name.

    Where secrets are guarded, one that a person wrote into a message is taken out here, before anything keeps it.
    """
    now = door.clock()
    clean = door.clean
    return TurnRequest(
        turn_id=new_turn_id(chat),
        tenant=tenant,
        chat_id=asked.chat_id,
        author_id=asked.author_id,
        message=clean(asked.message),
        history=tuple(_utterance(item, clean) for item in asked.conversation_history),
        url=clean(asked.url),
        environment=asked.environment,
        connection_id=asked.connection_id,
        time_zone=asked.time_zone,
        user_token_name=door.user_tokens.name(user_token) if user_token else "",
        seeded_params={name: _cleaned(value, clean) for name, value in asked.seeded_params.items()},
        accepted_at=now,
        deadline_at=now + timedelta(seconds=door.settings.turn.deadline_s),
    )


def _cleaned(value: JsonValue, clean: Callable[[str], str]) -> JsonValue:
    """Clean a seeded value wherever it holds text."""
    match value:
        case str():
            return clean(value)
        case list():
            return [_cleaned(one, clean) for one in value]
        case dict():
            return {name: _cleaned(one, clean) for name, one in value.items()}
        case _:
            return value


def _utterance(item: HistoryItem, clean: Callable[[str], str]) -> Utterance:
    """Read the frontends' four roles as our two: a back-office user speaks for the house."""
    role: Literal["user", "bot"] = "user" if item.author_role in ("user", "end_user") else "bot"
    return Utterance(role=role, text=clean(item.message)[:HISTORY_TEXT])


@asynccontextmanager
async def admitted(
    door: Door, request: TurnRequest, *, on_busy: OnBusy, user_token: SecretStr | None
) -> AsyncIterator[Followed]:
    """Admit, follow and publish a turn, in two round trips; the subscription travels beside the first.

    A person's token is sealed away first, in one more.

    Raises DoorIsLeaving, TooManyQueued, ChatIsBusy, ChatIsFull and StoreUnavailable; then no turn was left to run.
    """
    door.require_open()
    door.backlog.require_room()
    channel = door.keys.live(TurnId(request.turn_id))
    async with door.follower.follow(channel, limit=door.settings.shim.slow_reader_events) as reader:
        if user_token is not None:
            await door.user_tokens.keep(request.turn_id, user_token, until=request.deadline_at)
        admission = await door.turns.admit(request, on_busy=on_busy)
        match admission.state:
            case "rejected":
                raise ChatIsBusy
            case "full":
                raise ChatIsFull
            case "queued":
                state: Literal["started", "queued"] = "queued"
            case _:
                state = "started"
        try:
            await reader.confirmed()
            if state == "started":
                door.backlog.note(await door.publisher.stage(_first_command(request.turn_id)))
        except StoreUnavailable:
            await cancel(door, request.turn_id)
            raise
        tail = Tail(reader, door.log, request.turn_id, is_replaying=True)
        yield Followed(request=request, tail=tail, reader=reader, state=state, position=admission.position)


def _first_command(turn_id: str) -> Command:
    return Command(stage=Stage.CLASSIFICATION, turn_id=turn_id)


async def cancel(door: Door, turn_id: str) -> Literal["cancelled", "already_over", "unknown"]:
    """Stop a turn and hand its chat to the next one. Without Redis the sweep does both later."""
    cancelled = await door.turns.cancel(turn_id)
    if cancelled.next_turn_id is not None:
        await door.publisher.stage(_first_command(cancelled.next_turn_id))
    return cancelled.state
