"""A real door on a real socket, and the stage hands that a test plays itself: it takes a turn up and speaks."""

from __future__ import annotations

import asyncio
import base64
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import redis.asyncio as aioredis

from schemas.conversations import Conversation
from schemas.events import AnswerCompleted, SlotAsked, TokenDelta, TurnEvent, TurnFailed
from schemas.routing import Choice, Layer
from schemas.turns import Phase, Turn
from tests.conftest import free_port
from workers.runtime.keys import Keys
from workers.runtime.settings import TurnSettings
from workers.sessions.results import Taken
from workers.sessions.turns import TurnStore

NOTHING_SPENT = {"calls": 0, "tokens": 0, "usd": 0, "judgements": {}}


@dataclass(frozen=True)
class RunningDoor:
    url: str
    port: int
    process: subprocess.Popen[bytes]


@contextmanager
def running_door(redis_url: str, **settings: object) -> Iterator[RunningDoor]:
    port = int(str(settings.pop("SHIM_PORT", free_port())))
    changes = {"REDIS_URL": redis_url, "SHIM_PORT": port, **settings}
    environment = [f"{name}={value}" for name, value in changes.items()]
    process = subprocess.Popen(["env", *environment, sys.executable, "-m", "api_shim"])
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(url, process)
        yield RunningDoor(url, port, process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(timeout=5)


def _wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while True:
        assert process.poll() is None, "the door stopped while starting"
        try:
            if httpx.get(f"{url}/healthz", trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < deadline, "the door did not come up"
        time.sleep(0.05)


class Hand:
    """Plays the worker: takes published turns from the queue and speaks through the real turn store."""

    def __init__(self, redis: aioredis.Redis) -> None:
        self.redis = redis
        self.store = TurnStore(redis, Keys(), TurnSettings())

    async def next_turn(self) -> str:
        """Wait for a message of the classification queue and return the turn it names."""
        found = await self.redis.brpop(["sb:queue:classification"], timeout=4)
        assert found is not None, "nothing was published"
        args, _, _ = json.loads(base64.b64decode(json.loads(found[1])["body"]))
        return str(args[0])

    async def take(self, turn_id: str | None = None) -> Taken:
        taken = await self.store.begin(
            turn_id or await self.next_turn(),
            serves=frozenset({Phase.ACCEPTED, Phase.CLASSIFYING}),
            enter=Phase.CLASSIFYING,
        )
        assert isinstance(taken, Taken)
        return taken

    async def say(self, turn: Turn, *pieces: str, start: int = 0) -> None:
        for index, piece in enumerate(pieces, start):
            await self.store.say(
                turn.turn_id, [TokenDelta(attempt=turn.attempt, index=index, text=piece)], attempt=turn.attempt
            )

    async def end(self, turn: Turn, event: TurnEvent, phase: Phase, before: Sequence[TurnEvent] = ()) -> str | None:
        text = getattr(event, "text", "")
        failure = event.failure if isinstance(event, TurnFailed) else None
        done = turn.model_copy(update={"phase": phase, "answer": text, "failure": failure})
        return await self.store.commit(done, [*before, event], conversation=Conversation(language="en"))

    async def answer(self, turn: Turn, text: str, *choices: Choice) -> str | None:
        event = AnswerCompleted(attempt=turn.attempt, text=text, layer=Layer.SERVICE, choices=choices)
        return await self.end(turn, event, Phase.DONE)

    async def ask(self, turn: Turn, text: str, *choices: Choice) -> str | None:
        event = SlotAsked(attempt=turn.attempt, text=text, missing=("country",), choices=choices)
        return await self.end(turn, event, Phase.WAITING_FOR_USER)

    async def answer_next(self, *pieces: str) -> str:
        """Take the next turn and say these tokens, then the whole."""
        taken = await self.take()
        await self.say(taken.turn, *pieces)
        await self.answer(taken.turn, "".join(pieces))
        return taken.turn.turn_id


@dataclass(frozen=True)
class Heard:
    """One event as a strict reader of the standard sees it."""

    name: str
    entry_id: str
    data: Any


class SseReader:
    """Reads a response's events one by one; splits at LF only, as our own writer ends its lines."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.comments: list[str] = []
        self._bytes = response.aiter_raw()
        self._rest = b""

    async def block(self) -> dict[str, str] | None:
        while b"\n\n" not in self._rest:
            try:
                self._rest += await anext(self._bytes)
            except StopAsyncIteration:
                return None
        block, _, self._rest = self._rest.partition(b"\n\n")
        fields: dict[str, str] = {}
        for line in block.decode().split("\n"):
            name, _, value = line.partition(":")
            if name:
                fields[name] = value.removeprefix(" ")
            else:
                self.comments.append(value.strip())
        return fields

    async def next(self) -> Heard | None:
        while (fields := await self.block()) is not None:
            if "data" in fields:
                name = fields.get("event", "message")
                return Heard(name, fields.get("id", ""), json.loads(fields["data"]))
        return None

    async def content(self) -> str | None:
        while (heard := await self.next()) is not None:
            if heard.name == "message":
                return str(heard.data["payload"]["content"])
        return None

    async def rest(self) -> list[Heard]:
        found = []
        while (heard := await self.next()) is not None:
            found.append(heard)
        return found


def shown(events: Sequence[Heard]) -> str:
    """Concatenate what a plain client shows; the last frame must be END."""
    contents = [heard.data["payload"]["content"] for heard in events if heard.name == "message"]
    assert contents[-1] == "END"
    assert "END" not in contents[:-1]
    return "".join(contents[:-1])


async def until(condition: Any, *, within_s: float = 3.0) -> None:
    deadline = time.monotonic() + within_s
    while not await condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)
