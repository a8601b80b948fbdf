"""What one worker process holds open for its tasks, apart from the rooms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import redis.asyncio as aioredis

from schemas.commands import Command
from tasks.deadletters import DeadLetters
from tasks.deliveries import Deliveries
from tasks.publish import Publisher
from tasks.runner import Runner
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import Settings


class House(Protocol):
    """The product's rooms, as the machinery sees them."""

    async def open(self, settings: Settings) -> None:
        """Open every client, on the running loop."""

    async def close(self) -> None:
        """Close what `open` opened."""

    async def fail_turn(self, turn_id: str, error_id: str) -> Command | None:
        """End a turn whose task was given up; returns what comes next in its chat."""


@dataclass(frozen=True, kw_only=True)
class WorkerProcess:
    """Opened once per process, on its loop."""

    settings: Settings
    runner: Runner
    redis: aioredis.Redis
    publisher: Publisher
    letters: DeadLetters
    deliveries: Deliveries

    @classmethod
    async def open(cls, settings: Settings, runner: Runner) -> WorkerProcess:
        """Build the clients; they connect when first used."""
        redis = async_client(settings.redis)
        keys = Keys(settings.redis.key_prefix)
        return cls(
            settings=settings,
            runner=runner,
            redis=redis,
            publisher=Publisher.open(settings),
            letters=DeadLetters(redis, keys, kept=settings.queue.dead_letters_kept),
            deliveries=Deliveries(redis, keys, kept_s=settings.queue.message_expires_s),
        )

    async def close(self) -> None:
        """Close the clients."""
        await self.publisher.close()
        await self.redis.aclose()
        await self.redis.connection_pool.disconnect()


_opened: list[WorkerProcess] = []
_houses: list[House] = []


def process() -> WorkerProcess:
    """Return this process's clients. Raises LookupError outside a running worker."""
    if not _opened:
        raise LookupError("no worker runs in this process")
    return _opened[0]


def enter(opened: WorkerProcess) -> None:
    """Make these the clients of the process."""
    _opened[:] = [opened]


def leave() -> None:
    """Forget them; called once they are closed."""
    _opened.clear()


def house() -> House | None:
    """Return the rooms this worker serves, None when its task modules brought none."""
    return _houses[0] if _houses else None


def furnish(rooms: House) -> None:
    """Say which rooms this worker serves; a task module does so when it is imported."""
    _houses[:] = [rooms]
