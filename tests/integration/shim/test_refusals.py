"""What the door refuses, and how it says so."""

from __future__ import annotations

import asyncio
import re

import httpx
import pytest
import redis.asyncio as aioredis

from tests.conftest import free_port
from tests.integration.shim.running import Hand, RunningDoor, SseReader, running_door, shown

ASK = {"chatId": "chat-1", "message": "hello", "authorId": "ann"}
STREAMING = {"accept": "text/event-stream"}

BAD_BODIES = {
    "no JSON": (b"{", "body"),
    "nothing": (b"", "body"),
    "a list": (b"[]", "body"),
    "invalid UTF-8": (b'{"chatId":"\xff","message":"x"}', "body"),
    "a lone surrogate": (b'{"chatId":"c","message":"\\ud800"}', "body"),
    "NUL in a message": (b'{"chatId":"c","message":"a\\u0000b"}', "message"),
    "NUL in the history": (
        b'{"chatId":"c","message":"a","conversationHistory":[{"message":"a\\u0000"}]}',
        "conversationHistory.0.message",
    ),
    "a number as message": (b'{"chatId":"c","message":5}', "message"),
    "an empty message": (b'{"chatId":"c","message":""}', "message"),
    "no chat": (b'{"message":"x"}', "chatId"),
    "an unknown role": (
        b'{"chatId":"c","message":"x","conversationHistory":[{"authorRole":"king","message":"x"}]}',
        "conversationHistory.0.authorRole",
    ),
    "too long": (b'{"chatId":"c","message":"' + b"x" * 10_001 + b'"}', "message"),
    "nested for ever": (b'{"chatId":' + b"[" * 5_000 + b"]" * 5_000 + b"}", "body"),
}


@pytest.mark.parametrize("path", ["/orchestrate", "/orchestrate/stream"])
@pytest.mark.parametrize(("body", "field"), BAD_BODIES.values(), ids=BAD_BODIES)
async def test_a_request_that_cant_be_read_is_refused_with_the_path(
    client: httpx.AsyncClient, path: str, body: bytes, field: str
) -> None:
    answer = await client.post(path, content=body)

    assert answer.status_code == 422
    told = answer.json()
    assert set(told) == {"error", "error_id", "type", "fields"}
    assert field in [one["path"] for one in told["fields"]]
    assert told["type"] == "invalid"
    assert re.fullmatch(r"ERR-\d{8}-\d{6}-[0-9A-F]{4}", told["error_id"])


async def test_a_streaming_client_gets_the_refusal_as_a_frame_and_the_end(client: httpx.AsyncClient) -> None:
    body = {"chatId": "chat-7", "message": ""}
    headers = STREAMING | {"accept-language": "ru"}
    async with client.stream("POST", "/orchestrate/stream", json=body, headers=headers) as response:
        heard = await SseReader(response).rest()

    assert response.status_code == 422
    assert shown(heard) == "Я не смог прочитать этот запрос."
    assert {one.data["chatId"] for one in heard} == {"chat-7"}


@pytest.mark.parametrize("declares", [True, False])
async def test_a_body_beyond_the_limit_is_refused(client: httpx.AsyncClient, *, declares: bool) -> None:
    body = b'{"chatId":"c","message":"x","url":"' + b"x" * (256 * 1024) + b'"}'

    async def in_pieces() -> object:
        for start in range(0, len(body), 10_000):
            yield body[start : start + 10_000]

    answer = await client.post("/orchestrate", content=body if declares else in_pieces())
    assert (answer.status_code, answer.json()["type"]) == (413, "too_large")


async def test_a_busy_chat_refuses_when_asked_to(client: httpx.AsyncClient, hand: Hand) -> None:
    first = asyncio.create_task(client.post("/orchestrate", json=ASK))
    turn = (await hand.take()).turn

    answer = await client.post("/orchestrate", json=ASK | {"onBusy": "reject"})

    assert (answer.status_code, answer.json()["type"]) == (409, "busy")
    await hand.answer(turn, "done")
    assert (await first).status_code == 200


async def test_deep_queues_refuse_new_turns_early_with_retry_after(redis_url: str, hand: Hand) -> None:
    with running_door(redis_url, SHIM_MAX_QUEUED_TURNS=3, SHIM_RETRY_AFTER_S=7) as small:
        await hand.redis.rpush("sb:queue:calling", *["x"] * 3)
        await asyncio.sleep(0.8)
        async with httpx.AsyncClient(base_url=small.url, trust_env=False) as client:
            answer = await client.post("/orchestrate", json=ASK)
            assert (answer.status_code, answer.json()["type"], answer.headers["retry-after"]) == (
                429,
                "overloaded",
                "7",
            )
            assert await hand.redis.keys("sb:*:turn:*") == []

            await hand.redis.delete("sb:queue:calling")
            await asyncio.sleep(0.8)
            asking = asyncio.create_task(client.post("/orchestrate", json=ASK))
            await hand.answer_next("welcome")
            assert (await asking).json()["content"] == "welcome"


async def test_without_redis_the_door_says_so_and_does_not_hang() -> None:
    with running_door(f"redis://127.0.0.1:{free_port()}/0", REDIS_SOCKET_TIMEOUT_S=0.5) as lonely:
        async with httpx.AsyncClient(base_url=lonely.url, timeout=8, trust_env=False) as client:
            answer = await client.post("/orchestrate", json=ASK)
            assert (answer.status_code, answer.json()["type"]) == (503, "unavailable")
            assert answer.headers["retry-after"]
            streamed = await client.post("/orchestrate/stream", json=ASK, headers=STREAMING)
            assert streamed.status_code == 503
            assert '"content":"END"' in streamed.text
            ready = await client.get("/readyz")
            assert (ready.status_code, ready.json()["missing"]) == (503, ["redis does not answer"])
            assert (await client.get("/healthz")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nowhere", 404), ("GET", "/orchestrate", 405), ("POST", "/orchestrate/", 404), ("PUT", "/", 405)],
)
async def test_unknown_paths_and_methods_are_told_in_the_same_form(
    client: httpx.AsyncClient, method: str, path: str, status: int
) -> None:
    answer = await client.request(method, path)

    assert answer.status_code == status
    assert set(answer.json()) == {"error", "error_id", "type"}


async def test_a_refusal_leaves_no_internals_in_the_answer(
    client: httpx.AsyncClient, door: RunningDoor, clean_redis: aioredis.Redis
) -> None:
    answer = await client.post("/orchestrate", content=b'{"chatId":"c","message":{"secret":"hunter2"}}')

    assert "hunter2" not in answer.text
    assert "pydantic" not in answer.text
    assert door.process.poll() is None
    assert await clean_redis.keys("sb:*:turn:*") == []
