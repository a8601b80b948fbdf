"""`signalbox reindex`: index again what search does not find as it is now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

from ops.cli.screen import FAILED, JsonFlag, console, print_json

if TYPE_CHECKING:
    from datetime import datetime

    import redis.asyncio as aioredis

    from schemas.registry import Registered
    from workers.registry.store import RegistryStore
    from workers.runtime.settings import Settings

_PAGE = 200
_LOOK_EVERY_S = 0.5


def reindex(
    tenant: Annotated[str, typer.Option(help="Whose endpoints.")] = "default",
    *,
    every: Annotated[bool, typer.Option("--all", help="Ask for every endpoint, not only for those in need.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until the workers are through, with progress.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Index what is stale (another model made its vectors), failed or pending.

    Run again after a break it takes up what is left. Work that changes nothing costs nothing.
    """
    from ops.cli.place import with_redis

    told = with_redis(lambda redis, given: _Round(redis, given, tenant).run(every=every, wait=wait))
    failed = {name: reason for name, reason in told.items() if reason}
    if as_json:
        print_json({"asked": len(told), "waited": wait, "failed": failed})
    else:
        typer.echo(f"{len(told)} endpoints {'indexed' if wait else 'asked for'}, {len(failed)} failed")
        for name, reason in failed.items():
            typer.secho(f"  ✗ {name}: {reason}", fg="red")
    if failed:
        raise typer.Exit(FAILED)


class _Round:
    """One run over a tenant's endpoints."""

    def __init__(self, redis: aioredis.Redis, given: Settings, tenant: str) -> None:
        from workers.registry.store import RegistryStore
        from workers.runtime.clock import utc_now
        from workers.runtime.keys import Keys

        self._registry: RegistryStore = RegistryStore(redis, Keys(given.redis.key_prefix))
        self._given = given
        self._tenant = tenant
        self._began: datetime = utc_now()

    async def run(self, *, every: bool, wait: bool) -> dict[str, str]:
        """Return id → why it failed; an empty text for the others."""
        from schemas.registry import IndexState
        from tasks.publish import Publisher

        chosen = [one.endpoint.endpoint_id async for one in self._all() if every or one.state is not IndexState.INDEXED]
        publisher = Publisher.open(self._given)
        try:
            for endpoint_id in chosen:
                await publisher.index(endpoint_id)
        finally:
            await publisher.close()
        return await self._watched(chosen) if wait else dict.fromkeys(chosen, "")

    async def _all(self) -> AsyncIterator[Registered]:
        offset = 0
        while page := await self._registry.list(self._tenant, offset=offset, limit=_PAGE):
            for one in page:
                yield one
            offset += len(page)

    async def _watched(self, chosen: list[str]) -> dict[str, str]:
        """Look until each endpoint was handled after we began, or is gone."""
        from rich.progress import Progress

        told: dict[str, str] = {}
        with Progress(console=console(), transient=True) as bar:
            task = bar.add_task("indexing", total=len(chosen))
            while len(told) < len(chosen):
                await self._look(chosen, told)
                bar.update(task, completed=len(told))
                await asyncio.sleep(_LOOK_EVERY_S if len(told) < len(chosen) else 0)
        return told

    async def _look(self, chosen: list[str], told: dict[str, str]) -> None:
        from schemas.registry import IndexState

        there = {one.endpoint.endpoint_id: one async for one in self._all()}
        for endpoint_id in chosen:
            one = there.get(endpoint_id)
            if one is None:
                told[endpoint_id] = ""
            elif one.updated_at >= self._began and one.state in (IndexState.INDEXED, IndexState.FAILED):
                told[endpoint_id] = one.reason if one.state is IndexState.FAILED else ""
