"""The messages Celery would write for a chord of ours, written without Celery, and the key with which it counts them.

Celery publishes a header one part after the other, 1.3 ms each; here the parts and their count travel in one packet.
A test compares the messages, field by field, with those of `chord.apply_async` on the installed Celery.

Source: Celery 5.7 `celery/canvas.py` _chord.run and group.freeze; `celery/backends/redis.py` set_chord_size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import uuid4

from tasks.envelope import Membership, TaskMessage

Wire = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Chord:
    """Parts that run at the same time, and the task that follows the last of them, however they end."""

    group_id: str
    parts: tuple[TaskMessage, ...]
    body: TaskMessage

    @property
    def size_key(self) -> str:
        """Where the backend looks up how many parts there are, after the prefix of its results."""
        return f"celery-taskset-meta-{self.group_id}.s"


def chord_of(parts: list[TaskMessage], body: TaskMessage) -> Chord:
    """Bind the parts to their body. The body is its own errback."""
    group_id = str(uuid4())
    signature = _signature(
        body,
        link_error=[_signature(body)],
        add_to_parent=False,
        **({"root_id": body.trace.root_id} if body.trace else {}),
        task_id=body.task_id,
        reply_to="",
        group_id=group_id,
    )
    members = (
        replace(part, member=Membership(group_id=group_id, index=index, body=signature))
        for index, part in enumerate(parts)
    )
    return Chord(group_id=group_id, parts=tuple(members), body=body)


def _signature(message: TaskMessage, **options: object) -> Wire:
    """Write a task as Celery's canvas does when it travels inside another."""
    return {
        "task": message.task,
        "args": list(message.args),
        "kwargs": {},
        "options": {"queue": message.queue, "expires": message.expires_s, "ignore_result": True, **options},
        "subtask_type": None,
        "immutable": True,
    }
