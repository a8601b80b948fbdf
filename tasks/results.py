"""Where the results of chord parts are kept."""

from __future__ import annotations

from celery.backends.redis import RedisBackend


class QuietRedisBackend(RedisBackend):  # type: ignore[misc] # Celery ships no types
    """Celery's Redis backend, without a subscription for every task that is sent.

    A sender that wants a result subscribes to a channel for it and unsubscribes when the result is read. Nobody reads
    a chord's results here: its body is told by the backend's own counter. The subscriptions would only pile up.
    """

    def on_task_call(self, producer: object, task_id: str) -> None:
        """Subscribe to nothing."""
