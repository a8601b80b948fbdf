"""What StageTask needs to know of a delivery, read once from Celery's request."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from celery.app.task import Context

from schemas.ids import is_turn_id
from tasks.envelope import PUBLISHED_AT, Trace
from tasks.queues import QueueName, queue_of


@dataclass(frozen=True, kw_only=True)
class Job:
    """One delivery of one task. `waited_s` is None when the message does not say when it was published."""

    task: str
    task_id: str
    queue: QueueName
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    turn_id: str | None
    is_redelivered: bool
    is_chord_part: bool
    waited_s: float | None

    @classmethod
    def of(cls, task: str, request: Context, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Job:
        """Read a delivery. Our tasks name their turn first, when they have one."""
        first = args[0] if args else None
        delivery = request.delivery_info or {}
        published_at = request.get(PUBLISHED_AT)
        redelivered = bool(delivery.get("redelivered"))
        return cls(
            task=task,
            task_id=str(request.id),
            queue=queue_of(task),
            args=tuple(args),
            kwargs=dict(kwargs),
            turn_id=first if isinstance(first, str) and is_turn_id(first) else None,
            is_redelivered=redelivered,
            is_chord_part=bool(request.chord),
            waited_s=_waited_s(published_at) if not redelivered else None,
        )


def _waited_s(published_at: object) -> float | None:
    return max(0.0, time.time() - published_at) if isinstance(published_at, int | float) else None


def trace_of(request: Context) -> Trace | None:
    """Return where messages sent by this request come from, None outside a task."""
    if request is None or not request.id:
        return None
    return Trace(root_id=str(request.root_id or request.id), parent_id=str(request.id))
