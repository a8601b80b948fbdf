"""`signalbox up`: start everything and stay."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ops.cli.screen import CommandFailed, JsonFlag, console, print_json

if TYPE_CHECKING:
    from ops.local.stack import Stack

WorkersOption = Annotated[int, typer.Option("--workers", min=1, max=64, help="How many worker processes.")]
_LOOK_EVERY_S = 0.5


@contextmanager
def asked_to_stop() -> Iterator[threading.Event]:
    """Give an event that Ctrl-C, SIGTERM and a closed terminal set, so that the parts are stopped in order."""
    asked = threading.Event()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda *_: asked.set()) for number in signals}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def up(
    workers: WorkersOption = 1,
    *,
    demo: Annotated[bool, typer.Option("--demo/--no-demo", help="Run the demo API and index its catalogue.")] = True,
    as_json: JsonFlag = False,
) -> None:
    """Start everything on this machine, show what runs where, and stay until Ctrl-C. What dies is started again."""
    from ops.cli.place import checked_settings
    from ops.local.options import StackOptions
    from ops.local.stack import Stack
    from ops.local.supervisor import StackFailed

    try:
        stack = Stack(StackOptions.from_settings(checked_settings(), workers=workers, with_demo=demo))
        with starting(stack):
            if demo:
                stack.index_demo()
            _show(stack, as_json=as_json)
            with asked_to_stop() as asked:
                _stay(stack, asked)
                typer.echo("stopping …", err=True)
    except StackFailed as failure:
        raise CommandFailed(str(failure), remedy="`signalbox doctor` looks for the cause") from failure


@contextmanager
def starting(stack: Stack) -> Iterator[Stack]:
    """Start a stack while a spinner turns; stop it afterwards, a Ctrl-C during the start included."""
    from rich.console import Console

    from workers.runtime.logs import configure_logs

    configure_logs("error")  # restarts are told in a sentence of our own
    with Console(stderr=True).status("starting Redis, workers, beat, shim …"):
        stack.start()
    try:
        yield stack
    finally:
        stack.stop()


def _show(stack: Stack, *, as_json: bool) -> None:
    if as_json:
        parts = {p.part.name: {"pid": p.pid, "where": p.part.where, "log": str(p.log)} for p in stack.processes}
        print_json({"url": stack.url, "redisUrl": stack.redis_url, "dataDir": str(stack.data_dir), "parts": parts})
        return
    from rich.table import Table

    table = Table("part", "pid", "where")
    for process in stack.processes:
        table.add_row(process.part.name, str(process.pid), process.part.where)
    console().print(table)
    typer.echo(
        f"chat page  {stack.url}/\nAPI docs   {stack.url}/docs\ndata       {stack.data_dir}\nCtrl-C stops it all."
    )


def _stay(stack: Stack, asked: threading.Event) -> None:
    """Wait until asked to stop; tell each restart once."""
    told = {process.part.name: 0 for process in stack.processes}
    while not asked.wait(_LOOK_EVERY_S):
        for process in stack.processes:
            name = process.part.name
            if process.restarts > told[name]:
                told[name] = process.restarts
                typer.secho(f"{name} died and was started again (restart {process.restarts}, {process.log})", err=True)
