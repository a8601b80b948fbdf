"""Makes Redis clients with the timeouts that a silent network needs."""

from __future__ import annotations

import redis
import redis.asyncio as aioredis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ClusterDownError, OutOfMemoryError, ReadOnlyError, TryAgainError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from workers.runtime.pipelined import PipelinedRedis
from workers.runtime.settings import RedisSettings

_RETRIES = 2

REDIS_AWAY = (
    RedisConnectionError,  # among them BusyLoadingError: it has just started and reads its file
    RedisTimeoutError,
    ReadOnlyError,
    OutOfMemoryError,
    ClusterDownError,
    TryAgainError,
    OSError,
)
"""What a server raises that cannot serve us now, though it may soon: gone, or there but taking no writes."""


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
        # A connection that died while it lay in the pool is replaced without the caller noticing. Every script may run
        # twice: its claim, version or first-wins rule makes the second run change nothing.
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.02), _RETRIES),
        retry_on_error=[RedisConnectionError],
    )
    return PipelinedRedis(connection_pool=pool)


def sync_client(settings: RedisSettings) -> redis.Redis:
    """Build a client for the command line and for start-up checks."""
    return redis.Redis.from_url(
        settings.url,
        socket_timeout=settings.socket_timeout_s,
        socket_connect_timeout=settings.socket_timeout_s,
        decode_responses=True,
    )
