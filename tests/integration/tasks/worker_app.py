"""The product's app with the test's task modules instead of its own."""

from __future__ import annotations

from tasks.app import app

app.conf.include = ("tasks.lifecycle", "tests.integration.tasks.worker_tasks")
app.conf.beat_schedule = {}

__all__ = ["app"]
