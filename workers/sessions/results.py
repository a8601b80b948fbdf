"""What the turn store answers: frozen values that say which combinations exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schemas.conversations import Conversation
from schemas.turns import Turn


@dataclass(frozen=True)
class Admission:
    """What became of a new turn. `position` counts turns before it; `active` is the turn that holds the chat."""

    state: Literal["started", "queued", "rejected", "full", "known"]
    position: int = 0
    active: str = ""


@dataclass(frozen=True)
class Cancelled:
    """What a cancel found. `next_turn_id` must be published: the chat is now its turn's."""

    state: Literal["cancelled", "already_over", "unknown"]
    next_turn_id: str | None = None


@dataclass(frozen=True)
class Taken:
    """A turn in the hands of one stage, which alone may commit it until the lease ends."""

    turn: Turn
    conversation: Conversation | None
    token: str


@dataclass(frozen=True)
class Passed:
    """The stage has nothing to do: the turn is elsewhere (`turn`), or another worker has it (None).

    `active` is the turn that holds the chat now.
    """

    turn: Turn | None
    active: str = ""


@dataclass(frozen=True)
class Resting:
    """A moving turn without progress for a while, and whether somebody holds a claim on it."""

    turn: Turn
    is_active: bool
    is_claimed: bool
