"""Where the system is that a command talks to: what was named, else the stack that runs here, else the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from ops.cli.screen import UNREACHABLE, CommandFailed

if TYPE_CHECKING:
    import redis.asyncio as aioredis

    from ops.local.running import RunningStack
    from workers.runtime.settings import Settings

T = TypeVar("T")


def checked_settings() -> Settings:
    """Read the settings. Raises CommandFailed naming each variable that can't be used."""
    from pydantic import ValidationError

    from workers.runtime.settings import settings

    try:
        return settings()
    except ValidationError as error:
        faults = "; ".join(_fault(error.title, fault["loc"], fault["msg"]) for fault in error.errors())
        raise CommandFailed(f"the environment holds a bad setting: {faults}") from error


def _fault(settings_class: str, place: tuple[int | str, ...], message: str) -> str:
    """Name the variable that is at fault; a rule that joins several names them itself."""
    from workers.runtime import settings

    prefix = getattr(settings, settings_class).model_config["env_prefix"]
    variable = f"{prefix}{'_'.join(map(str, place))}".upper()
    return f"{variable}: {message}" if place else message


def running_stack() -> RunningStack | None:
    """Find the embedded stack that runs on this machine's data folder."""
    from ops.local.running import read_note

    return read_note(checked_settings().local.data_dir)


def shim_url(named: str) -> str:
    """Return the shim's address."""
    if named:
        return named.rstrip("/")
    running = running_stack()
    if running is not None:
        return running.url
    shim = checked_settings().shim
    return f"http://{shim.host}:{shim.port}"


def placed_settings() -> Settings:
    """Return the settings with the Redis of the running stack, unless REDIS_URL names one."""
    given = checked_settings()
    running = running_stack()
    if running is None or "url" in given.redis.model_fields_set:
        return given
    moved = given.redis.model_copy(update={"url": running.redis_url})
    return given.model_copy(update={"redis": moved})


def with_redis(ask: Callable[[aioredis.Redis, Settings], Awaitable[T]]) -> T:
    """Run a coroutine with a client of the system's Redis. Raises CommandFailed when it does not answer."""
    from redis.exceptions import RedisError

    from workers.errors import StoreUnavailable
    from workers.runtime.redis import async_client

    given = placed_settings()

    async def asked() -> T:
        client = async_client(given.redis)
        try:
            return await ask(client, given)
        finally:
            await client.aclose()
            await client.connection_pool.disconnect()

    try:
        return asyncio.run(asked())
    except (RedisError, StoreUnavailable, OSError) as error:
        raise CommandFailed(
            f"Redis at {given.redis.url} does not answer ({error})",
            remedy="start the system with `signalbox up`, or set REDIS_URL to where its state lives",
            code=UNREACHABLE,
        ) from error
