"""What a chat remembers, and for how long: its time starts anew with every turn, and then nothing of it is left."""

from __future__ import annotations

import asyncio

import pytest
import redis.asyncio as aioredis

from schemas.conversations import Conversation
from schemas.ids import chat_key
from tests.integration.sessions.test_turn_store import a_request, finish, take
from tests.unit.workers.extraction.small_catalogue import TAX, Talk
from workers.runtime.keys import Keys
from workers.runtime.settings import TurnSettings
from workers.sessions.turns import TurnStore

KEY = Keys().chat(chat_key("default", "chat-1"))


@pytest.fixture
def store(clean_redis: aioredis.Redis) -> TurnStore:
    return TurnStore(clean_redis, Keys(), TurnSettings(conversation_ttl_s=2))


async def a_turn(store: TurnStore) -> Conversation | None:
    """Hold one turn; return what the chat remembered when it began."""
    request = a_request()
    await store.admit(request, on_busy="enqueue")
    taken = await take(store, request.turn_id)
    await finish(store, taken)
    return taken.conversation


def test_a_chat_is_kept_for_half_an_hour_of_silence() -> None:
    assert TurnSettings().conversation_ttl_s == 30 * 60


async def test_every_turn_starts_the_time_anew(store: TurnStore, clean_redis: aioredis.Redis) -> None:
    """PLT-06: a pause of a little less than the time."""
    await a_turn(store)
    for _ in range(3):
        await asyncio.sleep(1.2)
        assert await a_turn(store) is not None
        assert await clean_redis.pttl(KEY) > 1_000


async def test_after_the_time_nothing_of_the_chat_is_left(store: TurnStore) -> None:
    """PLT-06: a pause of a little more; no value leaks into what comes next."""
    await a_turn(store)
    await asyncio.sleep(2.3)

    assert await a_turn(store) is None


def test_the_first_question_is_kept_to_the_end() -> None:
    talk = Talk(TAX)
    for message in ("what is the vehicle tax of 123ABC", "hmm", "well", "yes", "2026"):
        talk.say(message)

    assert talk.collecting is not None
    assert talk.collecting.original_query == "what is the vehicle tax of 123ABC"
