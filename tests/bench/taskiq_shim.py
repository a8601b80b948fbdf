"""The product's own shim, publishing over taskiq."""

from __future__ import annotations

from typing import Self

from starlette.types import ASGIApp

from schemas.commands import Command
from tasks import publish
from tests.bench.taskiq_app import broker, send
from workers.runtime.settings import Settings


class TaskiqPublisher:
    """Stands where the shim expects `tasks.publish.Publisher`."""

    def __init__(self) -> None:
        self._is_started = False

    @classmethod
    def open(cls, _: Settings) -> Self:
        return cls()

    async def stage(self, command: Command, **_: object) -> int:
        if not self._is_started:
            self._is_started = True
            await broker.startup()
        await send(command)
        return 0

    async def depth(self) -> dict[str, int]:
        return {}

    async def close(self) -> None:
        await broker.shutdown()


publish.Publisher = TaskiqPublisher  # type: ignore[assignment, misc]


def create_app() -> ASGIApp:
    """Build the shim with the publisher swapped."""
    from api_shim.app import create_app as build

    return build()
