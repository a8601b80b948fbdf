"""What a worker process does when it starts and when it ends, hung on Celery's signals."""

from __future__ import annotations

import time
from typing import Any

import redis
import structlog
from celery import signals

from tasks.configuration import broker_url, is_redis
from tasks.process import WorkerProcess, enter, house, leave, process
from tasks.runner import Runner
from workers.runtime import tracing
from workers.runtime.logs import configure_logs
from workers.runtime.redis import sync_client
from workers.runtime.settings import Settings, settings
from workers.runtime.telemetry import serve_metrics

log = structlog.get_logger(__name__)

_OPEN_TIMEOUT_S = 120.0
_CLOSE_TIMEOUT_S = 20.0


@signals.setup_logging.connect  # type: ignore[untyped-decorator] # Celery ships no types
def _set_up_logging(**_: Any) -> None:
    """Log as we do; a receiver of this signal also keeps Celery from setting up its own."""
    configure_logs(settings().local.log_level)


@signals.worker_init.connect  # type: ignore[untyped-decorator] # Celery ships no types
def start_worker(**_: Any) -> None:
    """Open the loop, the clients and the rooms, before the first message is taken.

    Celery logs a receiver's error and goes on; a worker without its rooms would only make dead letters, so it leaves.
    """
    configure_logs(settings().local.log_level)
    given = settings()
    wait_for_redis(given)
    if given.queue.metrics_port:
        serve_metrics(given.queue.metrics_port, host=given.queue.metrics_host)
    if given.queue.traces_url:
        tracing.start(given.queue.traces_url, share=given.queue.traces_share)
    runner = Runner()
    runner.start()
    try:
        runner.call(_open(given, runner), timeout_s=_OPEN_TIMEOUT_S)
    except Exception as error:
        log.exception("worker_not_opened", error=type(error).__name__)
        raise SystemExit(1) from error
    log.info("worker_opened", pool=given.queue.pool, concurrency=given.queue.concurrency)


@signals.worker_shutting_down.connect  # type: ignore[untyped-decorator] # Celery ships no types
def bound_shutdown(**_: Any) -> None:
    """Bound the wait of Celery's threads pool, which knows no grace; ours bounds its own."""
    if settings().queue.pool == "threads":
        process().runner.cut_short_after(settings().queue.shutdown_grace_s)


@signals.worker_shutdown.connect  # type: ignore[untyped-decorator] # Celery ships no types
def stop_worker(**_: Any) -> None:
    """Close the rooms and the clients; the pool has waited for its tasks already."""
    opened = process()
    opened.runner.call(_close(opened), timeout_s=_CLOSE_TIMEOUT_S)
    opened.runner.stop()
    leave()
    tracing.stop()


async def _open(given: Settings, runner: Runner) -> None:
    enter(await WorkerProcess.open(given, runner))
    rooms = house()
    if rooms is not None:
        await rooms.open(given)


async def _close(opened: WorkerProcess) -> None:
    rooms = house()
    if rooms is not None:
        await rooms.close()
    await opened.close()


def wait_for_redis(given: Settings, *, every_s: float = 1.0) -> None:
    """Wait until the store answers (a machine starts its parts in any order), and warn if it may forget messages."""
    client = sync_client(given.redis)
    while True:
        try:
            client.ping()
            break
        except (redis.ConnectionError, redis.TimeoutError) as error:
            log.warning("redis_awaited", error=str(error))
            time.sleep(every_s)
    if is_redis(broker_url(given)):
        _warn_of_eviction(client)
    client.close()


def _warn_of_eviction(client: redis.Redis) -> None:
    try:
        policy = client.config_get("maxmemory-policy")
    except redis.ResponseError:  # a managed Redis may refuse CONFIG
        return
    if isinstance(policy, dict) and policy.get("maxmemory-policy") not in (None, "noeviction"):
        log.error("redis_may_evict_messages", maxmemory_policy=policy["maxmemory-policy"], remedy="noeviction")
