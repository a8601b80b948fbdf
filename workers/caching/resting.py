"""Leaves an ailing cache alone for a moment, so that it costs one turn its timeout and not every turn."""

from __future__ import annotations

import time
from dataclasses import dataclass

import structlog

log = structlog.get_logger(__name__)

REST_S = 1.0


@dataclass(kw_only=True)
class Resting:
    """Shared by all that ask the same server in a process."""

    _until: float = 0.0

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._until

    def begin(self, error: str) -> None:
        """Ask nothing for REST_S seconds, and say why, once."""
        self._until = time.monotonic() + REST_S
        log.warning("cache_away", error=error)
