"""What happened in a turn, as its event stream tells it. Exactly one terminal event ends each stream.

Tokens are provisional: they carry the attempt that made them and their index in it. A reader shows the newest
attempt; the terminal event repeats the full text.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from schemas.base import Frozen
from schemas.calls import Cached
from schemas.failures import Failure
from schemas.routing import Choice, Layer
from schemas.turns import Phase
from schemas.usage import TurnCosts


class PhaseChanged(Frozen):
    """The turn entered a phase."""

    type: Literal["phase"] = "phase"
    phase: Phase


class TokenDelta(Frozen):
    """A piece of the answer; pieces of one attempt, in index order, concatenate to its text."""

    type: Literal["token"] = "token"
    attempt: int
    index: int
    text: str


class CallStarted(Frozen):
    """An API call went out."""

    type: Literal["call_started"] = "call_started"
    index: int
    endpoint: str


class CallEnded(Frozen):
    """An API call ended; `reason` is absent when it succeeded, `cached` unless its answer was known already."""

    type: Literal["call_ended"] = "call_ended"
    index: int
    endpoint: str
    reason: str | None = None
    elapsed_ms: float = 0.0
    cached: Cached | None = None


class SlotAsked(Frozen):
    """Terminal: the turn ended with a question; the next message of the chat answers it."""

    type: Literal["question"] = "question"
    attempt: int
    text: str
    missing: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    costs: TurnCosts = TurnCosts()


class AnswerCompleted(Frozen):
    """Terminal: the answer is whole. `cached` names the endpoints whose answer was known already.

    `input_guard_failed`: it refuses a message that a guard held back.
    """

    type: Literal["completed"] = "completed"
    attempt: int
    text: str
    layer: Layer
    endpoints: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    cached: dict[str, Cached] = {}
    costs: TurnCosts = TurnCosts()
    input_guard_failed: bool = False


class TurnFailed(Frozen):
    """Terminal: no answer; `text` is the localized apology."""

    type: Literal["failed"] = "failed"
    failure: Failure
    text: str


class TurnCancelled(Frozen):
    """Terminal: somebody stopped the turn."""

    type: Literal["cancelled"] = "cancelled"


TerminalEvent = SlotAsked | AnswerCompleted | TurnFailed | TurnCancelled
TurnEvent = Annotated[
    PhaseChanged | TokenDelta | CallStarted | CallEnded | TerminalEvent,
    Field(discriminator="type"),
]
EVENT: TypeAdapter[TurnEvent] = TypeAdapter(TurnEvent)
TERMINAL_TYPES = frozenset({"question", "completed", "failed", "cancelled"})
