"""How many calls may be under way to one host at once: a slow host fills its own places and nobody else's."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit


class Bulkhead:
    """Places by host and port, per process. A host nobody calls takes no memory."""

    def __init__(self, places: int) -> None:
        self._places = places
        self._hosts: dict[str, tuple[asyncio.Semaphore, int]] = {}

    @contextlib.asynccontextmanager
    async def place(self, url: str, *, wait_s: float) -> AsyncIterator[None]:
        """Wait for a place at the URL's host. Raises TimeoutError when none came free in time."""
        host = urlsplit(url).netloc.lower()
        semaphore, users = self._hosts.get(host, (asyncio.Semaphore(self._places), 0))
        self._hosts[host] = (semaphore, users + 1)
        try:
            async with asyncio.timeout(wait_s):
                await semaphore.acquire()
            try:
                yield
            finally:
                semaphore.release()
        finally:
            semaphore, users = self._hosts.pop(host)
            if users > 1:
                self._hosts[host] = (semaphore, users - 1)
