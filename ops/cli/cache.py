"""`signalbox cache`: what a chat was told lately and could be told again, and how to forget it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ops.cli.screen import JsonFlag, console, group, print_json

if TYPE_CHECKING:
    import redis.asyncio as aioredis

    from schemas.ids import ChatKey
    from workers.caching.cache import ResponseCache
    from workers.runtime.settings import Settings

T = TypeVar("T")

app = group("Show and drop what the response cache keeps for a chat.")
Chat = Annotated[str, typer.Argument(help="The chat's id, as the frontend sends it (chatId).")]
Author = Annotated[str, typer.Option(help="The author's id, where the frontend sends one (authorId).")]
Tenant = Annotated[str, typer.Option(help="Whose chat.")]


@app.callback()
def cache() -> None:
    """Show and drop what the response cache keeps for a chat."""


@app.command()
def show(chat: Chat, author: Author = "", tenant: Tenant = "default", *, as_json: JsonFlag = False) -> None:
    """Show the chat's last calls, the newest first, and for each how old the response is that is still kept."""
    calls = _with_cache(_kept, chat=chat, author=author, tenant=tenant)
    if as_json:
        print_json({"chat": chat, "items": calls})
        return
    from rich.table import Table

    table = Table("endpoint", "version", "arguments", "called", "response", "follow-ups lean on it")
    for call in calls:
        age = "not kept" if call["ageS"] is None else f"{call['ageS']:.0f} s old"
        said = ", ".join(f"{name}={value}" for name, value in call["arguments"].items())
        leaned = "yes" if call["isNewest"] else "no"
        table.add_row(call["endpoint"], str(call["version"]), said, call["at"], age, leaned)
    console().print(table)
    typer.echo(f"{len(calls)} calls of chat {chat} are remembered")


@app.command()
def drop(chat: Chat, author: Author = "", tenant: Tenant = "default", *, as_json: JsonFlag = False) -> None:
    """Forget the chat's last calls and the responses they brought, other chats' use of these included."""
    calls, responses = _with_cache(_forget, chat=chat, author=author, tenant=tenant)
    if as_json:
        print_json({"chat": chat, "calls": calls, "responses": responses})
    else:
        typer.echo(f"{calls} calls of chat {chat} are forgotten, and {responses} responses")


async def _kept(cache: ResponseCache, chat: ChatKey) -> list[dict[str, Any]]:
    import time

    last = await cache.last_calls.load(chat)
    found: list[dict[str, Any]] = []
    for call in last.calls:
        kept = await cache.flights.store.peek(call.last.result) if call.last.result else None
        found.append(
            {
                "endpoint": call.endpoint.name,
                "endpointId": call.endpoint.endpoint_id,
                "version": call.last.version,
                "arguments": call.last.arguments,
                "at": call.last.finished_at.isoformat(timespec="seconds"),
                "ageS": round(max(0.0, time.time() - kept.called_at_ms / 1000), 1) if kept else None,
                "isNewest": call.turn_id == last.latest,
            }
        )
    return found


async def _forget(cache: ResponseCache, chat: ChatKey) -> tuple[int, int]:
    last = await cache.last_calls.load(chat)
    responses = await cache.flights.store.drop([call.last.result for call in last.calls if call.last.result])
    await cache.last_calls.drop(chat)
    return len(last.calls), responses


def _with_cache(ask: Callable[[ResponseCache, ChatKey], Awaitable[T]], *, chat: str, author: str, tenant: str) -> T:
    from api_shim.tenancy import conversation_key
    from ops.cli.place import with_redis
    from workers.caching.cache import ResponseCache
    from workers.caching.responses import CacheAway
    from workers.errors import StoreUnavailable
    from workers.runtime.clock import utc_now
    from workers.runtime.keys import Keys
    from workers.runtime.redis import async_client

    async def asked(redis: aioredis.Redis, given: Settings) -> T:
        own = given.cache.redis_url
        client = async_client(given.redis.model_copy(update={"url": own})) if own else redis
        # An operator waits longer than a turn does, and is told when nobody answers.
        patient = given.cache.model_copy(update={"cache_timeout_s": given.redis.socket_timeout_s})
        try:
            await client.ping()
            cache = ResponseCache.open(client, Keys(given.redis.key_prefix), patient, utc_now)
            return await ask(cache, conversation_key(tenant, chat_id=chat, author_id=author))
        except CacheAway as error:
            raise StoreUnavailable(f"the cache's Redis: {error}") from error
        finally:
            if client is not redis:
                await client.aclose()
                await client.connection_pool.disconnect()

    return with_redis(asked)
