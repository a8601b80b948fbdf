"""What a layer of the chain is, what it is given, and what it may ask of search."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from schemas.conversations import Collecting, Conversation, Utterance
from schemas.endpoints import Language
from schemas.routing import Candidate, Decision
from schemas.routing import Layer as LayerName
from schemas.turns import TurnRequest


class EndpointSearcher(Protocol):
    """Finds endpoints by meaning. Both methods may raise WorkerError."""

    async def search(self, text: str, *, tenant: str, limit: int) -> tuple[Candidate, ...]:
        """Return the endpoints that fit the text, best first; empty when none reaches the threshold."""
        ...

    async def nearest(self, text: str, *, tenant: str, limit: int) -> tuple[Candidate, ...]:
        """Return the endpoints closest to the text, however far they are, best first."""
        ...


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message on its way through the chain.

    `language` is what the answer will be in; `wording` is what these words are in, which differs for short turns.
    """

    request: TurnRequest
    conversation: Conversation | None
    language: Language
    wording: Language
    now: datetime

    @property
    def text(self) -> str:
        return self.request.message

    @property
    def collecting(self) -> Collecting | None:
        """The collection that is open in this chat."""
        return self.conversation.collecting if self.conversation else None

    @property
    def said(self) -> tuple[Utterance, ...]:
        """What was said before this message: as we remember it, else as the client tells it."""
        if self.conversation and self.conversation.transcript:
            return self.conversation.transcript
        return self.request.history


class Layer(Protocol):
    """A member of the chain. It claims a message with a decision, or passes it on with None."""

    @property
    def name(self) -> LayerName: ...

    async def claim(self, message: Message) -> Decision | None:
        """Decide about the message, or return None. A WorkerError counts as None and is logged by the chain."""
        ...
