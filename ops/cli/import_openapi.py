"""`signalbox import`: register every operation of an OpenAPI or Swagger document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.screen import FAILED, CommandFailed, JsonFlag, UrlOption, console, print_json

if TYPE_CHECKING:
    from ops.local.catalogue import Indexed
    from workers.indexing.openapi.importer import ImportReport

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

    text, source_url = _read(source)
    try:
        report = import_document(text, source_url=source_url, server=server, others=_beside(source, text))
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


def _read(source: str) -> tuple[str, str]:
    """Return the text and, when it came from the network, its address."""
    if source.startswith(("http://", "https://")):
        return _fetch(source)
    try:
        return Path(source).read_text(encoding="utf-8-sig"), ""
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(f"{source} can't be read: {error}") from error


def _beside(source: str, text: str) -> dict[str, str]:
    """Read the files that a file refers to; a document from the network is read as it is."""
    import asyncio

    from workers.indexing.openapi.beside import from_folder, texts_beside

    if source.startswith(("http://", "https://")):
        return {}
    return asyncio.run(texts_beside(text, from_folder(Path(source).parent)))


def _fetch(url: str) -> tuple[str, str]:
    """Download at most as much as is read; redirects are followed and the last address counts."""
    import httpx

    from workers.indexing.openapi.document import LARGEST_BYTES

    data = bytearray()
    try:
        with httpx.stream("GET", url, follow_redirects=True, timeout=_PATIENCE_S) as answer:
            answer.raise_for_status()
            for piece in answer.iter_bytes():
                data += piece
                if len(data) > LARGEST_BYTES:
                    raise CommandFailed(f"{url} is larger than {LARGEST_BYTES // 1_000_000} MB")
            return data.decode("utf-8-sig"), str(answer.url)
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeDecodeError) as error:
        raise CommandFailed(f"{url} can't be read: {error or type(error).__name__}") from error


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
