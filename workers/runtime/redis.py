"""Makes Redis clients with the timeouts that a silent network needs."""

from __future__ import annotations

import redis
import redis.asyncio as aioredis

from workers.runtime.settings import RedisSettings


def async_client(settings: RedisSettings) -> aioredis.Redis:
    """Build the process's client; callers share it. Commands wait at most `socket_timeout_s`.

    The pool blocks when exhausted (the plain one raises at the hundredth concurrent turn).
    """
    pool = aioredis.BlockingConnectionPool.from_url(
        settings.url,
        max_connections=settings.max_connections,
        timeout=settings.socket_timeout_s,
        socket_timeout=settings.socket_timeout_s,
        socket_connect_timeout=settings.socket_timeout_s,
        socket_keepalive=True,
        health_check_interval=15,
        decode_responses=True,
    )
    return aioredis.Redis(connection_pool=pool)


def sync_client(settings: RedisSettings) -> redis.Redis:
    """Build a client for the command line and for start-up checks."""
    return redis.Redis.from_url(
        settings.url,
        socket_timeout=settings.socket_timeout_s,
        socket_connect_timeout=settings.socket_timeout_s,
        decode_responses=True,
    )
