"""`signalbox index`: register every endpoint of a catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.screen import FAILED, CommandFailed, JsonFlag, UrlOption, console, print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.local.catalogue import Indexed


def index(
    file: Annotated[Path, typer.Argument(help="A YAML or JSON catalogue.")],
    url: UrlOption = "",
    *,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until search finds each endpoint.")] = False,
    demo_url: Annotated[
        str, typer.Option(help="Where the demo API listens, when it is not where the catalogue says.")
    ] = "",
    as_json: JsonFlag = False,
) -> None:
    """Register every endpoint of FILE. A bad one is told and stops no other; then the exit code is 1."""
    from ops.cli.client import Shim
    from ops.cli.place import running_stack, shim_url
    from ops.local.catalogue import CatalogueUnreadable, index_all, read_catalogue

    running = None if url else running_stack()
    try:
        entries = read_catalogue(file, demo_url=demo_url or (running.demo_url if running else ""))
    except CatalogueUnreadable as error:
        raise CommandFailed(str(error)) from error
    address = shim_url(url)
    Shim(address).request("GET", "/healthz")
    steps = index_all(address, entries, wait=wait)
    done = list(steps) if as_json else list(shown_progress(steps, len(entries)))
    failed = [one for one in done if not one.is_good]
    if as_json:
        print_json([_as_json(one) for one in done])
    else:
        typer.echo(f"{len(done) - len(failed)} of {len(done)} endpoints registered")
        for one in failed:
            typer.secho(f"  ✗ {one.name}: {one.reason}", fg="red")
    if failed:
        raise typer.Exit(FAILED)


def shown_progress(steps: Iterator[Indexed], total: int) -> Iterator[Indexed]:
    """Pass the steps through while a progress bar shows them."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("indexing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=console()) as bar:
        task = bar.add_task("", total=total)
        for one in steps:
            bar.update(task, advance=1, description=one.name)
            yield one
        bar.update(task, description="")


def _as_json(one: Indexed) -> dict[str, Any]:
    return {**one.model_dump(), "ok": one.is_good}
