"""The Celery request of the coroutine that asks."""

from __future__ import annotations

from contextvars import ContextVar

from celery.app.task import Context

current_request: ContextVar[Context | None] = ContextVar("current_request", default=None)
