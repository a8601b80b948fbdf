"""`signalbox similar`: endpoints too alike to tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ops.cli.screen import JsonFlag, console, print_json

if TYPE_CHECKING:
    import redis.asyncio as aioredis

    from schemas.registry import Searchable
    from workers.retrieval.similarity import Alike
    from workers.runtime.settings import Settings

_ADVICE = {
    "same_address": "both call the same address: keep one",
    "same_words": "their descriptions are the same: say in each what only it does",
    "name_the_parameter": "say in the description that only one of them takes {only}",
    "give_examples": "give each some example questions that only it can answer",
    "say_the_difference": "say in each description what the other one does not do",
}


def similar(
    at_least: Annotated[float, typer.Option(min=0, max=1, help="How alike, 0 to 1.")] = 0.8,
    limit: Annotated[int, typer.Option(min=1, help="How many pairs at most.")] = 50,
    *,
    as_json: JsonFlag = False,
) -> None:
    """List pairs of endpoints that search can hardly tell apart, most alike first, with advice."""
    from ops.cli.place import with_redis
    from workers.retrieval.similarity import alike

    found = alike(with_redis(_load), at_least=at_least, limit=limit)
    if as_json:
        print_json([_as_json(pair) for pair in found])
        return
    from rich.table import Table

    table = Table("alike", "endpoint", "and", "advice")
    for pair in found:
        table.add_row(f"{pair.cosine:.2f}", pair.first.name, pair.second.name, _told(pair))
    if found:
        console().print(table)
    typer.echo(f"{len(found)} pairs are alike by {at_least} or more")


async def _load(redis: aioredis.Redis, given: Settings) -> list[Searchable]:
    from workers.registry.log import RegistryLog
    from workers.runtime.keys import Keys

    log = RegistryLog(redis, Keys(given.redis.key_prefix))
    found = {one.endpoint.endpoint_id: one async for page in log.snapshot() for one in page}
    return list(found.values())


def _told(pair: Alike) -> str:
    return _ADVICE[pair.advice].format(only=", ".join(pair.only))


def _as_json(pair: Alike) -> dict[str, object]:
    ends = {side: getattr(pair, side).endpoint_id for side in ("first", "second")}
    return {**ends, "cosine": pair.cosine, "advice": pair.advice, "told": _told(pair)}
