"""A worker that a browser test steers step by step: its own loop in a thread, the real turn store behind it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from schemas.events import CallStarted, TokenDelta, TurnFailed
from schemas.failures import Failure, FailureCode
from schemas.routing import Choice
from schemas.turns import Phase, Turn
from tests.integration.shim.running import Hand
from workers.runtime.redis import async_client
from workers.runtime.settings import RedisSettings

T = TypeVar("T")


class ScriptedWorker:
    """Every method returns when Redis has it."""

    def __init__(self, redis_url: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._redis = async_client(RedisSettings(url=redis_url))
        self._hand = Hand(self._redis)
        self._run(self._redis.flushall())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    @property
    def is_idle(self) -> bool:
        return self._run(self._redis.dbsize()) == 0

    def take(self) -> Turn:
        return self._run(self._hand.take()).turn

    def say(self, turn: Turn, *pieces: str, start: int = 0) -> None:
        self._run(self._hand.say(turn, *pieces, start=start))

    def say_anew(self, turn: Turn, text: str) -> Turn:
        """Speak as a worker that had to begin again."""
        again = turn.model_copy(update={"attempt": turn.attempt + 1})
        told = [TokenDelta(attempt=again.attempt, index=0, text=text)]
        self._run(self._hand.store.say(turn.turn_id, told, attempt=None))
        return again

    def call(self, turn: Turn, endpoint: str) -> None:
        told = [CallStarted(index=0, endpoint=endpoint)]
        self._run(self._hand.store.say(turn.turn_id, told, attempt=turn.attempt))

    def answer(self, turn: Turn, text: str, *choices: Choice) -> None:
        self._run(self._hand.answer(turn, text, *choices))

    def ask(self, turn: Turn, text: str, *choices: Choice) -> None:
        self._run(self._hand.ask(turn, text, *choices))

    def fail(self, turn: Turn, text: str) -> None:
        failure = Failure(code=FailureCode.INTERNAL, error_id="ERR-20261201-120000-ABCD")
        self._run(self._hand.end(turn, TurnFailed(failure=failure, text=text), Phase.FAILED))

    def phase(self, turn: Turn) -> Phase:
        found = self._run(self._hand.store.load(turn.turn_id))
        assert found is not None
        return found.phase

    def close(self) -> None:
        self._run(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5)
        self._loop.close()

    async def _close(self) -> None:
        await self._redis.aclose()
        await self._redis.connection_pool.disconnect()
