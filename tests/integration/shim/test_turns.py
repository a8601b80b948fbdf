"""A turn by its id."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from schemas.ids import TurnId, chat_key, new_turn_id
from tests.integration.shim.running import Hand, SseReader, shown
from workers.runtime.keys import Keys

ASK = {"chatId": "chat-1", "message": "hello", "authorId": "ann"}
NONSENSE = [
    "x",
    "0123456789abcdef",
    "0123456789ABCDEF-0123456789ABCDEF",
    "..%2f..",
    "0123456789abcdef-0123456789abcde%0a",
]


@pytest.mark.parametrize("turn_id", NONSENSE)
@pytest.mark.parametrize(("method", "suffix"), [("GET", ""), ("GET", "/events"), ("DELETE", "")])
async def test_nonsense_ids_are_not_found(client: httpx.AsyncClient, turn_id: str, method: str, suffix: str) -> None:
    assert (await client.request(method, f"/turns/{turn_id}{suffix}")).status_code == 404


@pytest.mark.parametrize(("method", "suffix"), [("GET", ""), ("GET", "/events"), ("DELETE", "")])
async def test_a_turn_that_is_no_longer_kept_is_gone_and_never_run_again(
    client: httpx.AsyncClient, hand: Hand, method: str, suffix: str
) -> None:
    expired = new_turn_id(chat_key("default", "chat-1"))

    answer = await client.request(method, f"/turns/{expired}{suffix}")

    assert (answer.status_code, answer.json()["type"]) == (410, "gone")
    assert await hand.redis.keys("*") == []


async def test_the_state_of_a_turn_is_told(client: httpx.AsyncClient, hand: Hand) -> None:
    asking = asyncio.create_task(client.post("/orchestrate", json=ASK))
    turn = (await hand.take()).turn

    moving = (await client.get(f"/turns/{turn.turn_id}")).json()
    await hand.answer(turn, "hello")
    await asking
    over = (await client.get(f"/turns/{turn.turn_id}")).json()

    assert (moving["phase"], moving["isOver"], moving["chatId"]) == ("classifying", False, "chat-1")
    assert (over["phase"], over["isOver"], over["answer"]) == ("done", True, "hello")


async def test_stopping_twice_changes_nothing_more(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        turn = (await hand.take()).turn
        await hand.say(turn, "I was say")

        stopped = await client.delete(f"/turns/{turn.turn_id}")
        again = await client.delete(f"/turns/{turn.turn_id}")

        assert (stopped.status_code, stopped.json()["state"]) == (202, "cancelled")
        assert (again.status_code, again.json()["state"]) == (200, "already_over")
        assert shown(await SseReader(response).rest()) == "I was say"


async def test_stopping_a_turn_starts_the_chat_s_next(client: httpx.AsyncClient, hand: Hand) -> None:
    first = asyncio.create_task(client.post("/orchestrate", json=ASK))
    turn = (await hand.take()).turn
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        await client.delete(f"/turns/{turn.turn_id}")
        assert await hand.answer_next("next") == response.headers["x-turn-id"]
        assert shown(await SseReader(response).rest()) == "next"
    await first


async def test_a_finished_turn_is_told_from_its_record_when_its_events_are_gone(
    client: httpx.AsyncClient, hand: Hand
) -> None:
    asking = asyncio.create_task(client.post("/orchestrate", json=ASK))
    turn = (await hand.take()).turn
    await hand.answer(turn, "kept")
    await asking
    await hand.redis.delete(Keys().events(TurnId(turn.turn_id)))

    async with client.stream("GET", f"/turns/{turn.turn_id}/events") as response:
        assert shown(await SseReader(response).rest()) == "kept"


@pytest.mark.parametrize("last", ["abc", "-1", "1-1", "9" * 40, "1-0\x0b"])
async def test_a_position_that_is_no_event_id_is_refused(client: httpx.AsyncClient, last: str) -> None:
    turn_id = new_turn_id(chat_key("default", "chat-1"))

    answer = await client.get(f"/turns/{turn_id}/events", params={"last_event_id": last})

    assert (answer.status_code, answer.json()["fields"][0]["path"]) == (422, "last_event_id")


async def test_a_position_ahead_of_the_log_still_follows_what_comes(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK):
        turn = (await hand.take()).turn
    async with client.stream("GET", f"/turns/{turn.turn_id}/events?last_event_id=99-0") as response:
        reader = SseReader(response)
        await reader.block()
        await hand.answer(turn, "late")
        heard = await asyncio.wait_for(reader.rest(), 3)

    assert heard[-1].data["payload"]["content"] == "END"


async def test_two_devices_follow_one_turn(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as phone:
        turn = (await hand.take()).turn
        await hand.say(turn, "one ")
        async with client.stream("GET", f"/turns/{turn.turn_id}/events") as desk:
            await hand.say(turn, "two", start=1)
            await hand.answer(turn, "one two")
            assert shown(await SseReader(desk).rest()) == "one two"
        assert shown(await SseReader(phone).rest()) == "one two"
