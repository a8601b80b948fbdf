"""Tasks that were given up, kept so that an operator can read and retry them.

A letter is a JSON object in one hash; a sorted set orders the letters by time and bounds their number. The letter's id
is also the error id that the user was shown.
"""

from __future__ import annotations

import json
import secrets
import traceback
from collections.abc import Awaitable
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import uuid4

import redis.asyncio as aioredis
from redis.exceptions import RedisError

from schemas.base import AwareDatetime, Frozen, JsonValue
from tasks.publish import Publisher
from workers.errors import StoreUnavailable
from workers.runtime.clock import Clock, utc_now
from workers.runtime.keys import Keys

_LONGEST_TRACEBACK = 16_000
_LONGEST_MESSAGE = 2_000
# Longer than a publish can take (its timeout, tried thrice), short enough for an impatient operator.
_PRESS_HOLDS = timedelta(seconds=30)


class DeadLetter(Frozen):
    """One task that was given up. `retried_as` is the id of the task that a retry started."""

    letter_id: str
    task_id: str
    task: str
    queue: str
    args: tuple[JsonValue, ...] = ()
    turn_id: str | None = None
    error_type: str
    error_message: str
    traceback: str = ""
    deliveries: int = 1
    at: AwareDatetime
    retried_as: str | None = None
    retried_at: AwareDatetime | None = None


class UnknownLetter(LookupError):
    """No dead letter of that id is kept (any more)."""


def new_error_id(now: datetime) -> str:
    """Mint an id that a user can read out: ERR-YYYYMMDD-HHMMSS-XXXX."""
    return f"ERR-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2).upper()}"


def describe(error: BaseException) -> tuple[str, str, str]:
    """Return an error's type, message and traceback, each within its bound (the traceback keeps its end)."""
    lines = "".join(traceback.format_exception(error))
    return type(error).__name__, str(error)[:_LONGEST_MESSAGE], lines[-_LONGEST_TRACEBACK:]


class DeadLetters:
    """The letters of this deployment. Every method raises StoreUnavailable when Redis is away."""

    def __init__(self, redis: aioredis.Redis, keys: Keys, *, kept: int, clock: Clock = utc_now) -> None:
        self._redis = redis
        self._letters = keys.dead()
        self._index = keys.dead_index()
        self._presses = f"{keys.dead()}:presses"
        self._kept = kept
        self._clock = clock

    async def record(self, letter: DeadLetter) -> DeadLetter:
        """Keep a letter and drop the oldest beyond the bound; returns it with the id under which it is kept."""
        while not await self._write(letter):
            letter = letter.model_copy(update={"letter_id": new_error_id(self._clock())})
        surplus: list[str] = await self._ask(self._redis.zrange(self._index, 0, -self._kept - 1))
        for letter_id in surplus:
            await self.drop(letter_id)
        return letter

    async def _write(self, letter: DeadLetter) -> bool:
        """Write a letter and list it at once, so that none is kept that nobody sees; False when its id is taken."""
        async with self._redis.pipeline(transaction=True) as packet:
            packet.hsetnx(self._letters, letter.letter_id, letter.model_dump_json())
            packet.zadd(self._index, {letter.letter_id: letter.at.timestamp()}, nx=True)
            is_new, _ = await self._ask(packet.execute())
        return bool(is_new)

    async def count(self) -> int:
        """Count the letters."""
        return int(await self._ask(self._redis.zcard(self._index)))

    async def list(self, *, offset: int = 0, limit: int = 50) -> tuple[DeadLetter, ...]:
        """Return a page of letters, newest first."""
        ids: list[str] = await self._ask(self._redis.zrevrange(self._index, offset, offset + limit - 1))
        if not ids:
            return ()
        found: list[str | None] = await self._ask(self._redis.hmget(self._letters, ids))
        return tuple(DeadLetter.model_validate_json(text) for text in found if text)

    async def show(self, letter_id: str) -> DeadLetter:
        """Return one letter. Raises UnknownLetter."""
        text = await self._ask(self._redis.hget(self._letters, letter_id))
        if text is None:
            raise UnknownLetter(letter_id)
        return DeadLetter.model_validate_json(text)

    async def drop(self, letter_id: str) -> bool:
        """Forget a letter; False when there was none."""
        async with self._redis.pipeline(transaction=True) as pipeline:
            pipeline.hdel(self._letters, letter_id)
            pipeline.zrem(self._index, letter_id)
            pipeline.hdel(self._presses, letter_id)
            dropped, *_ = await self._ask(pipeline.execute())
        return bool(dropped)

    async def retry(self, letter_id: str, publisher: Publisher) -> str:
        """Publish the letter's task anew; returns the new task's id. Pressing twice publishes once.

        The first press reserves the new id; a press that died before it published may be repeated after 30 s, with
        the same id. Raises UnknownLetter.
        """
        letter = await self.show(letter_id)
        if letter.retried_as:
            return letter.retried_as
        task_id, is_ours = await self._press(letter_id)
        if is_ours:
            try:
                await publisher.send(letter.task, cast("Any", letter.args), task_id=task_id)
            except StoreUnavailable:
                await self._ask(self._redis.hdel(self._presses, letter_id))
                raise
            sent = letter.model_copy(update={"retried_as": task_id, "retried_at": self._clock()})
            await self._ask(self._redis.hset(self._letters, letter_id, sent.model_dump_json()))
        return task_id

    async def _press(self, letter_id: str) -> tuple[str, bool]:
        now = self._clock()
        press = json.dumps({"task_id": str(uuid4()), "at": now.timestamp()})
        if await self._ask(self._redis.hsetnx(self._presses, letter_id, press)):
            return json.loads(press)["task_id"], True
        earlier = json.loads(await self._ask(self._redis.hget(self._presses, letter_id)) or press)
        is_abandoned = now.timestamp() - earlier["at"] > _PRESS_HOLDS.total_seconds()
        if is_abandoned:
            renewed = json.dumps({**earlier, "at": now.timestamp()})
            await self._ask(self._redis.hset(self._presses, letter_id, renewed))
        return earlier["task_id"], is_abandoned

    async def _ask(self, reply: Awaitable[Any] | Any) -> Any:
        try:
            return await reply
        except (RedisError, OSError) as error:
            raise StoreUnavailable("dead letters") from error
