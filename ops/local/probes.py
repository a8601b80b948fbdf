"""Whether a part answers. A probe never raises: a part that is not there yet is simply not ready."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from urllib.parse import urlsplit

import redis

from workers.runtime.settings import QueueSettings, RedisSettings, Settings

_PATIENCE_S = 1.0


@dataclass(frozen=True, kw_only=True)
class BrokerAddress:
    """Where the workers of one deployment are reached. An empty `broker_url` means: through the Redis of its state."""

    redis_url: str
    key_prefix: str = "sb"
    broker_url: str = ""

    def settings(self) -> Settings:
        """Our own settings, but with this address."""
        return Settings(
            redis=RedisSettings(url=self.redis_url, key_prefix=self.key_prefix),
            queue=QueueSettings(broker_url=self.broker_url),
        )


def redis_answers(url: str) -> bool:
    """Whether the server at the URL answers PING (a server that still loads its data does not)."""
    client = redis.Redis.from_url(url, socket_timeout=_PATIENCE_S, socket_connect_timeout=_PATIENCE_S)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


def eviction_policy(url: str) -> str:
    """Return what the server at the URL does when its memory is full; empty when it does not answer or does not say."""
    client = redis.Redis.from_url(
        url, decode_responses=True, socket_timeout=_PATIENCE_S, socket_connect_timeout=_PATIENCE_S
    )
    try:
        told = client.config_get("maxmemory-policy")
    except redis.RedisError:  # a managed Redis may refuse CONFIG
        return ""
    finally:
        client.close()
    return told.get("maxmemory-policy") or ""


def http_status(url: str) -> int:
    """Return the status of a GET, or 0 when nobody answers in time."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=_PATIENCE_S)
    try:
        connection.request("GET", parts.path or "/")
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def consuming_workers(queue: BrokerAddress, *, only: str | None = None, timeout_s: float = 0.5) -> tuple[str, ...]:
    """Return the names of the workers that answer a ping over the broker, sorted; none when the broker is away.

    With `only`, that worker alone is asked, and its answer ends the wait.
    """
    from kombu.exceptions import OperationalError

    from tasks.app import build_app

    asker = build_app(queue.settings())
    try:
        answers = asker.control.ping(destination=[only] if only else None, timeout=timeout_s)
    except (OperationalError, redis.RedisError, OSError):
        return ()
    finally:
        asker.close()
    return tuple(sorted(name for answer in answers for name in answer))
