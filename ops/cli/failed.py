"""`signalbox failed`: the tasks that were given up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ops.cli.screen import CommandFailed, JsonFlag, console, group, print_json

if TYPE_CHECKING:
    from tasks.deadletters import DeadLetter, DeadLetters
    from tasks.publish import Publisher

T = TypeVar("T")

app = group("List, show, retry and drop tasks that were given up (dead letters).")
LetterId = Annotated[str, typer.Argument(help="The letter's id: the ERR-… that the user was shown.")]


@app.callback()
def failed() -> None:
    """List, show, retry and drop tasks that were given up (dead letters)."""


@app.command("list")
def list_letters(
    offset: Annotated[int, typer.Option(min=0)] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    *,
    as_json: JsonFlag = False,
) -> None:
    """List the letters, newest first."""
    letters, total = _with_letters(lambda box, _: _page(box, offset, limit))
    if as_json:
        print_json({"total": total, "items": [letter.model_dump(mode="json") for letter in letters]})
        return
    from rich.table import Table

    table = Table("id", "when", "task", "error", "turn", "retried")
    for letter in letters:
        error = f"{letter.error_type}: {letter.error_message}".partition("\n")[0]
        when = letter.at.isoformat(sep=" ", timespec="seconds")
        table.add_row(letter.letter_id, when, letter.task, error, letter.turn_id or "", letter.retried_as or "")
    console().print(table)
    typer.echo(f"{len(letters)} of {total} dead letters")


@app.command()
def show(letter_id: LetterId, *, as_json: JsonFlag = False) -> None:
    """Show one letter, with the traceback."""
    letter = _with_letters(lambda box, _: box.show(letter_id))
    told = letter.model_dump(mode="json")
    if as_json:
        print_json(told)
        return
    trace = told.pop("traceback")
    for name, value in told.items():
        if value not in (None, "", []):
            typer.echo(f"{name:15} {value}")
    typer.echo(f"\n{trace}")


@app.command()
def retry(letter_id: LetterId, *, as_json: JsonFlag = False) -> None:
    """Publish the letter's task anew, with its original arguments. Pressing twice publishes once."""
    task_id = _with_letters(lambda box, publisher: box.retry(letter_id, publisher))
    if as_json:
        print_json({"letterId": letter_id, "taskId": task_id})
    else:
        typer.echo(f"{letter_id} runs again as task {task_id}")


@app.command()
def drop(letter_id: LetterId, *, as_json: JsonFlag = False) -> None:
    """Forget a letter for good."""
    was_there = _with_letters(lambda box, _: box.drop(letter_id))
    if not was_there:
        raise _unknown(letter_id)
    if as_json:
        print_json({"letterId": letter_id, "dropped": True})
    else:
        typer.echo(f"dropped {letter_id}")


async def _page(box: DeadLetters, offset: int, limit: int) -> tuple[tuple[DeadLetter, ...], int]:
    return await box.list(offset=offset, limit=limit), await box.count()


def _with_letters(ask: Callable[[DeadLetters, Publisher], Awaitable[T]]) -> T:
    """Ask the letter box. Raises CommandFailed when it is away or has no such letter."""
    import redis.asyncio as aioredis

    from ops.cli.place import with_redis
    from tasks.deadletters import DeadLetters, UnknownLetter
    from tasks.publish import Publisher
    from workers.runtime.keys import Keys
    from workers.runtime.settings import Settings

    async def asked(redis: aioredis.Redis, given: Settings) -> T:
        box = DeadLetters(redis, Keys(given.redis.key_prefix), kept=given.queue.dead_letters_kept)
        publisher = Publisher.open(given)
        try:
            return await ask(box, publisher)
        finally:
            await publisher.close()

    try:
        return with_redis(asked)
    except UnknownLetter as error:
        raise _unknown(str(error)) from error


def _unknown(letter_id: str) -> CommandFailed:
    return CommandFailed(f"no dead letter {letter_id}", remedy="`signalbox failed list` shows those that are kept")
