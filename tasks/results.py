"""Where the results of chord parts are kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from celery.backends.redis import RedisBackend


class QuietRedisBackend(RedisBackend):  # type: ignore[misc] # Celery ships no types
    """Celery's Redis backend for a system in which nobody waits for a result, or reads one.

    Starting a chord makes Celery wait, in the background, for each part: a subscribed channel, a thread, and an object
    kept until the result arrives, none of which is ever released in a worker. A chord's body is started by the
    backend's own counter, without any of that, so this backend waits for nothing. `AsyncResult.get` would not return.
    """

    def store_result(self, task_id: str, result: Any, state: str, **_: Any) -> Any:
        """Store nothing: the chord's counter notes a part and its state by itself, and nobody else asks."""
        del task_id, state
        return result

    def on_task_call(self, producer: object, task_id: str) -> None:
        """Subscribe to nothing."""

    def add_pending_result(self, result: Any, weak: bool = False, start_drainer: bool = True) -> Any:  # noqa: FBT001, FBT002 - Celery's signature
        """Wait for nothing."""
        del weak, start_drainer
        return result

    def add_pending_results(self, results: Iterable[Any], weak: bool = False) -> list[Any]:  # noqa: FBT001, FBT002 - Celery's signature
        """Wait for nothing."""
        del weak
        return list(results)
