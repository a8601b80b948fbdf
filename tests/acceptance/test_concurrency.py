"""Two hundred turns at once against a slow API: every one ends, and each chat keeps its order."""

from __future__ import annotations

import asyncio
import time
import uuid

import httpx
import pytest

from ops.local.stack import Stack
from tests.acceptance.client import Reply, read_reply
from tests.acceptance.stack_tools import conversation_of, index_slow_endpoint

pytestmark = pytest.mark.stack

CHATS = 40
TURNS_PER_CHAT = 5


async def _say(client: httpx.AsyncClient, url: str, chat_id: str, message: str) -> asyncio.Task[Reply]:
    """Send, and return once the turn is admitted (its id is in the response head); the reply comes later."""
    request = client.build_request("POST", f"{url}/orchestrate/stream", json={"chatId": chat_id, "message": message})
    response = await client.send(request, stream=True)
    assert response.status_code == 200

    async def rest() -> Reply:
        body = (await response.aread()).decode()
        await response.aclose()
        return read_reply(body, response.headers["x-turn-id"])

    return asyncio.create_task(rest())


async def _converse(client: httpx.AsyncClient, url: str, chat_id: str) -> list[Reply]:
    pending = [await _say(client, url, chat_id, f"ticket price for ticket T{n}") for n in range(TURNS_PER_CHAT)]
    return list(await asyncio.gather(*pending))


async def _everybody(url: str, chats: list[str]) -> list[list[Reply]]:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=120, limits=limits, trust_env=False) as client:
        return list(await asyncio.gather(*(_converse(client, url, chat) for chat in chats)))


def test_two_hundred_turns_end_and_keep_their_order(stack: Stack, slow_api: str) -> None:
    index_slow_endpoint(stack, slow_api, delay_ms=200)
    chats = [f"crowd-{uuid.uuid4()}" for _ in range(CHATS)]

    began = time.monotonic()
    replies = asyncio.run(_everybody(stack.url, chats))
    took_s = time.monotonic() - began

    for said in replies:
        for number, reply in enumerate(said):
            assert f"T{number}" in reply.text, reply
    for chat in chats:
        conversation = conversation_of(stack, chat)
        assert conversation is not None
        heard = [u.text for u in conversation.transcript if u.role == "user"]
        assert heard == [f"ticket price for ticket T{n}" for n in range(TURNS_PER_CHAT)]
    print(f"\n{CHATS * TURNS_PER_CHAT} turns in {CHATS} chats ended in {took_s:.2f} s")


def test_a_busy_chat_can_reject_instead_of_queueing(stack: Stack, slow_api: str) -> None:
    index_slow_endpoint(stack, slow_api, delay_ms=1500)
    chat_id = f"busy-{uuid.uuid4()}"

    async def two_at_once() -> tuple[int, Reply]:
        async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
            first = await _say(client, stack.url, chat_id, "ticket price for ticket T1")
            body = {"chatId": chat_id, "message": "ticket price for ticket T2", "onBusy": "reject"}
            second = await client.post(f"{stack.url}/orchestrate", json=body)
            return second.status_code, await first

    status, first = asyncio.run(two_at_once())

    assert status == 409
    assert "T1" in first.text


def test_a_stopped_turn_ends_at_once_and_frees_its_chat(stack: Stack, slow_api: str) -> None:
    index_slow_endpoint(stack, slow_api, delay_ms=3000)
    chat_id = f"stop-{uuid.uuid4()}"

    async def stop_it() -> tuple[float, int]:
        async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
            body = {"chatId": chat_id, "message": "ticket price for ticket T1"}
            request = client.build_request("POST", f"{stack.url}/orchestrate/stream", json=body)
            response = await client.send(request, stream=True)
            began = time.monotonic()
            stopped = await client.delete(f"{stack.url}/turns/{response.headers['x-turn-id']}")
            await response.aread()
            await response.aclose()
            return time.monotonic() - began, stopped.status_code

    took_s, status = asyncio.run(stop_it())

    assert status in (200, 202)
    assert took_s < 1.5
