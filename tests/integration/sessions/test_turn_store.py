"""The turn store on a real Redis: admission, claims, fenced commits, the chat's queue."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
import redis.asyncio as aioredis

from schemas.conversations import Conversation
from schemas.events import AnswerCompleted, TokenDelta
from schemas.ids import TurnId, chat_key, new_turn_id
from schemas.routing import Layer
from schemas.turns import Phase, Turn, TurnRequest
from workers.errors import StaleTurn, StoreUnavailable, UnknownTurn
from workers.eventlog.log import EventLog
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import RedisSettings, TurnSettings
from workers.sessions.results import Passed, Taken
from workers.sessions.turns import TurnStore

CLASSIFIES = frozenset({Phase.ACCEPTED, Phase.CLASSIFYING})


def a_request(chat: str = "chat-1", **changes: object) -> TurnRequest:
    now = datetime.now(UTC)
    values: dict[str, object] = {
        "turn_id": new_turn_id(chat_key("default", chat)),
        "tenant": "default",
        "chat_id": chat,
        "message": "hello",
        "accepted_at": now,
        "deadline_at": now + timedelta(seconds=60),
    }
    return TurnRequest.model_validate(values | changes)


@pytest.fixture
def store(clean_redis: aioredis.Redis) -> TurnStore:
    return TurnStore(clean_redis, Keys(), TurnSettings(queued_per_chat=2))


@pytest.fixture
def log(clean_redis: aioredis.Redis) -> EventLog:
    return EventLog(clean_redis, Keys())


async def take(store: TurnStore, turn_id: str) -> Taken:
    found = await store.begin(turn_id, serves=CLASSIFIES, enter=Phase.CLASSIFYING)
    assert isinstance(found, Taken)
    return found


async def finish(store: TurnStore, taken: Taken, text: str = "bye") -> str | None:
    done = taken.turn.model_copy(update={"phase": Phase.DONE, "answer": text})
    completed = AnswerCompleted(attempt=taken.turn.attempt, text=text, layer=Layer.CONTEXT)
    return await store.commit(done, [completed], conversation=Conversation(language="en"))


async def test_an_admitted_turn_is_stored_with_its_first_event(store: TurnStore, log: EventLog) -> None:
    request = a_request()

    admission = await store.admit(request, on_busy="enqueue")

    assert admission.state == "started"
    assert await store.load(request.turn_id) == Turn(request=request)
    assert [entry for entry, _ in await log.read(request.turn_id)] == ["1-0"]


async def test_admitting_the_same_turn_twice_changes_nothing(store: TurnStore) -> None:
    request = a_request()
    await store.admit(request, on_busy="enqueue")

    assert (await store.admit(request, on_busy="enqueue")).state == "known"


async def test_a_busy_chat_queues_rejects_and_is_bounded(store: TurnStore) -> None:
    first, second, third, fourth, other = (a_request() for _ in range(5))
    await store.admit(first, on_busy="enqueue")

    assert (await store.admit(second, on_busy="enqueue")).position == 1
    rejected = await store.admit(other, on_busy="reject")
    assert (rejected.state, rejected.active) == ("rejected", first.turn_id)
    assert (await store.admit(third, on_busy="enqueue")).position == 2
    assert (await store.admit(fourth, on_busy="enqueue")).state == "full"
    assert await store.load(fourth.turn_id) is None


async def test_chats_of_two_tenants_never_meet(store: TurnStore) -> None:
    ours = a_request("same-name")
    theirs = ours.model_copy(update={"tenant": "other", "turn_id": new_turn_id(chat_key("other", "same-name"))})
    await store.admit(ours, on_busy="enqueue")

    assert (await store.admit(theirs, on_busy="reject")).state == "started"


async def test_an_ended_turn_hands_the_chat_to_the_next_in_order(store: TurnStore) -> None:
    first, second, third = (a_request() for _ in range(3))
    for request in (first, second, third):
        await store.admit(request, on_busy="enqueue")

    assert await finish(store, await take(store, first.turn_id)) == second.turn_id
    assert await finish(store, await take(store, second.turn_id)) == third.turn_id
    assert await finish(store, await take(store, third.turn_id)) is None
    assert (await store.admit(a_request(), on_busy="reject")).state == "started"


async def test_a_queued_turn_cannot_be_begun_before_its_time(store: TurnStore) -> None:
    first, second = a_request(), a_request()
    await store.admit(first, on_busy="enqueue")
    await store.admit(second, on_busy="enqueue")

    found = await store.begin(second.turn_id, serves=CLASSIFIES, enter=Phase.CLASSIFYING)

    assert isinstance(found, Passed)
    assert found.active == first.turn_id


async def test_a_second_delivery_steps_aside_while_the_owner_lives(store: TurnStore) -> None:
    request = a_request()
    await store.admit(request, on_busy="enqueue")
    await take(store, request.turn_id)

    assert await store.begin(request.turn_id, serves=CLASSIFIES, enter=Phase.CLASSIFYING) == Passed(None)


async def test_a_lease_that_ran_out_lets_the_next_worker_in_and_fences_the_old_one(
    clean_redis: aioredis.Redis,
) -> None:
    store = TurnStore(clean_redis, Keys(), TurnSettings(lease_s=0.05))
    request = a_request()
    await store.admit(request, on_busy="enqueue")
    old = await take(store, request.turn_id)
    await asyncio.sleep(0.08)

    new = await take(store, request.turn_id)

    assert new.turn.attempt == old.turn.attempt + 1
    with pytest.raises(StaleTurn):
        await finish(store, old, "from the old worker")
    with pytest.raises(StaleTurn):
        await store.say(request.turn_id, [TokenDelta(attempt=1, index=0, text="x")], attempt=old.turn.attempt)
    await finish(store, new, "from the new worker")
    ended = await store.load(request.turn_id)
    assert ended is not None
    assert (ended.phase, ended.answer) == (Phase.DONE, "from the new worker")


async def test_a_renewed_lease_outlives_its_first_term(clean_redis: aioredis.Redis) -> None:
    store = TurnStore(clean_redis, Keys(), TurnSettings(lease_s=0.2))
    request = a_request()
    await store.admit(request, on_busy="enqueue")
    await take(store, request.turn_id)

    for _ in range(4):
        await asyncio.sleep(0.08)
        await store.renew_leases()

    assert await store.begin(request.turn_id, serves=CLASSIFIES, enter=Phase.CLASSIFYING) == Passed(None)


async def test_a_released_claim_can_be_taken_at_once(store: TurnStore) -> None:
    request = a_request()
    await store.admit(request, on_busy="enqueue")
    await take(store, request.turn_id)

    await store.release(request.turn_id)
    await asyncio.sleep(0.01)

    assert isinstance(await store.begin(request.turn_id, serves=CLASSIFIES, enter=Phase.CLASSIFYING), Taken)


async def test_events_are_published_as_they_are_stored(
    store: TurnStore, log: EventLog, clean_redis: aioredis.Redis
) -> None:
    request = a_request()
    await store.admit(request, on_busy="enqueue")
    async with clean_redis.pubsub() as listener:
        await listener.subscribe(Keys().live(TurnId(request.turn_id)))
        await listener.get_message(timeout=1)

        await finish(store, await take(store, request.turn_id))

        heard = []
        while message := await listener.get_message(ignore_subscribe_messages=True, timeout=0.2):
            heard.append(message["data"])
    stored = [
        f'{{"id":"{entry}","event":{event.model_dump_json()}}}' for entry, event in await log.read(request.turn_id)
    ]
    assert heard == stored[1:]
    assert [entry for entry, _ in await log.read(request.turn_id, after="2-0")] == ["3-0"]


async def test_a_cancelled_turn_ends_at_once_and_hands_the_chat_on(store: TurnStore) -> None:
    first, second = a_request(), a_request()
    await store.admit(first, on_busy="enqueue")
    await store.admit(second, on_busy="enqueue")
    taken = await take(store, first.turn_id)

    cancelled = await store.cancel(first.turn_id)

    assert (cancelled.state, cancelled.next_turn_id) == ("cancelled", second.turn_id)
    with pytest.raises(StaleTurn):
        await finish(store, taken)
    assert (await store.cancel(first.turn_id)).state == "already_over"


async def test_a_cancelled_turn_in_the_queue_is_skipped(store: TurnStore) -> None:
    first, second = a_request(), a_request()
    await store.admit(first, on_busy="enqueue")
    await store.admit(second, on_busy="enqueue")

    await store.cancel(second.turn_id)

    assert await finish(store, await take(store, first.turn_id)) is None


async def test_unknown_turns_are_told_apart(store: TurnStore) -> None:
    nobody = new_turn_id(chat_key("default", "nobody"))

    assert await store.load(nobody) is None
    assert (await store.cancel(nobody)).state == "unknown"
    with pytest.raises(UnknownTurn):
        await store.begin(nobody, serves=CLASSIFIES, enter=Phase.CLASSIFYING)


async def test_a_turn_without_progress_is_found_resting_with_its_claim(clean_redis: aioredis.Redis) -> None:
    store = TurnStore(clean_redis, Keys(), TurnSettings(rest_before_sweep_s=0.01))
    first, second = a_request(), a_request()
    await store.admit(first, on_busy="enqueue")
    await store.admit(second, on_busy="enqueue")
    await take(store, first.turn_id)
    await asyncio.sleep(0.05)

    resting = {r.turn.turn_id: r for r in await store.resting(now_s=datetime.now(UTC).timestamp())}

    assert (resting[first.turn_id].is_active, resting[first.turn_id].is_claimed) == (True, True)
    assert (resting[second.turn_id].is_active, resting[second.turn_id].is_claimed) == (False, False)


async def test_every_key_of_a_turn_expires(store: TurnStore, clean_redis: aioredis.Redis) -> None:
    request = a_request()
    await store.admit(request, on_busy="enqueue")
    await store.admit(a_request(), on_busy="enqueue")
    await finish(store, await take(store, request.turn_id))

    kept_for_ever = [k for k in await clean_redis.keys("*") if await clean_redis.ttl(k) == -1]
    assert [k for k in kept_for_ever if not k.endswith(":moving")] == []


async def test_redis_away_is_a_store_error() -> None:
    client = async_client(RedisSettings(url="redis://127.0.0.1:1/0", socket_timeout_s=0.5))
    store = TurnStore(client, Keys(), TurnSettings())

    with pytest.raises(StoreUnavailable):
        await store.admit(a_request(), on_busy="enqueue")
    await client.aclose()
