"""What a turn asks the queues to do next. A command names a stage and a turn, never carries objects."""

from __future__ import annotations

from enum import StrEnum

from schemas.base import Frozen


class Stage(StrEnum):
    """A queue step; its value is the name of its queue and of its room."""

    CLASSIFICATION = "classification"
    EXTRACTION = "extraction"
    CALLING = "calling"
    FORMATTING = "formatting"


class Command(Frozen):
    """Run `stage` for `turn_id`. `fan_out` above 1 means: that many calls at once, joined by formatting."""

    stage: Stage
    turn_id: str
    fan_out: int = 1
