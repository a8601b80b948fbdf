"""One place where this room's Redis errors become ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources

import redis.asyncio as aioredis
from redis.commands.core import AsyncScript

from workers.errors import StoreUnavailable
from workers.runtime.redis import REDIS_AWAY


@contextmanager
def answering() -> Iterator[None]:
    """Raise StoreUnavailable where Redis is away."""
    try:
        yield
    except REDIS_AWAY as error:
        raise StoreUnavailable("Redis did not answer the registry") from error


def load_script(redis: aioredis.Redis, name: str) -> AsyncScript:
    """Register the script of that name in `scripts/`."""
    source = (resources.files(__package__) / "scripts" / f"{name}.lua").read_text(encoding="utf-8")
    return redis.register_script(source)
