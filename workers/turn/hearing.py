"""Listens to a model while what it said before is being written down."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from workers.errors import ModelFailed

# The first piece leaves at once, later ones together at this rate: more often nobody's eye can tell.
_BETWEEN_PIECES_S = 0.02


class Heard:
    """Listens on a task of its own, so that what comes while a piece is being said goes out with the next."""

    def __init__(self, pieces: AsyncIterator[str]) -> None:
        self._waiting: list[str] = []
        self._news = asyncio.Event()
        self._listening = asyncio.create_task(self._listen(pieces))
        self._listening.add_done_callback(lambda _: self._news.set())

    async def _listen(self, pieces: AsyncIterator[str]) -> None:
        async for piece in pieces:
            self._waiting.append(piece)
            self._news.set()

    async def together(self) -> AsyncIterator[str]:
        """Yield what has come since the last time. Raises what the model's stream raised."""
        while True:
            await self._news.wait()
            is_over = self._listening.done()
            self._news.clear()
            if self._waiting:
                text = "".join(self._waiting)
                self._waiting.clear()
                yield text
            if is_over:
                await self._listening
                return
            await asyncio.wait([self._listening], timeout=_BETWEEN_PIECES_S)

    async def leave(self) -> None:
        """Stop listening; the model's request is closed."""
        self._listening.cancel()
        with contextlib.suppress(asyncio.CancelledError, ModelFailed):
            await self._listening
