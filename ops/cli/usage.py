"""`signalbox usage`: what language models were asked on a day, by tenant and judgement, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ops.cli.screen import CommandFailed, JsonFlag, console, print_json

if TYPE_CHECKING:
    from datetime import date

    import redis.asyncio as aioredis

    from schemas.usage import UsageRow
    from workers.runtime.settings import Settings


def usage(
    day: Annotated[str, typer.Option(help="The day (UTC), as YYYY-MM-DD; today if empty.")] = "",
    *,
    as_json: JsonFlag = False,
) -> None:
    """Show what models were asked on a day, and what it cost. Kept for 92 days."""
    wanted = _day(day)
    rows = _rows(wanted)
    total = sum(row.costs.cost_usd for row in rows)
    if as_json:
        items = [
            {"tenant": row.tenant, "judgement": row.judgement, "model": row.model, **row.costs.model_dump()}
            for row in rows
        ]
        print_json({"day": wanted.isoformat(), "usd": round(total, 6), "items": items})
        return
    from rich.table import Table

    table = Table("tenant", "judgement", "model", "requests", "tokens in", "tokens out", "USD", "ms each")
    for row in rows:
        costs = row.costs
        table.add_row(
            row.tenant, row.judgement, row.model, str(costs.calls), str(costs.prompt_tokens),
            str(costs.completion_tokens), f"{costs.cost_usd:.6f}", f"{costs.latency_ms / max(1, costs.calls):.0f}",
        )  # fmt: skip
    console().print(table)
    typer.echo(f"{wanted.isoformat()} (UTC): {sum(row.costs.calls for row in rows)} requests, {total:.6f} USD")


def _day(said: str) -> date:
    from datetime import UTC, date, datetime

    try:
        return date.fromisoformat(said) if said else datetime.now(UTC).date()
    except ValueError as error:
        raise CommandFailed(f"{said!r} is no day", remedy="write it as 2026-12-31") from error


def _rows(day: date) -> list[UsageRow]:
    from ops.cli.place import with_redis
    from workers.llm.ledger import Ledger
    from workers.runtime.keys import Keys

    async def asked(redis: aioredis.Redis, given: Settings) -> list[UsageRow]:
        return await Ledger(redis, Keys(given.redis.key_prefix)).of_day(day)

    return with_redis(asked)
