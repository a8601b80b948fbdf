"""`signalbox demo`: the whole system for a minute, in a folder of its own, and a conversation with it."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.screen import FAILED, CommandFailed, JsonFlag, console, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.cli.client import Shim
    from ops.cli.talk import Reply
    from ops.local.stack import Stack

# Each chat: what it shows, what is said first, and the answers held ready for the questions that come back.
CONVERSATIONS: Sequence[tuple[str, str, tuple[str, ...]]] = (
    ("one turn", "Which public holidays are there in Estonia in 2026?", ()),
    ("two turns, in Estonian", "Palju on minu auto automaks 2026. aastal?", ("123ABC",)),
    ("two APIs at once", "Find an address and my vehicle tax", ("Pikk 36, Tallinn", "It is 123ABC, and the year 2026")),
    ("nothing we know", "Could you write me a poem about the sea?", ()),
)

_ENVIRONMENT = {"TURN_TOKEN_PACE_MS": "15"}  # words at a reader's pace


def demo(
    keep: Annotated[
        Path | None, typer.Option("--data-dir", help="Keep the data in this folder; by default it is thrown away.")
    ] = None,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Start everything, index the demo catalogue, play four short conversations, stop."""
    from ops.local.supervisor import StackFailed

    began = time.monotonic()
    try:
        with TemporaryDirectory(prefix="signalbox-demo-") as folder, _told_to_people(as_json=as_json):
            played = _play(keep or Path(folder))
            took_s = round(time.monotonic() - began, 1)
            typer.echo(f"\nstopped; the whole demo took {took_s} s")
    except StackFailed as failure:
        raise CommandFailed(str(failure), remedy="`signalbox doctor` looks for the cause") from failure
    if as_json:
        print_json({"tookSeconds": took_s, "conversations": played})
    if not all(conversation["endedWell"] for conversation in played):
        raise typer.Exit(FAILED)


def _told_to_people(*, as_json: bool) -> AbstractContextManager[object]:
    """Keep the standard output for the JSON: what people read goes to the other one meanwhile."""
    return redirect_stdout(sys.stderr) if as_json else nullcontext()


def _play(folder: Path) -> list[dict[str, Any]]:
    """Run the stack in the folder; return what was said in each conversation and whether it ended well."""
    from ops.cli.client import Shim
    from ops.cli.up import starting
    from ops.local.options import StackOptions
    from ops.local.stack import Stack

    began = time.monotonic()
    with starting(Stack(StackOptions(data_dir=folder, environment=_ENVIRONMENT))) as stack:
        typer.echo(f"everything runs after {time.monotonic() - began:.1f} s: {_parts(stack)}")
        _index(stack)
        shim = Shim(stack.url)
        return [_converse(shim, *conversation) for conversation in CONVERSATIONS]


def _parts(stack: Stack) -> str:
    return ", ".join(process.part.name for process in stack.processes)


def _index(stack: Stack) -> None:
    from ops.cli.index import shown_progress
    from ops.local.catalogue import DEMO_CATALOGUE, index_all, read_catalogue

    entries = read_catalogue(DEMO_CATALOGUE, demo_url=stack.demo_url)
    began = time.monotonic()
    done = list(shown_progress(index_all(stack.url, entries, wait=True), len(entries)))
    for one in done:
        if not one.is_good:
            raise CommandFailed(f"{one.name} was not indexed: {one.reason}")
    typer.echo(f"{len(done)} endpoints indexed in {time.monotonic() - began:.1f} s")


def _converse(shim: Shim, shows: str, opening: str, ready: tuple[str, ...]) -> dict[str, Any]:
    from ops.cli.talk import new_chat

    typer.secho(f"\n── {shows}", bold=True)
    chat_id, turns = new_chat(), []
    for message in (opening, *ready):
        reply = _turn(shim, chat_id, message)
        turns.append(_as_json(message, reply))
        if reply.error is not None or not reply.is_question:
            break
    return {"shows": shows, "endedWell": reply.error is None and not reply.is_question, "turns": turns}


def _as_json(message: str, reply: Reply) -> dict[str, Any]:
    first_ms, whole_ms = round(reply.first_s * 1000), round(reply.whole_s * 1000)
    told = {"said": message, "answer": reply.text, "isQuestion": reply.is_question, "error": reply.error}
    return {**told, "firstTokenMs": first_ms, "wholeMs": whole_ms}


def _turn(shim: Shim, chat_id: str, message: str) -> Reply:
    from ops.cli.talk import say

    typer.secho(f"you> {message}", fg="cyan")
    reply = say(shim, chat_id, message)
    first_ms, whole_ms = reply.first_s * 1000, reply.whole_s * 1000
    console().print(f"[dim]first token after {first_ms:.0f} ms, whole after {whole_ms:.0f} ms[/dim]")
    return reply
