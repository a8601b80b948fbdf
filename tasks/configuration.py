"""Celery's configuration, derived from our settings. Names are those of Celery 5.7 and kombu 5.7."""

from __future__ import annotations

import ssl
from urllib.parse import urlsplit

from tasks import names
from tasks.queues import QueueName, declared_queues, routes
from workers.runtime.settings import IndexingSettings, QueueSettings, RedisSettings, Settings

_REDIS_SCHEMES = frozenset({"redis", "rediss"})
_AMQP_SCHEMES = frozenset({"amqp", "amqps", "pyamqp"})
_OTHER_SCHEMES = frozenset({"sentinel"})

# A worker that dies while it restores messages keeps the lock this long; kombu's 300 s would stop all recovery.
_RESTORE_LOCK_S = 10


def broker_url(settings: Settings) -> str:
    """Return the broker's URL: the one of its own, or the Redis that holds our state.

    Raises ValueError for a scheme that cannot be a broker (Redis Cluster is the usual mistake).
    """
    url = settings.queue.broker_url or settings.redis.url
    scheme = urlsplit(url).scheme
    if scheme not in _REDIS_SCHEMES | _AMQP_SCHEMES | _OTHER_SCHEMES:
        raise ValueError(
            f"QUEUE_BROKER_URL (or REDIS_URL) has the scheme {scheme!r}: a broker must be redis://, rediss://, "
            "sentinel:// or amqp://. Redis Cluster can hold the state but not the queues; name another server."
        )
    return url


def is_redis(url: str) -> bool:
    """Whether the broker is one Redis server, whose lists we may write ourselves."""
    return urlsplit(url).scheme in _REDIS_SCHEMES


def is_amqp(url: str) -> bool:
    """Whether the broker is RabbitMQ."""
    return urlsplit(url).scheme in _AMQP_SCHEMES


def broker_prefix(settings: RedisSettings) -> str:
    """Return what stands before every broker key, so that two deployments on one Redis never meet."""
    return f"{settings.key_prefix}:queue:"


def result_prefix(settings: RedisSettings) -> str:
    """Return what stands before every key of a chord's results."""
    return f"{settings.key_prefix}:result:"


def configuration(settings: Settings) -> dict[str, object]:
    """Return everything that Celery is told."""
    url = broker_url(settings)
    return {
        **_messages(settings.redis.socket_timeout_s),
        **_routing(url),
        **_broker(url, settings),
        **_results(settings),
        **_worker(settings.queue),
        **_beat(settings),
    }


def _messages(redis_timeout_s: float) -> dict[str, object]:
    return {
        "accept_content": ["json"],
        "task_serializer": "json",
        "result_serializer": "json",
        "result_accept_content": ["json"],
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        "task_send_sent_event": False,
        # A publisher that waits for a broker stops its event loop; our retry table waits instead.
        "task_publish_retry": False,
        "broker_connection_timeout": redis_timeout_s,
        "enable_utc": True,
        "timezone": "UTC",
    }


def _routing(url: str) -> dict[str, object]:
    return {
        "task_queues": declared_queues(quorum=is_amqp(url)),
        "task_routes": routes(),
        "task_create_missing_queues": False,
        "task_default_queue": str(QueueName.MAINTENANCE),
        "task_default_exchange": "signalbox",
        "task_default_exchange_type": "direct",
        "task_default_routing_key": str(QueueName.MAINTENANCE),
    }


def _broker(url: str, settings: Settings) -> dict[str, object]:
    common: dict[str, object] = {
        "broker_url": url,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
    }
    if is_amqp(url):
        return {**common, "broker_transport_options": {"confirm_publish": True}}
    options = _redis_options(settings)
    if not is_redis(url):
        return {**common, "broker_transport_options": options}
    return {
        **common,
        "broker_transport_options": options,
        "broker_use_ssl": _tls(url),
    }


def _redis_options(settings: Settings) -> dict[str, object]:
    return {
        "visibility_timeout": settings.queue.visibility_timeout_s,
        # Abandoned messages are looked for each second, not each hundred (10 × 10 by default).
        "unacked_restore_interval": 1,
        "unacked_restore_throttle": 1,
        "unacked_mutex_expire": _RESTORE_LOCK_S,
        "priority_steps": [0],
        "queue_order_strategy": "round_robin",
        "global_keyprefix": broker_prefix(settings.redis),
        # kombu waits for ever by default when a network dies silently.
        "socket_timeout": settings.redis.socket_timeout_s,
        "socket_connect_timeout": settings.redis.socket_timeout_s,
        "socket_keepalive": True,
        "health_check_interval": 10,
        "max_connections": settings.redis.max_connections,
    }


def _tls(url: str) -> dict[str, object] | None:
    return {"ssl_cert_reqs": ssl.CERT_REQUIRED} if urlsplit(url).scheme == "rediss" else None


def _results(settings: Settings) -> dict[str, object]:
    """Results exist only for the parts of a chord; they live in the Redis of our state."""
    url = settings.redis.url
    return {
        "result_backend": f"tasks.results:QuietRedisBackend+{url}",
        "result_expires": settings.queue.result_expires_s,
        "result_chord_join_timeout": 5.0,
        "result_backend_transport_options": {"global_keyprefix": result_prefix(settings.redis)},
        "redis_socket_timeout": settings.redis.socket_timeout_s,
        "redis_socket_connect_timeout": settings.redis.socket_timeout_s,
        "redis_socket_keepalive": True,
        "redis_backend_health_check_interval": 15,
        "redis_backend_use_ssl": _tls(url),
    }


def _worker(queue: QueueSettings) -> dict[str, object]:
    return {
        "worker_pool": "tasks.pool:AsyncioPool" if queue.pool == "asyncio" else "threads",
        "worker_concurrency": queue.concurrency,
        "worker_consumer": "tasks.consumer:Consumer",
        "worker_prefetch_multiplier": 1,
        "worker_eta_task_limit": queue.concurrency,
        "worker_send_task_events": False,
        "worker_soft_shutdown_timeout": queue.shutdown_grace_s,
        "worker_enable_soft_shutdown_on_idle": False,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_disable_rate_limits": True,
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
    }


def _beat(settings: Settings) -> dict[str, object]:
    every_s = settings.turn.sweep_every_s
    return {
        # In memory: the entries repeat within seconds, so there is nothing to remember and no file to lock.
        "beat_scheduler": "celery.beat:Scheduler",
        "beat_max_loop_interval": max(0.1, every_s / 2),
        "beat_schedule": {
            "sweep": {
                "task": names.SWEEP,
                "schedule": every_s,
                # Rounds that nobody took in time are worth nothing: the next one sees the same.
                "options": {"expires": 2 * every_s},
            },
            **_looking_at_sources(settings.indexing),
        },
    }


def _looking_at_sources(indexing: IndexingSettings) -> dict[str, object]:
    """Look for sources that are due, where there are any."""
    if indexing.sources_file is None:
        return {}
    every_s = indexing.look_every_s
    entry = {"task": names.LOOK_AT_SOURCES, "schedule": every_s, "options": {"expires": 2 * every_s}}
    return {"look-at-sources": entry}
