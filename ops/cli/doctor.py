"""`signalbox doctor`: is everything there, and if not, what to do."""

from __future__ import annotations

from typing import Annotated

import typer

from ops.cli.screen import FAILED, JsonFlag, console, print_json

_SIGNS = {"ok": "[green]✓[/green]", "note": "[yellow]•[/yellow]", "fault": "[red]✗[/red]"}


def doctor(*, as_json: JsonFlag = False, tests: Annotated[bool, typer.Option("--tests")] = False) -> None:
    """Check settings, Redis, vectors, model, ports, workers; with --tests also what only the tests need."""
    from ops.cli.checks import checks

    found = [check() for check in checks(for_tests=tests)]
    if as_json:
        print_json([one.model_dump() for one in found])
    else:
        from rich.table import Table

        table = Table(show_header=False, box=None)
        for one in found:
            table.add_row(_SIGNS[one.level], one.what, one.found + (f"\n→ {one.remedy}" if one.remedy else ""))
        console().print(table)
    if any(one.level == "fault" for one in found):
        raise typer.Exit(FAILED)
