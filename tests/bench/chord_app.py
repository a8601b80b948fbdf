"""A worker that times fan-outs: the product's chord beside `asyncio.gather` of the same calls, on the same loop.

Rooms are the product's own, caller included; only routing and wording are left out.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

from schemas.calls import ApiCall, CallSucceeded
from schemas.commands import Command
from schemas.endpoints import Endpoint, ParamSpec
from schemas.events import PhaseChanged
from schemas.ids import TurnId, call_id, chat_key, new_turn_id
from schemas.turns import Phase, TurnRequest
from tests.bench.instant import instant_steps, open_instant_rooms
from workers import wiring
from workers.calling.caller import Caller
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.settings import Settings
from workers.sessions.results import Taken
from workers.sessions.turns import TurnStore
from workers.turn.machine import next_command
from workers.turn.steps import Steps

PARTS = 3
_DEADLINE = timedelta(seconds=60)


class Timed:
    """The stages of a fan-out; the last one tells whoever waits that every outcome has been gathered."""

    def __init__(self, turns: TurnStore, steps: Steps) -> None:
        self._turns = turns
        self._steps = steps
        self._gathered: dict[str, asyncio.Future[None]] = {}

    async def call_part(self, turn_id: str, index: int) -> None:
        await self._steps.call_part(turn_id, index)

    async def format(self, turn_id: str) -> None:
        found = await self._steps.outcomes.all_of(turn_id)
        assert len(found) == PARTS
        assert all(isinstance(outcome, CallSucceeded) for outcome in found.values())
        if turn_id in self._gathered:
            self._gathered[turn_id].set_result(None)

    async def plan(self, url: str) -> Command:
        """Bring a new turn to where its calls are planned; return what it asks for."""
        now = utc_now()
        turn_id = new_turn_id(chat_key("default", f"chat {time.monotonic_ns()}"))
        request = TurnRequest(
            turn_id=turn_id, tenant="default", chat_id="c", message="m", accepted_at=now, deadline_at=now + _DEADLINE
        )
        await self._turns.admit(request, on_busy="enqueue")
        taken = await self._turns.begin(turn_id, serves=frozenset({Phase.ACCEPTED}), enter=Phase.CLASSIFYING)
        assert isinstance(taken, Taken)
        planned = {"phase": Phase.CALLING, "calls": _calls(url, turn_id), "calling_since": now}
        await self._turns.commit(taken.turn.model_copy(update=planned), [PhaseChanged(phase=Phase.CALLING)])
        turn = await self._turns.load(turn_id)
        assert turn is not None
        return cast("Command", next_command(turn))

    async def chord_ms(self, url: str) -> float:
        """Time from the command to the moment at which the chord's body has every outcome."""
        from tasks.dispatch import dispatch

        command = await self.plan(url)
        gathered = asyncio.get_running_loop().create_future()
        self._gathered[command.turn_id] = gathered
        began = time.perf_counter()
        await dispatch(command)
        await gathered
        del self._gathered[command.turn_id]
        return (time.perf_counter() - began) * 1000

    async def gather_ms(self, url: str) -> float:
        """Time the same calls, by the same caller, without queues between."""
        turn_id = new_turn_id(chat_key("default", f"chat {time.monotonic_ns()}"))
        deadline = utc_now() + _DEADLINE
        calls = _calls(url, turn_id)
        began = time.perf_counter()
        found = await asyncio.gather(
            *(self._steps.calls.caller.call(call, turn_id=turn_id, deadline=deadline) for call in calls)
        )
        assert all(isinstance(outcome, CallSucceeded) for outcome in found)
        return (time.perf_counter() - began) * 1000


def _calls(url: str, turn_id: TurnId) -> tuple[ApiCall, ...]:
    """Three endpoints of one API."""
    return tuple(
        ApiCall(
            call_id=call_id(turn_id, index),
            index=index,
            endpoint=Endpoint(
                endpoint_id=f"e{index}", name=f"thing {index}", description="A thing.", url=url, params=_TICKET
            ),
            arguments={"ticket": f"T{index}"},
        )
        for index in range(PARTS)
    )


_TICKET = (ParamSpec(name="ticket"),)


async def _open(settings: Settings) -> wiring.Rooms:
    rooms = await open_instant_rooms(settings)
    turns, steps = instant_steps(rooms.redis, settings)
    caller = Caller.open(
        redis=rooms.redis,
        keys=Keys(settings.redis.key_prefix),
        settings=settings.calling,
        outcomes=steps.outcomes,
    )
    timed: Any = Timed(turns, replace(steps, calls=replace(steps.calls, caller=caller)))
    opened = replace(rooms, steps=timed, caller=caller)
    wiring.occupy(opened)
    return opened


wiring.open_rooms = _open

from tasks.app import app  # noqa: E402 — the rooms must be swapped before the app's lifecycle binds them
from tasks.base import StageTask  # noqa: E402 — as above
from tasks.process import process  # noqa: E402 — as above
from tasks.rooms import rooms  # noqa: E402 — as above


@app.task(name="bench.pair", base=StageTask)
async def pair(url: str) -> None:
    """Time one gather and one chord, and write both down."""
    timed = cast("Timed", rooms().steps)
    told = json.dumps([await timed.gather_ms(url), await timed.chord_ms(url)])
    await process().redis.rpush("bench:pairs", told)


@app.task(name="bench.chord", base=StageTask)
async def one_chord(url: str) -> None:
    """Run one chord to its end."""
    timed = cast("Timed", rooms().steps)
    await process().redis.rpush("bench:chords", str(await timed.chord_ms(url)))


__all__ = ["app"]
