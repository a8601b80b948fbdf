"""The whole flow on one screen, pure: (turn, what happened) → turn, and what a turn asks next.

    accepted → classifying ─┬─ Routed to endpoints ─→ extracting ─┬─ Planned ─→ calling ─ Gathered ─→ formatting ─┐
                            │                                     ├─ Asked ──→ waiting_for_user                   │
                            └─ Routed with a reply ─→ formatting ─┴─ Answered ─────────────────────────→ done ←───┘
    formatting ─ Asked (an API did not accept a value) ─→ waiting_for_user;  any moving phase ─ Broke ─→ failed

What comes next depends on the stored turn alone, so a redelivered task may ask again and gets the same command.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from schemas.calls import ApiCall
from schemas.commands import Command, Stage
from schemas.failures import Failure
from schemas.routing import Decision
from schemas.turns import Phase, Turn


@dataclass(frozen=True)
class Routed:
    """Classification decided."""

    decision: Decision


@dataclass(frozen=True)
class Asked:
    """Something is missing and the person was asked for it."""

    question: str


@dataclass(frozen=True)
class Planned:
    """Everything is known; these calls are to be made."""

    calls: tuple[ApiCall, ...]
    at: datetime


@dataclass(frozen=True)
class Gathered:
    """Every call has an outcome."""


@dataclass(frozen=True)
class Answered:
    """The answer is whole."""

    text: str


@dataclass(frozen=True)
class Broke:
    """The turn cannot be answered."""

    failure: Failure


Happened = Routed | Asked | Planned | Gathered | Answered | Broke

MOVING = frozenset(phase for phase in Phase if phase.is_moving)
_SPEAKING = frozenset({Phase.CLASSIFYING, Phase.EXTRACTING, Phase.FORMATTING})
_ALLOWED: dict[type[Happened], frozenset[Phase]] = {
    Routed: frozenset({Phase.CLASSIFYING}),
    Asked: _SPEAKING,
    Planned: frozenset({Phase.EXTRACTING}),
    Gathered: frozenset({Phase.CALLING}),
    Answered: _SPEAKING,
    Broke: MOVING,
}


def advance(turn: Turn, happened: Happened) -> Turn:
    """Return the turn after what happened. Raises ValueError for a step that its phase does not allow (a bug)."""
    if turn.phase not in _ALLOWED[type(happened)]:
        raise ValueError(f"{type(happened).__name__} cannot happen to a turn that is {turn.phase}")
    match happened:
        case Routed(decision=decision):
            phase = Phase.EXTRACTING if decision.endpoints else Phase.FORMATTING
            change = {"phase": phase, "decision": decision, "language": decision.language}
        case Asked(question=question):
            change = {"phase": Phase.WAITING_FOR_USER, "answer": question}
        case Planned(calls=calls, at=at):
            change = {"phase": Phase.CALLING, "calls": calls, "calling_since": at}
        case Gathered():
            change = {"phase": Phase.FORMATTING}
        case Answered(text=text):
            change = {"phase": Phase.DONE, "answer": text}
        case Broke(failure=failure):
            change = {"phase": Phase.FAILED, "failure": failure}
    return turn.model_copy(update=change)


def next_command(turn: Turn) -> Command | None:
    """Return what the turn asks the queues to do next; None once it has ended."""
    match turn.phase:
        case Phase.ACCEPTED | Phase.CLASSIFYING:
            return Command(stage=Stage.CLASSIFICATION, turn_id=turn.turn_id)
        case Phase.EXTRACTING:
            return Command(stage=Stage.EXTRACTION, turn_id=turn.turn_id)
        case Phase.CALLING:
            return Command(stage=Stage.CALLING, turn_id=turn.turn_id, fan_out=len(turn.calls))
        case Phase.FORMATTING:
            return Command(stage=Stage.FORMATTING, turn_id=turn.turn_id)
        case _:
            return None
