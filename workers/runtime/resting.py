"""Leaves an ailing server alone for a while after it failed several times in a row: no turn waits for it then."""

from __future__ import annotations

import time
from collections.abc import Callable


class Resting:
    """Counts failures in a row, in this process. After a rest one request tries again; a failure begins the next."""

    def __init__(self, *, failures: int, rest_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = failures
        self._rest_s = rest_s
        self._clock = clock
        self._failures = 0
        self._until = 0.0

    def may_ask(self) -> bool:
        """Whether a request may go out now. When a rest ends, the first to ask takes the only try."""
        if self._failures < self._limit:
            return True
        if self._clock() < self._until:
            return False
        self._until = self._clock() + self._rest_s
        return True

    def answered(self) -> None:
        """Note that the server answered."""
        self._failures = 0

    def failed(self) -> None:
        """Note that it did not."""
        self._failures += 1
        self._until = self._clock() + self._rest_s
