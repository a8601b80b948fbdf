"""Does by hand what the queues do with a command: a turn in one process, without a broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from schemas.commands import Command, Stage
from workers.turn.steps import Steps


async def carry_out(steps: Steps, command: Command) -> Command | None:
    """Let the stage of a command do its work, and its calls one after the other; return the next command."""
    turn_id = command.turn_id
    if command.stage is Stage.CALLING and command.fan_out > 1:
        for index in range(command.fan_out):
            await steps.call_part(turn_id, index)
        return await steps.format(turn_id)
    stages: dict[Stage, Callable[[str], Any]] = {
        Stage.CLASSIFICATION: steps.classify,
        Stage.EXTRACTION: steps.extract,
        Stage.CALLING: steps.call,
        Stage.FORMATTING: steps.format,
    }
    following: Command | None = await stages[command.stage](turn_id)
    return following
