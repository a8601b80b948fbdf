"""A question about something else interrupts a collection: it is parked with its values, and offered again. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from schemas.conversations import Collecting, Conversation
from schemas.endpoints import Language
from schemas.routing import Choice, Decision
from workers.extraction.loop import offer_again

_MOST_PARKED = 3


@dataclass(frozen=True, kw_only=True)
class Offer:
    """The sentence that offers a parked collection, its yes and no, and the chat in which that offer stands."""

    conversation: Conversation
    text: str
    choices: tuple[Choice, ...]


def parked_by(decision: Decision, conversation: Conversation | None) -> Conversation | None:
    """Return the chat as the decision leaves it: what it turns away from is parked, what it comes back to is open."""
    if conversation is None or decision.resumes or decision.keeps_collection:
        return conversation
    left = (*conversation.parked, conversation.collecting) if conversation.collecting else conversation.parked
    back = next((one for one in left if _is_for(one, decision)), None)
    rest = tuple(one for one in left if one is not back)[-_MOST_PARKED:]
    return conversation.model_copy(update={"collecting": back, "parked": rest})


def _is_for(collecting: Collecting, decision: Decision) -> bool:
    wanted = {endpoint.endpoint_id for endpoint in decision.endpoints}
    return wanted == {progress.endpoint.endpoint_id for progress in collecting.endpoints}


def offered(conversation: Conversation | None, *, language: Language, now: datetime) -> Offer | None:
    """Offer what was parked last; None when nothing is. The offer is open like any question whether to go on."""
    if conversation is None or not conversation.parked:
        return None
    *rest, latest = conversation.parked
    asked = offer_again(latest, language=language, now=now)
    update = {"collecting": asked.collecting, "parked": tuple(rest), "choices": ()}
    return Offer(conversation=conversation.model_copy(update=update), text=asked.question, choices=asked.choices)
