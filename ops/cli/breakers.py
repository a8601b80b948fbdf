"""`signalbox breakers`: the APIs that are left alone for a while, and the operator's hand on them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ops.cli.screen import CommandFailed, JsonFlag, console, group, print_json

if TYPE_CHECKING:
    import redis.asyncio as aioredis

    from workers.calling.breaker_store import BreakerStore
    from workers.runtime.settings import Settings

T = TypeVar("T")

app = group("List, open and close the circuit breakers that all workers share.")
Address = Annotated[str, typer.Argument(help="An endpoint's URL, as registered or as `list` shows it.")]


@app.callback()
def breakers() -> None:
    """List, open and close the circuit breakers that all workers share."""


@app.command("list")
def list_breakers(*, as_json: JsonFlag = False) -> None:
    """List the breakers that are not in good standing; an endpoint that is not listed is called as usual."""
    views = _with_breakers(lambda store: store.states())
    if as_json:
        items = [
            {"endpoint": v.endpoint, "state": str(v.state), "failures": v.failures, "retryAfterS": v.retry_after_s}
            for v in views
        ]
        print_json({"items": items})
        return
    from rich.table import Table

    table = Table("endpoint", "state", "failures in a row", "next try in s")
    for view in views:
        table.add_row(view.endpoint, str(view.state), str(view.failures), f"{view.retry_after_s:.1f}")
    console().print(table)
    typer.echo(f"{len(views)} breakers are not in good standing")


@app.command()
def changes(
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Show what became of the breakers, the newest first."""
    found = _with_breakers(lambda store: store.changes(limit=limit))
    if as_json:
        items = [
            {"at": c.at.isoformat(), "endpoint": c.endpoint, "state": str(c.state), "failures": c.failures, "by": c.by}
            for c in found
        ]
        print_json({"items": items})
        return
    from rich.table import Table

    table = Table("when", "endpoint", "state", "failures in a row", "by")
    for change in found:
        when = change.at.isoformat(sep=" ", timespec="milliseconds")
        table.add_row(when, change.endpoint, str(change.state), str(change.failures), change.by)
    console().print(table)


@app.command("open")
def open_breaker(endpoint: Address, *, as_json: JsonFlag = False) -> None:
    """Keep every worker away from the endpoint until it is closed by hand."""
    address = _address(endpoint)
    _with_breakers(lambda store: store.open(address))
    _say(address, "forced_open", f"{address} is left alone until `signalbox breakers close {address}`", as_json=as_json)


@app.command("close")
def close_breaker(endpoint: Address, *, as_json: JsonFlag = False) -> None:
    """Let calls through again, with a clean record."""
    address = _address(endpoint)
    _with_breakers(lambda store: store.close(address))
    _say(address, "closed", f"{address} is called again", as_json=as_json)


def _say(address: str, state: str, sentence: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"endpoint": address, "state": state})
    else:
        typer.echo(sentence)


def _address(endpoint: str) -> str:
    """Read the argument as a breaker's address. Raises CommandFailed for what is no URL."""
    from workers.calling.plan import endpoint_address

    try:
        address = endpoint_address(endpoint)
    except ValueError as error:
        raise CommandFailed(f"{endpoint} is no URL") from error
    if not address.startswith(("http://", "https://")) or address.endswith("://"):
        raise CommandFailed(
            f"{endpoint} is no URL of an endpoint", remedy="`signalbox breakers list` shows those that are known"
        )
    return address


def _with_breakers(ask: Callable[[BreakerStore], Awaitable[T]]) -> T:
    from ops.cli.place import with_redis
    from workers.calling.breaker import BreakerRules
    from workers.calling.breaker_store import BreakerStore
    from workers.runtime.keys import Keys

    async def asked(redis: aioredis.Redis, given: Settings) -> T:
        rules = BreakerRules(
            failures_to_open=given.calling.breaker_failures_to_open,
            cooldown_ms=round(given.calling.breaker_cooldown_s * 1000),
        )
        return await ask(BreakerStore(redis, Keys(given.redis.key_prefix), rules))

    return with_redis(asked)
