"""What the commands print, and how an error is told: what was wrong, where, what to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from rich.console import Console

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
UrlOption = Annotated[
    str, typer.Option("--url", help="Where Signalbox listens; by default the running stack of this machine.")
]

FAILED = 1
UNREACHABLE = 3


class CommandFailed(Exception):
    """A command could not do what was asked. `code` is its exit code; `remedy` says what to do."""

    def __init__(self, problem: str, *, remedy: str = "", code: int = FAILED) -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy
        self.code = code


class Commands(TyperGroup):
    """Tells a CommandFailed to the person on stderr and ends with its code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except CommandFailed as failure:
            typer.secho(f"signalbox: {failure.problem}", err=True, fg="red")
            if failure.remedy:
                typer.echo(f"  → {failure.remedy}", err=True)
            raise typer.Exit(failure.code) from failure


def console() -> Console:
    """Make the console that tables and progress bars are drawn on."""
    from rich.console import Console

    return Console(highlight=False)


def print_json(value: Any) -> None:
    """Print one JSON document, readable and with every script as it is."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def group(about: str, *, needs_command: bool = True) -> typer.Typer:
    """Make a command group; one that needs no command does something by itself."""
    return typer.Typer(cls=Commands, help=about, no_args_is_help=needs_command, pretty_exceptions_enable=False)
