"""What the acceptance tests ask of a running stack beyond its HTTP door: events, conversations, a slow endpoint."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import httpx
import redis.asyncio as aioredis

from ops.local.catalogue import DEMO_CATALOGUE, index_all, read_catalogue
from ops.local.stack import Stack
from schemas.calls import ApiCall
from schemas.conversations import Conversation
from schemas.events import TurnEvent
from schemas.ids import TurnId, chat_key, chat_of
from workers.eventlog.log import EventLog
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import RedisSettings, TurnSettings
from workers.sessions.turns import TurnStore

T = TypeVar("T")
SLOW_ENDPOINT_ID = "0a0b6f0e-6f52-5a57-9d3a-5f6f7c2f6a01"


def _with_redis(stack: Stack, ask: Callable[..., Awaitable[T]]) -> T:
    async def asked() -> T:
        client = async_client(RedisSettings(url=stack.redis_url))
        try:
            return await ask(client)
        finally:
            await client.aclose()
            await client.connection_pool.disconnect()

    return asyncio.run(asked())


def events_of(stack: Stack, turn_id: str) -> list[TurnEvent]:
    """Every event of a turn, in order."""
    found = _with_redis(stack, lambda client: EventLog(client, Keys()).read(turn_id))
    return [event for _, event in found]


def calls_of(stack: Stack, turn_id: str) -> tuple[ApiCall, ...]:
    """The calls that a turn made, with their arguments."""

    async def read(client: aioredis.Redis) -> tuple[ApiCall, ...]:
        turn = await TurnStore(client, Keys(), TurnSettings()).load(turn_id)
        assert turn is not None
        return turn.calls

    return _with_redis(stack, read)


def conversation_after(stack: Stack, turn_id: str) -> Conversation | None:
    """What the turn's chat remembers now."""
    found = _with_redis(stack, lambda client: client.get(Keys().chat(chat_of(TurnId(turn_id)))))
    return Conversation.model_validate_json(found) if found else None


def conversation_of(stack: Stack, chat_id: str) -> Conversation | None:
    key = Keys().chat(chat_key("default", chat_id))
    found = _with_redis(stack, lambda client: client.get(key))
    return Conversation.model_validate_json(found) if found else None


def index_slow_endpoint(stack: Stack, slow_api: str, *, delay_ms: int) -> None:
    """Register the slow API's only endpoint, and wait until it is searchable."""
    body = {
        "endpointId": SLOW_ENDPOINT_ID,
        "name": "get_ticket_price",
        "description": "Tell the price of a concert ticket by its ticket code.",
        "titles": {"en": "ticket price"},
        "examples": {"en": ["what is the price of ticket A17", "ticket price for ticket B20"]},
        "method": "GET",
        "url": f"{slow_api}/tickets?delay_ms={delay_ms}",
        "params": [
            {
                "name": "ticket",
                "type": "string",
                "required": True,
                "description": "Ticket code",
                "labels": {"en": "ticket code"},
                "example": "A17",
            }
        ],
    }
    reply = httpx.post(f"{stack.url}/api-tools?wait=true", json=body, timeout=30, trust_env=False)
    assert reply.status_code in (200, 201), reply.text


@contextmanager
def running_slow_api(port: int) -> Iterator[str]:
    """Start `slow_api.py` as a process."""
    script = Path(__file__).parent / "slow_api.py"
    process = subprocess.Popen([sys.executable, str(script), "--port", str(port)])
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 10
    while True:
        try:
            httpx.get(f"{url}/log", trust_env=False)
            break
        except httpx.TransportError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    try:
        yield url
    finally:
        process.terminate()
        process.wait(timeout=10)


def index_demo_catalogue(stack: Stack) -> None:
    """Register the demo catalogue over HTTP; every entry is searchable when this returns."""
    for indexed in index_all(stack.url, read_catalogue(DEMO_CATALOGUE, demo_url=stack.demo_url), wait=True):
        assert indexed.is_good, indexed
