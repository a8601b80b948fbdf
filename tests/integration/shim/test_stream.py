"""The stream over a real socket: order, exactness, resume, departure."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time

import httpx

from schemas.events import CallStarted, TokenDelta, TurnFailed
from schemas.failures import Failure, FailureCode
from schemas.routing import Choice
from schemas.turns import Phase
from tests.integration.shim.running import NOTHING_SPENT, Hand, Heard, SseReader, shown, until

ASK = {"chatId": "chat-1", "message": "When are the holidays?", "authorId": "ann"}
RICH = {"accept": "text/event-stream; profile=signalbox"}
ODD = "a\u2028b\u2029c\x85d\r\ne\nПривет 北京 🙂"


async def test_tokens_arrive_one_by_one_and_concatenate_exactly(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        reader = SseReader(response)
        taken = await hand.take()
        for index, piece in enumerate(["On ", "24 ", "February"]):
            await hand.say(taken.turn, piece, start=index)
            assert await asyncio.wait_for(reader.content(), 2) == piece
        await hand.answer(taken.turn, "On 24 February.")

        assert shown(await reader.rest()) == "."
    assert response.headers["x-turn-id"] == taken.turn.turn_id
    assert response.headers["cache-control"] == "no-store, no-transform"
    assert response.headers["x-accel-buffering"] == "no"
    assert "content-encoding" not in response.headers


async def test_a_frame_has_the_form_that_the_frontends_read(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        reader = SseReader(response)
        turn = (await hand.take()).turn
        await hand.ask(turn, "Which country?", Choice(title="Estonia", payload="EE"))
        question, end = await reader.rest()

    assert set(question.data) == {"chatId", "payload", "timestamp", "sentTo"}
    assert question.data["chatId"] == "chat-1"
    assert question.data["payload"] == {
        "content": "Which country?",
        "buttons": [{"title": "Estonia", "payload": "EE"}],
    }
    assert abs(int(question.data["timestamp"]) / 1000 - time.time()) < 10
    assert question.data["sentTo"] == []
    assert end.data["payload"] == {"content": "END"}
    assert question.entry_id == end.entry_id == "3-0"


async def test_the_head_and_a_comment_come_before_any_worker_moves(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        reader = SseReader(response)
        assert await asyncio.wait_for(reader.block(), 2) == {}
        assert reader.comments == ["started"]

        for _ in range(2):
            assert await asyncio.wait_for(reader.block(), 2) == {}
        assert reader.comments[1:] == ["ping", "ping"]
        assert hand is not None


async def test_heartbeats_come_while_events_show_nothing(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        reader = SseReader(response)
        await reader.block()
        turn = (await hand.take()).turn
        stopping = asyncio.create_task(asyncio.sleep(0.8))
        while not stopping.done():
            await hand.store.say(turn.turn_id, [CallStarted(index=0, endpoint="holidays")], attempt=None)
            await asyncio.sleep(0.02)

        await asyncio.wait_for(reader.block(), 1)
        assert reader.comments[-1] == "ping"
        await hand.answer(turn, "done")
        assert shown(await reader.rest()) == "done"


async def test_odd_characters_survive_and_no_line_is_cut(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        turn = (await hand.take()).turn
        await hand.say(turn, *ODD)
        await hand.answer(turn, ODD)
        raw = b"".join([chunk async for chunk in response.aiter_raw()])

    lines = [line for line in raw.decode().splitlines() if line.startswith("data: ")]
    contents = [json.loads(line.removeprefix("data: "))["payload"]["content"] for line in lines]
    assert "".join(contents) == ODD + "END"


async def test_an_answer_that_is_the_word_end_does_not_end_the_stream(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        await hand.answer_next("END")

        assert shown(await SseReader(response).rest()) == "END"


async def test_a_worker_faster_than_the_stream_loses_nothing(client: httpx.AsyncClient, hand: Hand) -> None:
    async def fast() -> None:
        await hand.answer_next("quick")

    for _ in range(20):
        working = asyncio.create_task(fast())
        async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
            assert shown(await asyncio.wait_for(SseReader(response).rest(), 3)) == "quick"
        await working


async def test_a_dropped_connection_resumes_without_loss_or_repetition(client: httpx.AsyncClient, hand: Hand) -> None:
    pieces = [f"word{n} " for n in range(100)]
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        reader = SseReader(response)
        turn = (await hand.take()).turn
        await hand.say(turn, *pieces[:60])
        first = [await reader.next() for _ in range(50)]
    last = first[-1]
    assert last is not None
    await hand.say(turn, *pieces[60:80], start=60)

    async with client.stream(
        "GET", f"/turns/{turn.turn_id}/events", headers={"last-event-id": last.entry_id}
    ) as response:
        reader = SseReader(response)
        second = [await reader.next() for _ in range(30)]
        await hand.say(turn, *pieces[80:], start=80)
        await hand.answer(turn, "".join(pieces))
        second += await reader.rest()

    assert shown([heard for heard in [*first, *second] if heard]) == "".join(pieces)


async def test_every_point_of_a_finished_turn_can_be_resumed_from(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        turn = (await hand.take()).turn
        await hand.say(turn, "one ", "two ")
        await hand.ask(turn, "one two three?", Choice(title="Yes", payload="yes"))
        whole = await SseReader(response).rest()

    for number, heard in enumerate(whole):
        answer = await client.get(f"/turns/{turn.turn_id}/events?last_event_id={heard.entry_id}")
        rest = answer.text.count('"content":"END"')
        assert rest == 1
        again = [line for line in answer.text.split("\n") if line.startswith("data: ")]
        assert len(again) == max(1, len([later for later in whole[number + 1 :] if later.entry_id != heard.entry_id]))


async def test_a_rich_client_learns_the_turn_at_once_and_hears_named_events(
    client: httpx.AsyncClient, hand: Hand
) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK, headers=RICH) as response:
        turn_id = await hand.answer_next("hello")
        heard = await SseReader(response).rest()

    assert (heard[0].name, heard[0].data["turnId"], heard[0].data["state"]) == ("meta", turn_id, "started")
    assert [one.data["phase"] for one in heard if one.name == "phase"] == ["accepted", "classifying"]
    assert [one.data for one in heard if one.name == "meta"][1] == {
        "layer": "service",
        "endpoints": [],
        "costs": NOTHING_SPENT,
    }
    assert shown(heard) == "hello"


async def test_a_second_attempt_that_says_the_same_is_not_shown_twice(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        turn = (await hand.take()).turn
        await hand.say(turn, "The tax ", "is ")
        retried = turn.model_copy(update={"attempt": turn.attempt + 1})
        await hand.store.say(
            turn.turn_id,
            [TokenDelta(attempt=retried.attempt, index=i, text=t) for i, t in enumerate(["The ", "tax is 9", " €"])],
            attempt=None,
        )
        await hand.answer(turn, "The tax is 9 €.")

        assert shown(await SseReader(response).rest()) == "The tax is 9 €."


async def test_a_second_attempt_that_differs_replaces_the_text_for_rich_clients(
    client: httpx.AsyncClient, hand: Hand
) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK, headers=RICH) as response:
        turn = (await hand.take()).turn
        await hand.say(turn, "I think")
        await hand.answer(turn, "I know")
        heard = await SseReader(response).rest()

    assert [one.data["content"] for one in heard if one.name == "replace"] == ["I know"]


async def test_a_failure_after_tokens_is_one_last_frame_apart(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        turn = (await hand.take()).turn
        await hand.say(turn, "The answer is")
        failure = Failure(code=FailureCode.DEADLINE, error_id="ERR-20261201-120000-ABCD")
        await hand.end(turn, TurnFailed(failure=failure, text="This took too long."), Phase.FAILED)

        assert shown(await SseReader(response).rest()) == "The answer is\n\nThis took too long."
    assert response.status_code == 200


async def test_a_client_that_leaves_frees_its_reader_and_the_turn_goes_on(
    client: httpx.AsyncClient, hand: Hand
) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        reader = SseReader(response)
        await reader.block()
        turn = (await hand.take()).turn
        assert len(await hand.redis.pubsub_channels("*live*")) == 1

    async def is_freed() -> bool:
        return await hand.redis.pubsub_channels("*live*") == []

    await until(is_freed, within_s=1)
    await hand.answer(turn, "nobody listens")
    assert (await client.get(f"/turns/{turn.turn_id}")).json()["answer"] == "nobody listens"


async def test_a_queued_message_says_so_and_is_answered_in_its_turn(client: httpx.AsyncClient, hand: Hand) -> None:
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as first_response:
        first = (await hand.take()).turn
        async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
            second = SseReader(response)
            await second.block()
            assert second.comments == ["queued behind 1"]
            assert await hand.redis.llen("sb:queue:classification") == 0

            next_turn = await hand.answer(first, "first")
            assert next_turn == response.headers["x-turn-id"]
            taken = await hand.take(next_turn)
            await hand.answer(taken.turn, "second")
            assert shown(await second.rest()) == "second"
        assert shown(await SseReader(first_response).rest()) == "first"


async def test_a_reader_that_does_not_read_is_cut_and_resumes_where_it_stopped(
    client: httpx.AsyncClient, hand: Hand
) -> None:
    pieces = [f"{n:04d}" + "x" * 20_000 for n in range(800)]
    seen: list[Heard] = []
    async with client.stream("POST", "/orchestrate/stream", json=ASK) as response:
        turn = (await hand.take()).turn
        for start in range(0, 800, 40):
            await hand.say(turn, *pieces[start : start + 40], start=start)

        async def is_freed() -> bool:
            return await hand.redis.pubsub_channels("*live*") == []

        await until(is_freed)
        reader = SseReader(response)
        with contextlib.suppress(httpx.RemoteProtocolError):
            while (heard := await reader.next()) is not None:
                seen.append(heard)
    assert 0 < len(seen) < 800
    assert "signalbox_streams_cut_total 1.0" in (await client.get("/metrics")).text

    await hand.answer(turn, "".join(pieces))
    async with client.stream("GET", f"/turns/{turn.turn_id}/events?last_event_id={seen[-1].entry_id}") as response:
        assert shown(seen + await SseReader(response).rest()) == "".join(pieces)
