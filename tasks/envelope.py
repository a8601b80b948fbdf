"""The message Celery's Redis transport would write for a task, written without Celery.

Celery's own publishing is synchronous (0.4 ms during which an event loop stands still). A test compares this envelope,
field by field, with the one of `apply_async` on the installed Celery.

Source: Celery 5.7 `celery/app/amqp.py` as_task_v2; kombu 5.7 `kombu/transport/virtual/base.py` prepare_message and
_inplace_augment_message.
"""

from __future__ import annotations

import base64
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

import orjson

PUBLISHED_AT = "published_at"
_PERSISTENT = 2


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Which task a message comes from: the first of its family, and the one that sent it."""

    root_id: str
    parent_id: str


@dataclass(frozen=True, kw_only=True)
class Membership:
    """A part's place in its chord, and the chord's body: a signature in Celery's form."""

    group_id: str
    index: int
    body: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class TaskMessage:
    """One task to be run. `args` are JSON values; `expires_s` counts from `now`."""

    task: str
    args: Sequence[str | int]
    task_id: str
    queue: str
    now: datetime
    expires_s: float
    trace: Trace | None = None
    member: Membership | None = None


def envelope(message: TaskMessage) -> bytes:
    """Return the JSON that goes onto the queue's list."""
    member = message.member
    embed = {"callbacks": None, "errbacks": None, "chain": None, "chord": member.body if member else None}
    body = orjson.dumps([list(message.args), {}, embed])
    return orjson.dumps(
        {
            "body": base64.b64encode(body).decode(),
            "content-encoding": "utf-8",
            "content-type": "application/json",
            "headers": _headers(message),
            "properties": {
                "correlation_id": message.task_id,
                "reply_to": "",
                "expiration": str(int(message.expires_s * 1000)),
                "delivery_mode": _PERSISTENT,
                "delivery_info": {"exchange": "", "routing_key": message.queue},
                "priority": 0,
                "body_encoding": "base64",
                "delivery_tag": str(uuid4()),
            },
        }
    )


def _headers(message: TaskMessage) -> dict[str, object]:
    trace, member = message.trace, message.member
    return {
        "lang": "py",
        "task": message.task,
        "id": message.task_id,
        "shadow": None,
        "eta": None,
        "expires": (message.now + timedelta(seconds=message.expires_s)).isoformat(),
        "group": member.group_id if member else None,
        "group_index": member.index if member else None,
        "retries": 0,
        "timelimit": [None, None],
        "root_id": trace.root_id if trace else message.task_id,
        "parent_id": trace.parent_id if trace else None,
        "argsrepr": repr(tuple(message.args)),
        "kwargsrepr": "{}",
        "origin": f"gen{os.getpid()}@{socket.gethostname()}",
        "ignore_result": member is None,
        "replaced_task_nesting": 0,
        "stamped_headers": None,
        "stamps": {},
        PUBLISHED_AT: message.now.timestamp(),
    }
