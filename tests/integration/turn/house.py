"""A worker's rooms in this process, over a real Redis, a real search engine and real HTTP: turns without queues.

What the queues would carry is carried by hand, so a dialogue takes milliseconds. The rooms live on a loop of their own,
in a thread, as in a worker.
"""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import SecretStr

from schemas.commands import Command, Stage
from schemas.conversations import Conversation
from schemas.endpoints import Endpoint
from schemas.events import AnswerCompleted, SlotAsked, TokenDelta, TurnEvent, TurnFailed
from schemas.ids import chat_key, new_turn_id
from schemas.registry import Registered
from schemas.turns import Turn, TurnRequest
from tests.integration.carrying import carry_out
from workers import wiring
from workers.eventlog.log import EventLog
from workers.registry.store import RegistryStore
from workers.runtime.keys import Keys
from workers.runtime.settings import CacheSettings, CallingSettings, GuardSettings, LlmSettings, RedisSettings, Settings
from workers.sessions.turns import TurnStore
from workers.wiring import Rooms, close_rooms, occupy, open_rooms

_PATIENCE_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What a message led to. `streamed` are the pieces as they left, before the terminal event repeated the text."""

    turn: Turn
    end: AnswerCompleted | SlotAsked | TurnFailed
    streamed: tuple[str, ...]

    @property
    def text(self) -> str:
        return self.end.text

    @property
    def requests(self) -> int:
        """What the turn's end tells of requests to models."""
        return 0 if isinstance(self.end, TurnFailed) else self.end.costs.calls


class House:
    """The rooms of one worker. Its methods may be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, rooms: Rooms) -> None:
        self._loop = loop
        self.rooms = rooms
        self._keys = Keys(rooms.settings.redis.key_prefix)

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do something on the loop of the rooms."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_PATIENCE_S)

    def say(self, message: str, *, chat: str, seeds: dict[str, Any] | None = None) -> Answered:
        """Carry a message, and values that come beside it, from its admission to its end."""
        answered: Answered = self.run(self._say(message, chat, seeds or {}))
        return answered

    def talk(self, *messages: str) -> Answered:
        """Say them one after the other in a new chat; return what the last one led to."""
        chat = f"chat-{uuid.uuid4()}"
        return [self.say(message, chat=chat) for message in messages][-1]

    @property
    def turns(self) -> TurnStore:
        return TurnStore(self.rooms.redis, self._keys, self.rooms.settings.turn)

    async def _say(self, message: str, chat: str, seeds: dict[str, Any]) -> Answered:
        return await self.carry_on(await self.admit(message, chat=chat, seeds=seeds))

    async def admit(self, message: str, *, chat: str, seeds: dict[str, Any] | None = None) -> TurnRequest:
        """Let a message in, as the door does."""
        now = datetime.now(UTC)
        request = TurnRequest(
            turn_id=new_turn_id(chat_key("default", chat)),
            tenant="default",
            chat_id=chat,
            message=message,
            seeded_params=seeds or {},
            accepted_at=now,
            deadline_at=now + timedelta(seconds=30),
        )
        await self.turns.admit(request, on_busy="enqueue")
        return request

    async def until(self, stage: Stage, message: str, *, chat: str) -> tuple[Turn, Command]:
        """Carry a message to that stage; return its turn, and the command that waits to be carried out."""
        request = await self.admit(message, chat=chat)
        command: Command | None = Command(stage=Stage.CLASSIFICATION, turn_id=request.turn_id)
        while command is not None and command.stage is not stage:
            command = await carry_out(self.rooms.steps, command)
        turn = await self.turns.load(request.turn_id)
        assert turn is not None
        assert command is not None, turn.answer
        return turn, command

    async def remembered(self, chat: str) -> Conversation:
        """Return what the chat remembers."""
        raw = await self.rooms.redis.get(self._keys.chat(chat_key("default", chat)))
        return Conversation.model_validate_json(raw)

    async def carry_on(self, request: TurnRequest) -> Answered:
        """Carry an admitted message to its end."""
        command: Command | None = Command(stage=Stage.CLASSIFICATION, turn_id=request.turn_id)
        while command is not None:
            command = await carry_out(self.rooms.steps, command)
        events: list[TurnEvent] = [
            event for _, event in await EventLog(self.rooms.redis, self._keys).read(request.turn_id)
        ]
        (end,) = [event for event in events if isinstance(event, AnswerCompleted | SlotAsked | TurnFailed)]
        turn = await self.turns.load(request.turn_id)
        assert turn is not None
        return Answered(turn=turn, end=end, streamed=tuple(e.text for e in events if isinstance(e, TokenDelta)))

    async def index(self, endpoints: Sequence[Endpoint]) -> None:
        """Register and index."""
        registry = RegistryStore(self.rooms.redis, self._keys)
        for endpoint in endpoints:
            await registry.put(Registered(endpoint=endpoint, updated_at=datetime.now(UTC)))
            await self.rooms.indexer.index(endpoint.endpoint_id)


@contextmanager
def running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Run a loop in a thread until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@contextmanager
def open_house(
    loop: asyncio.AbstractEventLoop,
    redis_url: str,
    *,
    keeps_responses: bool = True,
    guard: GuardSettings | None = None,
    **llm: Any,
) -> Iterator[House]:
    """Open the rooms on the loop; `llm` are settings of the language model. What another house indexed is there."""
    settings = Settings(
        redis=RedisSettings(url=redis_url),
        calling=CallingSettings(allowed_hosts="127.0.0.1"),
        cache=CacheSettings(response_cache_enabled=keeps_responses),
        guard=guard or GuardSettings(),
        llm=LlmSettings.model_validate({"api_key": SecretStr("scripted"), **llm}),
    )

    def run(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(_PATIENCE_S)

    rooms: Rooms = run(open_rooms(settings))
    wiring._opened.clear()  # several houses stand side by side here; a worker has one
    try:
        yield House(loop, rooms)
    finally:
        occupy(rooms)
        run(close_rooms())
