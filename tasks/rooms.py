"""Brings the product's rooms into a worker process. They are loaded when a worker starts, not before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.commands import Command
from tasks.process import furnish
from workers.runtime.settings import Settings

if TYPE_CHECKING:
    from workers.wiring import Rooms


def rooms() -> Rooms:
    """Return this process's rooms. Raises LookupError before a worker has opened them."""
    from workers.wiring import rooms as opened

    return opened()


class _House:
    """The rooms of workers.wiring."""

    async def open(self, settings: Settings) -> None:
        from workers.wiring import open_rooms

        await open_rooms(settings)

    async def close(self) -> None:
        from workers.wiring import close_rooms

        await close_rooms()

    async def fail_turn(self, turn_id: str, error_id: str) -> Command | None:
        return await rooms().steps.endings.fail(turn_id, error_id)


furnish(_House())
