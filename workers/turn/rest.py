"""Finds turns that nobody moves, and says what is owed to each. Called by the sweep every second or so.

A turn rests when its worker died, its message was lost, or dispatching failed after a commit. Living claims are left
alone; so are turns whose message merely waits in a deep queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from schemas.commands import Command, Stage
from schemas.failures import FailureCode
from schemas.turns import Phase, Turn
from workers.runtime.clock import Clock
from workers.sessions.results import Resting
from workers.sessions.turns import TurnStore
from workers.turn.endings import Endings
from workers.turn.machine import next_command

_BACKLOG_PATIENCE = timedelta(seconds=30)
_AGAIN_AFTER_S = 5.0


class Rest:
    """Moves resting turns on: asks again for their command, or ends them at their deadline."""

    def __init__(
        self, turns: TurnStore, endings: Endings, clock: Clock, *, batch_timeout_s: float, lease_s: float
    ) -> None:
        self._turns = turns
        self._endings = endings
        self._clock = clock
        self._batch_timeout = timedelta(seconds=batch_timeout_s)
        self._grace = timedelta(seconds=2 * lease_s)

    async def sweep(self, backlog: Mapping[str, int]) -> list[Command]:
        """Return the commands to dispatch. `backlog` counts waiting messages by queue name."""
        now = self._clock()
        commands: list[Command] = []
        for resting in await self._turns.resting(now_s=now.timestamp()):
            command = await self._owed(resting, now=now, backlog=backlog)
            if command is not None:
                await self._turns.touch(resting.turn.turn_id, at_s=now.timestamp() + _AGAIN_AFTER_S)
                commands.append(command)
        return commands

    async def _owed(self, resting: Resting, *, now: datetime, backlog: Mapping[str, int]) -> Command | None:
        turn = resting.turn
        if now >= turn.request.deadline_at:
            return await self._end(resting, now=now)
        if resting.is_claimed or (turn.phase is Phase.ACCEPTED and not resting.is_active):
            return None
        if self._calls_are_overdue(turn, now=now):
            return Command(stage=Stage.FORMATTING, turn_id=turn.turn_id)
        command = next_command(turn)
        waits_in_queue = command is not None and backlog.get(command.stage, 0) > 0
        is_patient = now - turn.request.accepted_at < _BACKLOG_PATIENCE
        return None if waits_in_queue and is_patient else command

    async def _end(self, resting: Resting, *, now: datetime) -> Command | None:
        """Deliver what the calls brought so far, else apologise; a living worker gets a little grace first."""
        turn = resting.turn
        within_grace = now < turn.request.deadline_at + self._grace
        if turn.phase is Phase.CALLING and within_grace:
            return Command(stage=Stage.FORMATTING, turn_id=turn.turn_id)
        if resting.is_claimed and within_grace:
            return None
        return await self._endings.fail(
            turn.turn_id, error_id=f"DEADLINE-{turn.turn_id[-8:]}", code=FailureCode.DEADLINE
        )

    def _calls_are_overdue(self, turn: Turn, *, now: datetime) -> bool:
        return (
            turn.calling_since is not None
            and turn.phase is Phase.CALLING
            and now >= turn.calling_since + self._batch_timeout
        )
