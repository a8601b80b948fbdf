"""What the HTTP process holds open: one Redis client, one publisher, one ear. Opened by the lifespan, once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import redis.asyncio as aioredis
from starlette.types import Scope

from api_shim.departure import farewell_on_signal
from api_shim.failures import DoorIsLeaving
from api_shim.follower import Follower
from api_shim.limits import Backlog
from api_shim.metrics import DoorMetrics
from tasks.publish import Publisher
from workers.eventlog.log import EventLog
from workers.messages.secrets import masked
from workers.registry.store import RegistryStore
from workers.runtime.clock import Clock, utc_now
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import Settings
from workers.sessions.turns import TurnStore
from workers.sessions.user_tokens import UserTokens


@dataclass(frozen=True, kw_only=True)
class Door:
    """The clients every route shares. `open_streams` are woken when the process is told to leave."""

    settings: Settings
    redis: aioredis.Redis
    keys: Keys
    turns: TurnStore
    user_tokens: UserTokens
    log: EventLog
    registry: RegistryStore
    publisher: Publisher
    follower: Follower
    backlog: Backlog
    metrics: DoorMetrics
    clock: Clock = utc_now
    open_streams: set[Callable[[], None]] = field(default_factory=set)
    leaving: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def clean(self) -> Callable[[str], str]:
        """What takes secrets out of a person's text before anything keeps it; where they are not guarded, nothing."""
        is_guarded = "secrets" in {name.strip() for name in self.settings.guard.questions.split(",")}
        return masked if is_guarded else str

    def require_open(self) -> None:
        """Raise DoorIsLeaving once the process was told to stop: clients come back before the socket closes."""
        if self.leaving.is_set():
            raise DoorIsLeaving

    def say_farewell(self) -> None:
        """Let every open stream say where to resume, and end; nothing new begins here."""
        self.leaving.set()
        for leave in tuple(self.open_streams):
            leave()


def door_of(scope: Scope) -> Door:
    """Return the door that the lifespan opened."""
    return cast("Door", scope["state"]["door"])


@asynccontextmanager
async def open_door(settings: Settings) -> AsyncIterator[Door]:
    """Open the clients on the running loop and close them afterwards. Redis may be away; it is sought on."""
    redis = async_client(settings.redis)
    keys = Keys(settings.redis.key_prefix)
    publisher = Publisher.open(settings)
    door = Door(
        settings=settings,
        redis=redis,
        keys=keys,
        turns=TurnStore(redis, keys, settings.turn),
        user_tokens=UserTokens.open(redis, keys, settings.calling),
        log=EventLog(redis, keys),
        registry=RegistryStore(redis, keys),
        publisher=publisher,
        follower=Follower(settings.redis),
        backlog=Backlog(publisher, limit=settings.shim.max_queued_turns),
        metrics=DoorMetrics(),
    )
    door.follower.start()
    door.backlog.start()
    try:
        with farewell_on_signal(door.say_farewell):
            yield door
    finally:
        await door.backlog.close()
        await door.follower.close()
        await publisher.close()
        await redis.aclose()
        await redis.connection_pool.disconnect()
