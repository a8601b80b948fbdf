"""Where a turn goes: the layer that claims it, and what that layer found."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from schemas.base import Frozen
from schemas.endpoints import Endpoint, Language


class Layer(StrEnum):
    """A member of the chain; the first that claims the turn wins."""

    SERVICE = "service"
    CONTEXT = "context"
    RAG = "rag"
    OOD = "ood"


Confidence = Literal["high", "medium"]


class Candidate(Frozen):
    """One endpoint that search offers. Scores are calibrated cosines, 0…1; `fused` orders, `cosine` decides."""

    endpoint: Endpoint
    cosine: float
    fused: float
    confidence: Confidence
    llm_validated: bool = False


class Choice(Frozen):
    """A button: what is shown, and what comes back as the next message when it is pressed."""

    title: str
    payload: str


class PutOff(Frozen):
    """A part of a message that is left for later: more was asked for than is done at once.

    `endpoint` is what the part asks for; None where a message holds so many parts that this one was not looked at.
    """

    part: str
    endpoint: Endpoint | None = None


class Decision(Frozen):
    """What classification decided, and the rule that fired (for `explain` and the logs).

    SERVICE carries `endpoints` (two or more: parallel). CONTEXT and OOD carry `reply`, the finished sentence.
    `resumes` says that the chat's open collection takes this message. `unmatched` holds parts of the message that
    no endpoint fits, `later` those that are put off: the answer must say so. `keeps_collection` leaves an open
    collection open behind a side remark.
    `choices` make the reply a question in SERVICE; in OOD they stand beside a refusal, for who meant one of them.
    `blocked_by` names the guard that held the message back; `reply` then refuses it.
    `hints` are the person's words for parameters, as a model read them: the rules say what they mean.
    """

    layer: Layer
    language: Language
    rule: str
    endpoints: tuple[Endpoint, ...] = ()
    resumes: bool = False
    keeps_collection: bool = False
    reply: str = ""
    choices: tuple[Choice, ...] = ()
    unmatched: tuple[str, ...] = ()
    later: tuple[PutOff, ...] = ()
    blocked_by: str = ""
    hints: dict[str, str] = {}
    scores: dict[str, float] = {}

    @property
    def asks_to_choose(self) -> bool:
        """Whether the turn ends with a question: which of the choices is meant."""
        return bool(self.choices) and self.layer is Layer.SERVICE
