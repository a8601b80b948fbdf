"""Keeps an operator's own guard from breaking a turn."""

from __future__ import annotations

import structlog

from workers.guarding.guard import Guard, Said
from workers.runtime.telemetry import GUARD_FAILURES

log = structlog.get_logger(__name__)


class Shielded:
    """Asks an operator's guard. One that raises, or answers neither a text nor None, objects or passes, as set."""

    def __init__(self, guard: Guard, *, objects: bool) -> None:
        self._guard = guard
        self._objects = objects

    @property
    def name(self) -> str:
        """The guard's own name."""
        return self._guard.name

    def check(self, said: Said) -> str | None:
        """Return what the guard says is wrong; never raises."""
        try:
            reason: object = self._guard.check(said)
        except Exception as error:  # noqa: BLE001 - somebody else's code; its text may hold the person's words
            return self._failed(type(error).__name__)
        if reason is None or isinstance(reason, str):
            return reason
        return self._failed(f"answered {type(reason).__name__}")

    def _failed(self, how: str) -> str | None:
        GUARD_FAILURES.labels(guard=self.name).inc()
        log.error("guard_failed", guard=self.name, error=how, objects=self._objects)
        return "the guard itself failed" if self._objects else None
