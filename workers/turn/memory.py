"""What a chat remembers after a turn, pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from schemas.conversations import Collecting, Conversation, Utterance
from schemas.routing import Choice
from schemas.turns import Turn
from workers.caching.canonical import is_cacheable
from workers.extraction.carrying import given_after

CHOICE_TAKEN = "choice_taken"


def after_turn(
    before: Conversation | None,
    turn: Turn,
    *,
    collecting: Collecting | None,
    choices: Sequence[Choice] = (),
    now: datetime,
    kept: int,
) -> Conversation:
    """Add both sides of the turn to the transcript (at most `kept` utterances) and keep what is open or parked.

    A message that a guard held back is not remembered: it would reach a model with the next question.
    """
    has_called = any(is_cacheable(call.endpoint) for call in turn.calls)
    is_blocked = turn.decision is not None and turn.decision.blocked_by
    both = (Utterance(role="user", text=turn.request.message), Utterance(role="bot", text=turn.answer))
    said = () if is_blocked else both
    earlier = before.transcript if before else ()
    return Conversation(
        language=turn.language or (before.language if before else None),
        collecting=collecting,
        transcript=(*earlier, *said)[-kept:],
        choices=tuple(choices),
        parked=before.parked if before else (),
        given=given_after(before.given if before else (), before.collecting if before else None, collecting),
        called_in=turn.turn_id if has_called else (before.called_in if before else ""),
        updated_at=now,
    )


def spoken_message(turn: Turn, conversation: Conversation | None) -> str:
    """Return the words that carry values: a choice taken stands for the question it was offered for.

    In a reply to an open collection, the part that asks for something else is left out.
    """
    message = turn.request.message
    if turn.decision and turn.decision.resumes:
        for one in turn.decision.later:
            message = message.replace(one.part, " ")
        return message
    if turn.decision is None or turn.decision.rule != CHOICE_TAKEN or conversation is None:
        return message
    return next((u.text for u in reversed(conversation.transcript) if u.role == "user"), message)


def remembering(turn: Turn, conversation: Conversation | None, collecting: Collecting) -> Conversation:
    """Return the chat with a collection that is complete, for the stages that follow."""
    return (conversation or Conversation()).model_copy(update={"collecting": collecting, "language": turn.language})
