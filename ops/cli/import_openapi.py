"""`signalbox import`: register every operation of an OpenAPI or Swagger document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.place import checked_settings
from ops.cli.screen import FAILED, CommandFailed, JsonFlag, UrlOption, console, print_json

if TYPE_CHECKING:
    from ops.local.catalogue import Indexed
    from workers.indexing.openapi.importer import ImportReport
    from workers.indexing.source_reading import Text

_PATIENCE_S = 30.0


def import_openapi(
    source: Annotated[str, typer.Argument(metavar="FILE|URL", help="An OpenAPI 3 or Swagger 2 document.")],
    url: UrlOption = "",
    server: Annotated[str, typer.Option(help="Where the API is served, instead of where the document says.")] = "",
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Tell what would be registered; register nothing.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until search finds each endpoint.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Register the operations of a document and tell of each whether it was taken, changed, skipped or refused.

    One bad operation stops no other; then the exit code is 1.
    """
    from workers.indexing.openapi.document import DocumentRefused
    from workers.indexing.openapi.importer import import_document

    read = _read(source)
    try:
        report = import_document(read.text, source_url=read.url, server=server, others=read.others)
    except DocumentRefused as refused:
        raise CommandFailed(f"{source} can't be imported: {refused}") from refused
    done = [] if dry_run else _register(report, url, wait=wait)
    failed = [one for one in done if not one.is_good]
    if as_json:
        registered = [{**one.model_dump(), "ok": one.is_good} for one in done]
        print_json({**report.model_dump(mode="json"), "dry_run": dry_run, "registered": registered})
    else:
        _print(report)
        if not dry_run:
            typer.echo(f"{len(done) - len(failed)} of {len(done)} endpoints registered")
        for one in failed:
            typer.secho(f"  ✗ {one.name}: {one.reason}", fg="red")
    if failed or any(one.state == "refused" for one in report.operations):
        raise typer.Exit(FAILED)


def _read(source: str) -> Text:
    """Return the text, the address it came from if it is remote, and the files that it refers to."""
    import asyncio

    from workers.errors import DocumentUnreadable

    try:
        if source.startswith(("http://", "https://")):
            return asyncio.run(_fetch(source))
        return asyncio.run(_beside(Path(source).read_text(encoding="utf-8-sig"), Path(source).parent))
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"{source} can't be read: {error}") from error
    except DocumentUnreadable as unreadable:
        raise CommandFailed(str(unreadable)) from unreadable


async def _beside(text: str, folder: Path) -> Text:
    from workers.indexing.openapi.beside import from_folder, texts_beside
    from workers.indexing.source_reading import Text

    return Text(text=text, others=await texts_beside(text, from_folder(folder)))


async def _fetch(url: str) -> Text:
    """Fetch the document, and from its host the files that it refers to, past the guard that stands before calls."""
    from workers.calling.fetching import DocumentFetcher
    from workers.indexing.openapi.beside import texts_beside
    from workers.indexing.openapi.document import LARGEST_BYTES
    from workers.indexing.source_reading import Text, from_host

    fetcher = DocumentFetcher(checked_settings().calling, max_bytes=LARGEST_BYTES, timeout_s=_PATIENCE_S)
    try:
        text, address = await fetcher.fetch(url)
        return Text(text=text, url=address, others=await texts_beside(text, from_host(address, fetcher.fetch)))
    finally:
        await fetcher.close()


def _register(report: ImportReport, url: str, *, wait: bool) -> list[Indexed]:
    from ops.cli.client import Shim
    from ops.cli.place import shim_url
    from ops.local.catalogue import index_all

    address = shim_url(url)
    Shim(address).request("GET", "/healthz")
    return list(index_all(address, report.registrations, wait=wait))


def _print(report: ImportReport) -> None:
    from rich.table import Table

    table = Table("", "operation", "params", "remarks")
    secrets: dict[str, Any] = {}
    for one in report.operations:
        remarks = "\n".join(f"{remark.pointer}: {remark.reason}" for remark in one.remarks)
        table.add_row(one.state, f"{one.method} {one.path}", str(len(one.params)), remarks)
        secrets.update({need.secret: need for need in one.needs})
    console().print(table)
    states = [one.state for one in report.operations]
    counts = ", ".join(f"{states.count(state)} {state}" for state in ("taken", "changed", "skipped", "refused"))
    typer.echo(f"{report.title} ({report.version}): {counts}")
    for need in secrets.values():
        typer.echo(f"  needs the secret {need.secret}: {need.place} {need.name}: {need.prefix}…")
