"""The public face of slot filling: open a collection, take one message, then ask, finish, or give up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import Endpoint, Language
from schemas.routing import Choice, PutOff
from workers.extraction.assigning import Heard, hear, meant_endpoints
from workers.extraction.carrying import NOTHING_EARLIER, Earlier, recall
from workers.extraction.continuation import steering, yes_or_no
from workers.extraction.fanning import MOST_AT_ONCE, fan_out
from workers.extraction.questions import Asker, names_of_flags
from workers.extraction.reading import Reading, read
from workers.extraction.said import Found
from workers.extraction.showing import title
from workers.extraction.slots import Merged, emptied, merge, missing_of, without_optional
from workers.extraction.wording import holds

# Limits of the seed project: questions asked before giving up, and the one that asks whether to go on.
_SINGLE_TURNS, _SINGLE_CONTINUATION = 5, 3
_PARALLEL_TURNS, _PARALLEL_CONTINUATION = 6, 4
_MOST_TURNS = 9

Reason = Literal["cancelled", "declined", "exhausted"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question goes out. `missing` are the parameters it names; `choices` are buttons beside it."""

    collecting: Collecting
    question: str
    missing: tuple[str, ...]
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ready:
    """Every endpoint left in the collection has all it needs."""

    collecting: Collecting


@dataclass(frozen=True, kw_only=True)
class Abandoned:
    """The collection ends without a call. `say` is a finished sentence; empty when exhausted: the next layer speaks."""

    reason: Reason
    say: str
    collecting: Collecting


Outcome = Asked | Ready | Abandoned


def open_collection(
    endpoints: Sequence[Endpoint],
    query: str,
    *,
    unmatched: Sequence[str] = (),
    later: Sequence[PutOff] = (),
    most_at_once: int = MOST_AT_ONCE,
) -> Collecting:
    """Begin to collect for those endpoints; nothing is known yet. `most_at_once` calls come of several values."""
    is_parallel = len(endpoints) > 1
    return Collecting(
        endpoints=tuple(EndpointProgress(endpoint=endpoint) for endpoint in endpoints),
        original_query=query,
        max_turns=min(_PARALLEL_TURNS if is_parallel else _SINGLE_TURNS, _MOST_TURNS),
        continuation_turn=_PARALLEL_CONTINUATION if is_parallel else _SINGLE_CONTINUATION,
        unmatched=tuple(unmatched),
        later=tuple(one.part for one in later),
        most_at_once=most_at_once,
    )


def collect(
    collecting: Collecting,
    message: str,
    *,
    language: Language,
    now: datetime,
    proposed: Sequence[Found] = (),
    earlier: Earlier = NOTHING_EARLIER,
) -> Outcome:
    """Take a message, the first or a later one, into the collection. `now` is aware, in the chat's zone.

    `proposed` is what a model read in the message for each endpoint; it fills what the rules leave open. What is open
    then is filled from `earlier` in the chat, where the message points back at it.
    """
    reading = read(message, language=language, now=now)
    turn = _Turn(collecting=collecting, reading=reading, proposed=tuple(proposed), earlier=earlier)
    if collecting.awaiting_continuation:
        return turn.continued()
    return turn.take(turn.heard(collecting)) if collecting.turns == 0 else turn.answered()


def ask_again(collecting: Collecting, *, language: Language, now: datetime) -> Outcome:
    """Ask for what an API did not accept, which is missing again; the limits of the collection hold."""
    return _Turn(collecting=collecting, reading=read("", language=language, now=now)).ask()


def offer_again(collecting: Collecting, *, language: Language, now: datetime) -> Asked:
    """Ask whether to go on with a collection that was interrupted; its values are kept.

    The offer is no question for a value, so it counts only where it stands for the question whether to go on.
    """
    question, choices = Asker(collecting=collecting, language=language, now=now).offer()
    stands_for_prompt = collecting.turns + 1 == collecting.continuation_turn
    update = {
        "turns": collecting.turns + stands_for_prompt, "asked": missing_of(collecting), "last_question": question,
        "awaiting_continuation": True,
    }  # fmt: skip
    waiting = collecting.model_copy(update=update)
    return Asked(collecting=waiting, question=question, missing=waiting.asked, choices=choices)


