"""The blocking routes."""

from __future__ import annotations

import asyncio

import httpx

from schemas.events import AnswerCompleted, TurnFailed
from schemas.failures import Failure, FailureCode
from schemas.routing import Choice, Layer
from schemas.turns import Phase
from tests.integration.shim.running import NOTHING_SPENT, Hand, until

ASK = {"chatId": "chat-1", "message": "5", "authorId": "ann"}


async def test_the_answer_comes_as_the_frontends_read_it(client: httpx.AsyncClient, hand: Hand) -> None:
    asking = asyncio.create_task(client.post("/orchestrate", json=ASK))
    turn = (await hand.take()).turn
    await hand.ask(turn, "Which country?", Choice(title="Estonia", payload="EE"))

    answer = await asking
    assert answer.status_code == 200
    assert answer.json() == {
        "chatId": "chat-1",
        "llmServiceActive": True,
        "questionOutOfLLMScope": False,
        "inputGuardFailed": False,
        "content": "Which country?",
        "buttons": [{"title": "Estonia", "payload": "EE"}],
        "turnId": turn.turn_id,
    }


async def test_everything_a_frontend_sends_reaches_the_turn(client: httpx.AsyncClient, hand: Hand) -> None:
    history = [
        {"authorRole": role, "message": f"said by {role}", "timestamp": "2026-12-01T10:00:00Z"}
        for role in ("user", "bot", "end_user", "backoffice_user")
    ]
    body = ASK | {
        "conversationHistory": history,
        "url": "https://example.ee/page",
        "environment": "development",
        "connection_id": "c-1",
        "unknownField": {"is": "ignored"},
    }
    asking = asyncio.create_task(client.post("/orchestrate", json=body))
    turn = (await hand.take()).turn
    await hand.answer(turn, "ok")
    await asking

    request = turn.request
    assert [(said.role, said.text) for said in request.history] == [
        ("user", "said by user"),
        ("bot", "said by bot"),
        ("user", "said by end_user"),
        ("bot", "said by backoffice_user"),
    ]
    assert (request.url, request.environment, request.connection_id) == (
        "https://example.ee/page",
        "development",
        "c-1",
    )
    assert (request.message, request.author_id) == ("5", "ann")


async def test_meta_comes_only_when_asked_for(client: httpx.AsyncClient, hand: Hand) -> None:
    asking = asyncio.create_task(client.post("/orchestrate?meta=true", json=ASK))
    turn = (await hand.take()).turn
    out_of_domain = AnswerCompleted(attempt=turn.attempt, text="I can't help with that.", layer=Layer.OOD)
    await hand.end(turn, out_of_domain, Phase.DONE)

    answer = (await asking).json()
    assert answer["questionOutOfLLMScope"] is True
    assert answer["meta"] == {"outcome": "completed", "layer": "ood", "endpoints": [], "costs": NOTHING_SPENT}


async def test_a_failed_turn_is_answered_with_its_apology(client: httpx.AsyncClient, hand: Hand) -> None:
    asking = asyncio.create_task(client.post("/orchestrate", json=ASK))
    turn = (await hand.take()).turn
    failure = Failure(code=FailureCode.INTERNAL, error_id="ERR-20261201-120000-ABCD")
    await hand.end(turn, TurnFailed(failure=failure, text="Sorry."), Phase.FAILED)

    answer = (await asking).json()
    assert (answer["content"], answer["llmServiceActive"]) == ("Sorry.", False)


async def test_a_client_that_leaves_stops_its_turn_and_the_next_one_starts(
    client: httpx.AsyncClient, hand: Hand
) -> None:
    leaving = asyncio.create_task(client.post("/orchestrate", json=ASK))
    first = (await hand.take()).turn
    waiting = asyncio.create_task(client.post("/orchestrate", json=ASK))

    async def is_queued() -> bool:
        return bool(await hand.redis.keys("sb:*:waiting:*"))

    await until(is_queued)
    leaving.cancel()

    second = (await hand.take()).turn
    await hand.answer(second, "second")
    assert (await waiting).json()["content"] == "second"
    assert (await client.get(f"/turns/{first.turn_id}")).json()["phase"] == "cancelled"


async def test_a_turn_stopped_from_elsewhere_is_answered(client: httpx.AsyncClient, hand: Hand) -> None:
    asking = asyncio.create_task(client.post("/orchestrate", json=ASK, headers={"accept-language": "et-EE,en;q=0.5"}))
    turn = (await hand.take()).turn

    assert (await client.delete(f"/turns/{turn.turn_id}")).status_code == 202
    assert (await asking).json()["content"] == "Peatatud."


async def test_testers_never_share_a_chat(client: httpx.AsyncClient, hand: Hand) -> None:
    asking = [
        asyncio.create_task(client.post("/orchestrate/test", json={"message": "hi", "connectionId": "c"}))
        for _ in range(2)
    ]
    turns = [(await hand.take()).turn for _ in asking]
    for turn in turns:
        await hand.answer(turn, "hello")

    answers = [(await one).json() for one in asking]
    assert all("chatId" not in answer and answer["content"] == "hello" for answer in answers)
    assert turns[0].request.chat_id != turns[1].request.chat_id
    assert all(turn.request.environment == "test" for turn in turns)


async def test_two_authors_of_one_chat_id_have_two_conversations(client: httpx.AsyncClient, hand: Hand) -> None:
    asking = [
        asyncio.create_task(client.post("/orchestrate", json=ASK | {"authorId": author, "onBusy": "reject"}))
        for author in ("ann", "bob")
    ]
    for turn in [(await hand.take()).turn for _ in asking]:
        await hand.answer(turn, turn.request.author_id)

    assert [(await one).json()["content"] for one in asking] == ["ann", "bob"]
