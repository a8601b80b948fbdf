"""A turn: one message of one chat, from admission to its single end."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schemas.base import AwareDatetime, Frozen, JsonValue
from schemas.calls import ApiCall
from schemas.conversations import Utterance
from schemas.endpoints import Language
from schemas.failures import Failure
from schemas.routing import Decision

OnBusy = Literal["enqueue", "reject"]
Environment = Literal["production", "test", "development"]


class Phase(StrEnum):
    """Where a turn stands. `accepted` to `formatting` are moving; the rest are ends."""

    ACCEPTED = "accepted"
    CLASSIFYING = "classifying"
    EXTRACTING = "extracting"
    CALLING = "calling"
    FORMATTING = "formatting"
    WAITING_FOR_USER = "waiting_for_user"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"

    @property
    def is_moving(self) -> bool:
        """Whether some process still owes this turn a step."""
        return self in _MOVING


_MOVING = frozenset({Phase.ACCEPTED, Phase.CLASSIFYING, Phase.EXTRACTING, Phase.CALLING, Phase.FORMATTING})


class TurnRequest(Frozen):
    """What the person asked, as admitted; never changes. `history` is what the client says was said before.

    `user_token_name` stands for the token that the person brought (a keyed hash); empty when they brought none.
    `seeded_params` are values that came beside the message, by parameter name.
    """

    turn_id: str
    tenant: str
    chat_id: str
    author_id: str = ""
    message: str
    history: tuple[Utterance, ...] = ()
    url: str = ""
    environment: Environment = "production"
    connection_id: str | None = None
    time_zone: str = "Europe/Tallinn"
    user_token_name: str = ""
    seeded_params: dict[str, JsonValue] = {}
    accepted_at: AwareDatetime
    deadline_at: AwareDatetime


class Turn(Frozen):
    """A turn's record. `version` fences every write; `attempt` counts the starts of speaking (tokens carry it)."""

    request: TurnRequest
    phase: Phase = Phase.ACCEPTED
    version: int = 0
    attempt: int = 0
    language: Language | None = None
    decision: Decision | None = None
    calls: tuple[ApiCall, ...] = ()
    calling_since: AwareDatetime | None = None
    answer: str = ""
    failure: Failure | None = None

    @property
    def turn_id(self) -> str:
        """The id under which every process finds this record."""
        return self.request.turn_id
