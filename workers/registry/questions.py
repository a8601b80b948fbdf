"""Questions to search that are no turn: asked at the door, answered by a worker, forgotten soon.

The message on the queue carries the id alone: what somebody wants to know stays out of the broker and its letters.
"""

from __future__ import annotations

import asyncio
import secrets

import redis.asyncio as aioredis

from schemas.searching import Question
from workers.registry.connection import answering
from workers.runtime.keys import Keys

KEPT_S = 60
_POLL_S = 0.01


class Questions:
    """All methods raise StoreUnavailable when Redis is away."""

    def __init__(self, redis: aioredis.Redis, keys: Keys) -> None:
        self._redis = redis
        self._keys = keys

    async def ask(self, question: Question) -> str:
        """Put a question down and return its id."""
        question_id = f"q-{secrets.token_hex(12)}"
        with answering():
            await self._redis.set(self._keys.asked(question_id), question.model_dump_json(), ex=KEPT_S)
        return question_id

    async def load(self, question_id: str) -> Question | None:
        """Return a question; None when it is too old to be waited for."""
        with answering():
            raw = await self._redis.get(self._keys.asked(question_id))
        return Question.model_validate_json(raw) if raw else None

    async def answer(self, question_id: str, answer_json: str) -> None:
        """Leave the answer for who asked."""
        with answering():
            await self._redis.set(self._keys.answered(question_id), answer_json, ex=KEPT_S)

    async def wait(self, question_id: str, timeout_s: float) -> str | None:
        """Return the answer as JSON; None when none came in time.

        It is polled: a blocking command would hold up a connection that others share.
        """
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    with answering():
                        raw = await self._redis.get(self._keys.answered(question_id))
                    if raw:
                        return str(raw)
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            return None
