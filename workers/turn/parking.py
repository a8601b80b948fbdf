"""A question about something else interrupts a collection: it is parked with its values, and offered again. Pure.

So is what a message asks for beyond what is done at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from schemas.base import JsonValue
from schemas.conversations import Collecting, Conversation
from schemas.endpoints import Language
from schemas.routing import Choice, Decision, PutOff
from workers.extraction.carrying import Earlier
from workers.extraction.fanning import MOST_AT_ONCE
from workers.extraction.loop import Abandoned, collect, offer_again, open_collection
from workers.extraction.passing import told_in_passing
from workers.extraction.seeding import seeded
from workers.extraction.showing import listed, title
from workers.messages.catalog import text

_MOST_PARKED = 3
_MOST_TOLD = 4
_NO_SEEDS: Mapping[str, JsonValue] = MappingProxyType({})


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
    return _ids(collecting) == {endpoint.endpoint_id for endpoint in decision.endpoints}


def left_by(
    decision: Decision, before: Conversation | None, *, now: datetime, message: str = ""
) -> Conversation | None:
    """Return the chat as `parked_by` does, with what the decision puts off parked last: it is offered next.

    Its values are read at once, from its own part of the message; as many as now are done at once later. What the
    message says in passing for the collection that it turns away from is kept with that one.
    """
    conversation = _with_passing_words(decision, before, parked_by(decision, before), message=message, now=now)
    put_off = [one for one in decision.later if one.endpoint]
    if not put_off:
        return conversation
    most = len(decision.endpoints)
    batches = [put_off[at : at + most] for at in range(0, len(put_off), most)]
    earlier = conversation or Conversation()
    waiting = [_ids(one) for one in earlier.parked]
    opened = [one for batch in batches if _ids(one := _opened(batch, decision.language, now)) not in waiting]
    # The last that is parked is the first that is offered.
    parked = (*earlier.parked, *reversed(opened))[-_MOST_PARKED:]
    return earlier.model_copy(update={"parked": parked})


def _ids(collecting: Collecting) -> set[str]:
    return {progress.endpoint.endpoint_id for progress in collecting.endpoints}


def _with_passing_words(
    decision: Decision, before: Conversation | None, after: Conversation | None, *, message: str, now: datetime
) -> Conversation | None:
    left = before.collecting if before else None
    if after is None or left is None or not message or left not in after.parked:
        return after
    told = told_in_passing(left, message, turned_to=decision.endpoints, language=decision.language, now=now)
    return after.model_copy(update={"parked": tuple(told if one is left else one for one in after.parked)})


def waiting_behind(before: Conversation | None, after: Conversation | None, *, language: Language) -> str:
    """Name, in a clause, what a message has parked; nothing where it parked nothing."""
    known = [_ids(one) for one in before.parked] if before else []
    fresh = [one for one in reversed(after.parked) if _ids(one) not in known] if after else []
    titles = [title(progress.endpoint, language) for one in fresh for progress in one.endpoints]
    return text("asking.afterwards", language, title=listed(titles, language)) if titles else ""


def open_in(
    conversation: Conversation | None,
    decision: Decision,
    message: str,
    *,
    now: datetime,
    seeds: Mapping[str, JsonValue] = _NO_SEEDS,
    most_at_once: int = MOST_AT_ONCE,
) -> Collecting:
    """Return the chat's open collection; without one, a fresh one for what the decision found in the message.

    `seeds` are values that came beside the message; a collection that is open already has its own.
    """
    if conversation and conversation.collecting:
        return conversation.collecting
    fresh = open_collection(
        decision.endpoints,
        message,
        unmatched=decision.unmatched,
        later=decision.later,
        most_at_once=most_at_once,
    )
    return seeded(fresh, seeds, language=decision.language, now=now)


def with_put_off(conversation: Conversation | None, complete: Collecting) -> Conversation | None:
    """Return the chat with what a complete collection puts off parked, the first of it last: it is offered next.

    What was asked once for all of one endpoint's values holds for those that were put off too.
    """
    if not complete.put_off:
        return conversation
    done = [progress.values for progress in complete.endpoints]
    shared = {name: value for name, value in done[0].items() if all(one.get(name) == value for one in done)}
    kept = [one.model_copy(update={"values": {**shared, **one.values}}) for one in complete.put_off]
    most = len(done)
    query = "; ".join(complete.later) or complete.original_query
    batches = [
        open_collection([], query, most_at_once=complete.most_at_once).model_copy(
            update={"endpoints": tuple(kept[at : at + most])}
        )
        for at in range(0, len(kept), most)
    ]
    earlier = conversation or Conversation()
    return earlier.model_copy(update={"parked": (*earlier.parked, *reversed(batches))[-_MOST_PARKED:]})


def earlier_in(conversation: Conversation | None, collecting: Collecting) -> Earlier:
    """Return what of the chat a message may point back at; our own questions are no offers, only answers are."""
    if conversation is None:
        return Earlier()
    last = conversation.transcript[-1] if conversation.transcript else None
    is_answer = last is not None and last.role == "bot" and not collecting.turns and not collecting.asked
    answers = tuple(one.text for one in reversed(conversation.transcript) if one.role == "bot")[:_MOST_TOLD]
    return Earlier(
        given=conversation.given,
        offered=last.text if last and is_answer else "",
        told=answers if is_answer else (),
    )


def _opened(batch: Sequence[PutOff], language: Language, now: datetime) -> Collecting:
    query = "; ".join(one.part for one in batch)
    fresh = open_collection([one.endpoint for one in batch if one.endpoint], query)
    read = collect(fresh, query, language=language, now=now)
    if isinstance(read, Abandoned):
        return fresh
    return fresh.model_copy(update={"endpoints": read.collecting.endpoints})


def offered(conversation: Conversation | None, *, language: Language, now: datetime) -> Offer | None:
    """Offer what was parked last; None when nothing is. The offer is open like any question whether to go on."""
    if conversation is None or not conversation.parked:
        return None
    *rest, latest = conversation.parked
    asked = offer_again(latest, language=language, now=now)
    update = {"collecting": asked.collecting, "parked": tuple(rest), "choices": ()}
    return Offer(conversation=conversation.model_copy(update=update), text=asked.question, choices=asked.choices)
