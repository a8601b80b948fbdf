"""`signalbox sources`: where endpoints come from on a schedule."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ops.cli.screen import FAILED, CommandFailed, JsonFlag, console, group, print_json

if TYPE_CHECKING:
    import redis.asyncio as aioredis

    from schemas.sources import SourceList, SourceRun, Tally
    from workers.registry.sources import SourceStore
    from workers.runtime.settings import Settings

T = TypeVar("T")

app = group("Where endpoints come from on a schedule.", needs_command=False)
_POLL_S = 0.2
_REMEDY = "set INDEXING_SOURCES_FILE for the workers and for beat, and start both again"


@app.callback(invoke_without_command=True)
def sources(context: typer.Context, *, as_json: JsonFlag = False) -> None:
    """List the sources, how many endpoints each brought, and how its last run ended."""
    if not context.invoked_subcommand:
        list_sources(as_json=as_json)


@app.command("list")
def list_sources(*, as_json: JsonFlag = False) -> None:
    """List the sources, how many endpoints each brought, and how its last run ended. A list with faults ends in 1."""
    from workers.registry.sources import counts

    async def asked(store: SourceStore, _: Settings) -> Any:
        return await store.get_list(), await store.last_runs(), counts(await store.owned())

    known, last, owned = _with_store(asked)
    if known is None:
        raise CommandFailed("no worker has read a list of sources yet", remedy=_REMEDY)
    if as_json:
        print_json(
            {"faults": known.faults, "sources": [_as_json(known, one.name, last, owned) for one in known.sources]}
        )
    else:
        _print_list(known, last, owned)
    if known.faults:
        raise typer.Exit(FAILED)


@app.command()
def run(
    name: Annotated[str, typer.Argument(help="The source's name.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Tell what would change; change nothing.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Index what is unchanged too, and take away whatever vanished.")
    ] = False,
    wait_s: Annotated[float, typer.Option(help="How long to wait for the workers.")] = 120.0,
    as_json: JsonFlag = False,
) -> None:
    """Read one source now. What is new or changed is registered and handed to the indexing queue."""
    done = _with_store(lambda store, given: _run(store, given, name, dry_run=dry_run, force=force, wait_s=wait_s))
    if as_json:
        print_json(done.model_dump(mode="json"))
    else:
        _print_run(done)
    if done.state == "failed" or done.held_back.count or done.problem_count:
        raise typer.Exit(FAILED)


@app.command()
def check(file: Annotated[Path, typer.Argument(help="A list of sources.")], *, as_json: JsonFlag = False) -> None:
    """Read a list of sources and tell what is wrong with it; nothing is fetched."""
    from workers.indexing.source_list import read_source_list

    known = read_source_list(file)
    if as_json:
        print_json(known.model_dump(mode="json"))
    else:
        _print_list(known, {}, {})
    if known.faults:
        raise typer.Exit(FAILED)


async def _run(
    store: SourceStore, given: Settings, name: str, *, dry_run: bool, force: bool, wait_s: float
) -> SourceRun:
    """Ask the workers for a run and wait for its end."""
    from tasks import names
    from tasks.publish import Publisher

    asked = await store.ask(name, dry_run=dry_run, force=force, within_s=given.queue.message_expires_s)
    if asked is None:
        raise CommandFailed(
            f"a run of {name} is under way: {await store.holder(name)}", remedy="try again when it is over"
        )
    publisher = Publisher.open(given)
    try:
        await publisher.send(names.REFRESH_SOURCE, (asked.run_id,))
    finally:
        await publisher.close()
    with console().status(f"reading {name}") as shown:
        ends_at = time.monotonic() + wait_s
        while time.monotonic() < ends_at:
            run = await store.get_run(asked.run_id)
            if run is not None and run.is_over:
                return run
            if run is not None and run.total:
                shown.update(f"reading {name}: {run.done} of {run.total}")
            await asyncio.sleep(_POLL_S)
    raise CommandFailed(
        f"{asked.run_id} has not ended within {wait_s:g} s", remedy="does a worker serve the queue indexing?"
    )


def _with_store(ask: Callable[[SourceStore, Settings], Awaitable[T]]) -> T:
    from ops.cli.place import with_redis
    from workers.registry.sources import SourceStore
    from workers.runtime.keys import Keys

    async def asked(redis: aioredis.Redis, given: Settings) -> T:
        return await ask(SourceStore(redis, Keys(given.redis.key_prefix)), given)

    return with_redis(asked)


def _as_json(known: SourceList, name: str, last: dict[str, SourceRun], owned: dict[str, int]) -> dict[str, Any]:
    source = next(one for one in known.sources if one.name == name)
    run = last.get(name)
    return {
        **source.model_dump(mode="json"),
        "endpoints": owned.get(name, 0),
        "last_run": run.model_dump(mode="json") if run else None,
    }


def _print_list(known: SourceList, last: dict[str, SourceRun], owned: dict[str, int]) -> None:
    from rich.table import Table

    table = Table("name", "kind", "every", "endpoints", "last run", "where")
    for one in known.sources:
        run = last.get(one.name)
        told = f"{run.asked_at:%Y-%m-%d %H:%M:%S} {run.state} {run.reason}".rstrip() if run else "never"
        if run and run.held_back.count:
            told += f", {run.held_back.count} held back"
        table.add_row(one.name, one.kind, f"{one.every_s:g} s", str(owned.get(one.name, 0)), told, one.location)
    console().print(table)
    for fault in known.faults:
        typer.secho(f"  ✗ {fault}", fg="red")


def _print_run(run: SourceRun) -> None:
    """Tell a run: what it did, or would do; what it left alone; what it could not use."""
    told = f": {run.reason}" if run.reason else ""
    typer.echo(f"{run.source}: {run.state}{' (dry run)' if run.dry_run else ''}{told}")
    tallies: dict[str, Tally] = {"added": run.added, "changed": run.changed, "removed": run.removed}
    for word, tally in tallies.items():
        if tally.count:
            typer.echo(f"  {tally.count} {word}: {_names(tally)}")
    if run.unchanged:
        typer.echo(f"  {run.unchanged} unchanged")
    if run.held_back.count:
        typer.secho(f"  {run.held_back.count} vanished, too many at once: {_names(run.held_back)}", fg="red")
        typer.echo("  → they stay registered; `--force` takes them away, or raise most_removed of the source")
    for problem in run.problems:
        typer.secho(f"  ✗ {problem.where} {problem.name}: {problem.message}", fg="red")
    if run.problem_count > len(run.problems):
        typer.echo(f"  … and {run.problem_count - len(run.problems)} more problems")


def _names(tally: Tally) -> str:
    return ", ".join(tally.names) + (", …" if tally.count > len(tally.names) else "")
