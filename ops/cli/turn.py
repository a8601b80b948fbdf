"""`signalbox turn`: what happened to a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.cli.screen import CommandFailed, JsonFlag, console, group, print_json

if TYPE_CHECKING:
    import redis.asyncio as aioredis

    from schemas.calls import CallOutcome
    from schemas.events import TurnEvent
    from schemas.turns import Turn
    from workers.runtime.settings import Settings

app = group("Look into a turn.")


@app.callback()
def turn() -> None:
    """Look into a turn."""


@app.command()
def show(
    turn_id: Annotated[str, typer.Argument(help="The turn's id (header X-Turn-Id, field turnId).")],
    *,
    as_json: JsonFlag = False,
) -> None:
    """Show a turn's record, the events of its stream, and how its calls ended; --json has their whole results."""
    from ops.cli.place import with_redis
    from schemas.ids import is_turn_id

    if not is_turn_id(turn_id):
        raise CommandFailed(f"{turn_id!r} is no turn id", remedy="it looks like 0123456789abcdef-0123456789abcdef")
    record, events, outcomes = with_redis(lambda redis, given: _load(redis, given, turn_id))
    if record is None:
        raise CommandFailed(
            f"no turn {turn_id} is kept", remedy="turns are forgotten TURN_KEPT_S after their last step"
        )
    if as_json:
        told = [{"id": event_id, **event.model_dump(mode="json")} for event_id, event in events]
        ends = [outcome.model_dump(mode="json") for outcome in outcomes]
        print_json({"turn": record.model_dump(mode="json"), "events": told, "outcomes": ends})
        return
    _print_record(record)
    _print_events(events)
    _print_outcomes(outcomes)


async def _load(
    redis: aioredis.Redis, given: Settings, turn_id: str
) -> tuple[Turn | None, list[tuple[str, TurnEvent]], list[CallOutcome]]:
    from workers.calling.outcomes import OutcomeStore
    from workers.eventlog.log import EventLog
    from workers.runtime.keys import Keys
    from workers.sessions.turns import TurnStore

    keys = Keys(given.redis.key_prefix)
    record = await TurnStore(redis, keys, given.turn).load(turn_id)
    outcomes = await OutcomeStore(redis, keys).all_of(turn_id)
    in_order = [outcomes[call_id] for call_id in sorted(outcomes)]
    return record, await EventLog(redis, keys).read(turn_id), in_order


def _print_record(record: Turn) -> None:
    from rich.table import Table

    from workers.runtime.tracing import ids_of

    request, decision = record.request, record.decision
    rows: dict[str, Any] = {
        "turn": record.turn_id,
        "trace": f"{ids_of(record.turn_id)[0]:032x}",
        "chat": request.chat_id,
        "phase": record.phase.value,
        "accepted": request.accepted_at.isoformat(timespec="milliseconds"),
        "deadline": request.deadline_at.isoformat(timespec="milliseconds"),
        "message": request.message,
        "language": record.language or "",
        "layer": f"{decision.layer.value} (rule: {decision.rule})" if decision else "",
        "endpoints": ", ".join(e.name for e in decision.endpoints) if decision else "",
        "calls": ", ".join(call.endpoint.name for call in record.calls),
        "attempt": record.attempt,
        "answer": record.answer,
        "failure": f"{record.failure.code.value} {record.failure.error_id}" if record.failure else "",
    }
    table = Table(show_header=False, box=None)
    for name, value in rows.items():
        if value not in ("", 0):
            table.add_row(name, str(value))
    console().print(table)


def _print_events(events: list[tuple[str, TurnEvent]]) -> None:
    from rich.table import Table

    table = Table("id", "event", "what")
    for event_id, event in events:
        told = event.model_dump(mode="json", exclude={"type"}, exclude_defaults=True)
        table.add_row(event_id, event.type, ", ".join(f"{name}={value!r}" for name, value in told.items()))
    console().print(table)


def _print_outcomes(outcomes: list[CallOutcome]) -> None:
    """Name each call's end and the size of what is kept of its answer."""
    if not outcomes:
        return
    from rich.table import Table

    from schemas.calls import CallFailed

    table = Table("call", "outcome", "status", "ms", "bytes kept")
    for outcome in outcomes:
        told = str(outcome.reason) if isinstance(outcome, CallFailed) else "succeeded"
        size = len(outcome.model_dump_json(include={"body"}).encode())
        table.add_row(outcome.call_id, told, str(outcome.status), f"{outcome.elapsed_ms:.0f}", str(size))
    console().print(table)
