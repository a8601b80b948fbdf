"""One turn of collecting: read the message, merge it, and ask, go on, or give up. Pure: `now` comes in by the door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import Endpoint, Language
from schemas.routing import Choice
from workers.messages.catalog import text
from workers.slotfilling.control import Control, control_of
from workers.slotfilling.questions import ask_for, ask_which_day, refuse_date, report, understood
from workers.slotfilling.reading import Reading, read
from workers.slotfilling.slot import Slot, slots_of
from workers.slotfilling.slots import known_values, merged, missing_slots, reversed_pair

SINGLE_TURNS, SINGLE_CONTINUATION = 5, 3
PARALLEL_TURNS, PARALLEL_CONTINUATION = 6, 4


@dataclass(frozen=True)
class Asked:
    """Something is missing; `question` is the whole sentence."""

    collecting: Collecting
    question: str
    missing: tuple[str, ...]
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True)
class Ready:
    """Every endpoint of the collection has what it needs."""

    collecting: Collecting


@dataclass(frozen=True)
class Abandoned:
    """The collection is over. `say` is a finished sentence, or "" when the next layer should speak."""

    reason: Literal["cancelled", "declined", "exhausted"]
    say: str
    collecting: Collecting


Outcome = Asked | Ready | Abandoned


def open_collection(endpoints: Sequence[Endpoint], query: str, *, unmatched: Sequence[str] = ()) -> Collecting:
    """Begin collecting for one endpoint, or for several side by side (limits as in the seed: 5/3 and 6/4)."""
    is_single = len(endpoints) == 1
    return Collecting(
        endpoints=tuple(EndpointProgress(endpoint=endpoint) for endpoint in endpoints),
        original_query=query,
        max_turns=SINGLE_TURNS if is_single else PARALLEL_TURNS,
        continuation_turn=SINGLE_CONTINUATION if is_single else PARALLEL_CONTINUATION,
        unmatched=tuple(unmatched),
    )


def collect(collecting: Collecting, message: str, *, language: Language, now: datetime) -> Outcome:
    """Take one message into the collection. `now` is aware, in the person's time zone."""
    slots = slots_of(collecting)
    known = known_values(collecting)
    reading = read(message, slots, known=known, asked=collecting.asked, now=now)
    control = control_of(message) if collecting.turns else None
    steered = _steer(collecting, control, slots, reading, language=language)
    if steered is not None:
        return steered
    values = {**known, **reading.values}
    wrong = (*reading.reopened, *reversed_pair(slots, values))
    updated = merged(collecting, {n: v for n, v in reading.values.items() if n not in wrong}, reopened=wrong)
    updated = updated.model_copy(update={"awaiting_continuation": False})
    missing = missing_slots(updated, slots)
    if not missing:
        return Ready(updated)
    return _go_on(updated, missing, reading, language=language, was_awaiting=collecting.awaiting_continuation)


def _steer(
    collecting: Collecting, control: Control | None, slots: Sequence[Slot], reading: Reading, *, language: Language
) -> Outcome | None:
    """Follow words that steer: stop, start over, what do you have. A value beside them is still a value."""
    if control is Control.CANCEL or (control is Control.NO and collecting.awaiting_continuation):
        reason: Literal["cancelled", "declined"] = "cancelled" if control is Control.CANCEL else "declined"
        return Abandoned(reason, text(f"collect.{reason}", language), collecting)
    if control is Control.RESTART:
        fresh = open_collection([p.endpoint for p in collecting.endpoints], collecting.original_query)
        return _ask(fresh, missing_slots(fresh, slots), Reading(), language=language)
    if control is Control.STATUS:
        missing = missing_slots(collecting, slots)
        question = ask_for(missing, language, got=(), collecting=collecting)
        said = f"{report(slots, known_values(collecting), language)} {question}"
        return Asked(_asked(collecting, said, missing), said, tuple(slot.name for slot in missing))
    return None


def _go_on(
    collecting: Collecting, missing: Sequence[Slot], reading: Reading, *, language: Language, was_awaiting: bool
) -> Outcome:
    if collecting.turns >= collecting.max_turns:
        return _exhausted(collecting)
    is_due = collecting.turns == collecting.continuation_turn - 1
    if is_due and not was_awaiting and reading.is_empty:
        question = text("collect.continue", language)
        if question not in collecting.last_question:
            waiting = _asked(collecting, question, missing).model_copy(update={"awaiting_continuation": True})
            return Asked(waiting, question, tuple(slot.name for slot in missing))
    return _ask(collecting, missing, reading, language=language)


def _exhausted(collecting: Collecting) -> Outcome:
    """Give up; what is complete is still delivered, and the rest is named."""
    complete = tuple(p for p in collecting.endpoints if not p.missing)
    if not complete:
        return Abandoned("exhausted", "", collecting)
    left = [p.endpoint.titles.get("en") or p.endpoint.name for p in collecting.endpoints if p.missing]
    return Ready(collecting.model_copy(update={"endpoints": complete, "unmatched": (*collecting.unmatched, *left)}))


def _ask(collecting: Collecting, missing: Sequence[Slot], reading: Reading, *, language: Language) -> Asked:
    slots = slots_of(collecting)
    unsure = next((slot for slot in missing if slot.name in reading.unsure), None)
    if unsure is not None:
        question = ask_which_day(unsure, reading.unsure[unsure.name], language)
    elif reading.invalid:
        question = refuse_date(reading.invalid, missing, language)
    else:
        got = understood(slots, reading.values, language) if collecting.turns else []
        question = ask_for(missing, language, got=got, collecting=collecting)
    return Asked(_asked(collecting, question, missing), question, tuple(slot.name for slot in missing))


def _asked(collecting: Collecting, question: str, missing: Sequence[Slot]) -> Collecting:
    return collecting.model_copy(
        update={
            "turns": collecting.turns + 1,
            "asked": tuple(slot.name for slot in missing),
            "last_question": question,
        }
    )