@dataclass(frozen=True, kw_only=True)
class _Turn:
    """One message of one collection."""

    collecting: Collecting
    reading: Reading
    proposed: tuple[Found, ...] = ()
    earlier: Earlier = NOTHING_EARLIER

    def heard(self, collecting: Collecting) -> Heard:
        heard = hear(self.reading, collecting)
        return heard.beside(self.proposed) if self.proposed else heard

    def recalled(self, heard: Heard) -> tuple[Collecting, Heard]:
        """Take from earlier in the chat what is still open, and note it to be told."""
        found = recall(self.reading, self.collecting, heard.found, self.earlier)
        if not any(found):
            return self.collecting, heard
        told = self.asker.listed_values(self.collecting, found)
        carried = tuple(dict.fromkeys((*self.collecting.carried, *told)))
        return self.collecting.model_copy(update={"carried": carried}), heard.beside(found)

    @property
    def progresses(self) -> tuple[EndpointProgress, ...]:
        return self.collecting.endpoints

    @property
    def message(self) -> str:
        return self.reading.text.raw

    @property
    def asker(self) -> Asker:
        return Asker(collecting=self.collecting, language=self.reading.language, now=self.reading.now)

    def on(self, collecting: Collecting) -> _Turn:
        return _Turn(collecting=collecting, reading=self.reading, proposed=self.proposed, earlier=self.earlier)

    def continued(self) -> Outcome:
        """Hear the answer to "shall we go on?"; a message that carries a value is a value."""
        reply = yes_or_no(self.message)
        resumed = self.on(self.collecting.model_copy(update={"awaiting_continuation": False}))
        flags = names_of_flags(self.collecting)
        asked = () if reply != "unclear" else tuple(name for name in self.collecting.asked if name not in flags)
        heard = self.heard(self.collecting.model_copy(update={"asked": asked}))
        if heard.holds_value:
            return resumed.take(heard)
        if reply == "yes":
            return resumed.ask() if missing_of(resumed.collecting) else resumed.ready()
        if reply == "no":
            return self._abandon("declined")
        if steering(self.message):
            return resumed.steered() or resumed.ask()
        return self.ask_to_go_on()

    def answered(self) -> Outcome:
        """Hear an answer to a question: a steering word, an endpoint no longer wanted, or values."""
        return self.steered() or self.without_dropped() or self.take(self.heard(self.collecting))

    def steered(self) -> Outcome | None:
        """Obey cancel, start over, "what do you know?", "I don't know" and skip; None for anything else."""
        match steering(self.message):
            case "cancel":
                return self._abandon("cancelled")
            case "restart":
                fresh = self.on(emptied(self.collecting))
                return fresh.ask(self.asker.say("restarted"))
            case "known":
                return self.ask(self.asker.known())
            case "dunno":
                return self.ask(self.asker.explained())
            case "skip":
                return self.skipped()
            case None:
                return None

    def skipped(self) -> Outcome:
        """Go on without the optional values that were asked for again; what is required can't be skipped."""
        left = without_optional(self.collecting)
        if not missing_of(left):
            return self.on(left).ready()
        return self.on(left).ask(self.asker.say("required"))

    def ready(self) -> Ready:
        return Ready(collecting=self.collecting.model_copy(update={"asked": (), "awaiting_continuation": False}))

    def without_dropped(self) -> Outcome | None:
        """Leave out an endpoint of several that the person no longer wants ("forget the address")."""
        progresses = self.collecting.endpoints
        if len(progresses) == 1 or not holds(self.reading.words, "drop"):
            return None
        dropped = meant_endpoints(self.reading, self.collecting)
        if len(dropped) != 1 or hear(self.reading, self.collecting.model_copy(update={"asked": ()})).holds_value:
            return None
        (gone,) = dropped
        left = self.collecting.model_copy(update={"endpoints": (*progresses[:gone], *progresses[gone + 1 :])})
        name = title(progresses[gone].endpoint, self.reading.language)
        turn = self.on(left)
        return turn.ask(turn.asker.say("dropped", title=name)) if missing_of(left) else Ready(collecting=left)

    def take(self, heard: Heard) -> Outcome:
        """Put values in; finish when nothing is missing and nothing is in doubt."""
        fanned = fan_out(self.reading, self.collecting, heard, proposed=self.proposed)
        collecting, heard = fanned or self.recalled(heard)
        merged = merge(collecting, heard)
        turn = self.on(merged.collecting)
        if merged.doubt is None and merged.refused is None and not missing_of(merged.collecting):
            return turn.ask_to_go_on(turn.asker.got(merged.news)) if turn.must_show(self.collecting) else turn.ready()
        return turn.ask_after(merged)

    def must_show(self, before: Collecting) -> bool:
        """Whether a call that changes something rests on values that were just taken from earlier in the chat."""
        changes = any(one.endpoint.method != "GET" and not one.endpoint.requires_approval for one in self.progresses)
        return changes and self.collecting.carried != before.carried

    def ask_after(self, merged: Merged) -> Outcome:
        """Ask on, after saying what was understood and what could not be taken."""
        asker = self.asker
        openings = [
            asker.got(merged.news) if self.collecting.turns or self.collecting.carried else "",
            asker.refusal(merged.refused) if merged.refused else "",
        ]
        if merged.doubt is not None:
            param, doubt = merged.doubt
            question, choices = asker.ask_which(param, doubt, *openings)
            return self._asked(question, (param.name,), choices)
        if not missing_of(self.collecting):
            # An optional value was refused: everything else is there, so the call goes out without it.
            return Ready(collecting=self.collecting)
        return self.ask(*openings)

    def ask(self, *said_first: str) -> Outcome:
        """Ask for what is missing; at the continuation turn ask whether to go on; after the last turn give up."""
        if not missing_of(self.collecting) or self.collecting.turns + 1 == self.collecting.continuation_turn:
            return self.ask_to_go_on(*said_first)
        return self._asked(self.asker.ask(*said_first), missing_of(self.collecting))

    def ask_to_go_on(self, *said_first: str) -> Outcome:
        """Ask whether to go on; where nothing is missing, that is an offer to do it."""
        asker = self.asker
        wording = asker.ask_to_go_on if missing_of(self.collecting) else asker.offer
        question, choices = wording(*said_first)
        waiting = self.on(self.collecting.model_copy(update={"awaiting_continuation": True}))
        return waiting._asked(question, missing_of(self.collecting), choices)  # noqa: SLF001 - its own class

    def _asked(self, question: str, missing: tuple[str, ...], choices: tuple[Choice, ...] = ()) -> Outcome:
        if self.collecting.turns >= self.collecting.max_turns:
            return self._exhausted()
        asked = self.collecting.model_copy(
            update={"turns": self.collecting.turns + 1, "asked": missing, "last_question": question}
        )
        return Asked(collecting=asked, question=question, missing=missing, choices=choices)

    def _exhausted(self) -> Outcome:
        """Deliver the endpoints that are complete and name the rest; without any, the next layer takes over."""
        complete = tuple(progress for progress in self.collecting.endpoints if not progress.missing)
        if not complete:
            return self._abandon("exhausted")
        rest = (title(p.endpoint, self.reading.language) for p in self.collecting.endpoints if p.missing)
        update = {
            "endpoints": complete, "lacking": tuple(rest), "asked": (),
            "awaiting_continuation": False,
        }  # fmt: skip
        return Ready(collecting=self.collecting.model_copy(update=update))

    def _abandon(self, reason: Reason) -> Abandoned:
        say = "" if reason == "exhausted" else self.asker.say(reason)
        return Abandoned(reason=reason, say=say, collecting=self.collecting)
