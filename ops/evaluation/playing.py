"""Plays one labelled dialogue through the product's own rules: the chain of layers, then the collection's loop.

What is interrupted is parked and offered again, as in a chat. What is different from one: nothing is called. Where
another system leads the dialogue (`system_before`, or the label says that it asked a question here), that system
decides when to call, so a complete collection stays open until something else is asked for. Its last words stand for
our question; of a choice that we would offer, the likeliest is taken; and a value with a form of its own is noted as
it was said, since such a set's labels are the person's words.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ops.evaluation.cases import CaseTurn, DialogueCase, PredictedCall, Prediction
from ops.evaluation.shelf import Shelf
from schemas.base import JsonValue
from schemas.conversations import Collecting, Conversation, EndpointProgress, Given, Utterance
from schemas.routing import Choice, Decision
from schemas.turns import Turn, TurnRequest
from workers.classification.chain import Classifier
from workers.classification.choices import endpoint_id
from workers.extraction.assign_measures import wants_measure
from workers.extraction.assigning import hear
from workers.extraction.kinds import Kind
from workers.extraction.loop import Abandoned, Asked, Outcome, Ready, collect, open_collection
from workers.extraction.params import Param, param_of
from workers.extraction.reading import Reading, read
from workers.extraction.said import Said
from workers.runtime.settings import RoutingSettings
from workers.turn.memory import after_turn, spoken_message
from workers.turn.parking import earlier_in, left_by, offered, open_in, parked_by, with_put_off

TENANT = "evaluation"
_KEPT_UTTERANCES = 20
_TOLD = 4
_AS_SAID = frozenset({Kind.DATE, Kind.MOMENT, Kind.TIME, Kind.YEAR, Kind.INTEGER, Kind.NUMBER})
_BETWEEN_DAYS = re.compile(r"\s+(?:to|till|until|through|and|-|–)\s+(?:the\s+)?(?=\w)|\s*[-–]\s*")
_EDGES = re.compile(r"^(?:(?:\s|[.,])*(?:at|on)(?=\s))?[\s.,]+|[\s.,]+(?:at|on|around|by)?\s*$")
_SENTENCE = re.compile(r"[^.?!]+[.?!]*")
Words = dict[tuple[str, str], JsonValue]


@dataclass(frozen=True, kw_only=True)
class Played:
    """A dialogue after some of its turns. `words` are values as they were said, by endpoint and parameter."""

    conversation: Conversation | None = None
    known: tuple[str, ...] = ()
    words: Words = field(default_factory=dict)
    last: Prediction | None = None


@dataclass(frozen=True, kw_only=True)
class Player:
    """Plays dialogues over a shelf of endpoints. `now` is aware, in the person's zone."""

    shelf: Shelf
    routing: RoutingSettings
    now: datetime

    async def play(self, case: DialogueCase) -> list[Prediction]:
        """Return what came of each turn."""
        registered = case.candidates if case.scope == "candidates" else tuple(self.shelf.endpoints)
        played = Played(known=registered)
        found: list[Prediction] = []
        for at, turn in enumerate(case.turns):
            played = await self._turn(case, at, turn, played)
            if played.last is not None:
                found.append(played.last)
        return found

    async def _turn(self, case: DialogueCase, at: int, turn: CaseTurn, played: Played) -> Played:
        played = replace(
            played,
            known=(*played.known, *turn.new_endpoints),
            conversation=_told(played.conversation, turn, self.now),
        )
        before = played.conversation
        request = self._request(case, at, turn.user)
        classifier = Classifier(search=self.shelf.registered(played.known), settings=self.routing)
        decision = self._settled(case, await classifier.decide(request, before, now=self.now))
        if not decision.endpoints:
            return self._without_call(case, played, request, decision)
        message = spoken_message(Turn(request=request, decision=decision), before)
        left = before if case.is_led_elsewhere else left_by(decision, before, now=self.now, message=message)
        if case.is_led_elsewhere and not (before and before.collecting and decision.resumes):
            collecting = open_collection(decision.endpoints, message, unmatched=decision.unmatched)
        else:
            collecting = open_in(left, decision, message, now=self.now)
        began = time.perf_counter()
        earlier = earlier_in(before, collecting)
        if case.is_led_elsewhere:
            told = [one.text for one in reversed(before.transcript) if one.role == "bot"] if before else []
            earlier = replace(earlier, offered=turn.system_before, told=tuple(told[:_TOLD]))
        outcome = collect(collecting, message, language=decision.language, now=self.now, earlier=earlier)
        elapsed_ms = (time.perf_counter() - began) * 1000
        words = played.words
        if case.is_led_elsewhere:
            words = words | self._words(collecting, message, decision)
            words = self._offered_words(outcome.collecting, turn.system_before, decision) | words
            words = _carried_words(outcome.collecting, earlier.given, words) | words
        prediction = _as_said(_prediction(case, at, decision, outcome, elapsed_ms), words)
        stays_open = case.is_led_elsewhere or turn.expect.kind == "question"
        if case.is_led_elsewhere:
            outcome = replace(outcome, collecting=_patient(outcome.collecting))
        elif isinstance(outcome, Ready):
            left = with_put_off(left, outcome.collecting)
        conversation = self._remembered(left, request, decision, outcome, stays_open=stays_open)
        return replace(played, conversation=conversation, words=words, last=prediction)

    def _settled(self, case: DialogueCase, decision: Decision) -> Decision:
        """Where another system leads, nobody answers our choice: the likeliest is taken."""
        if not case.is_led_elsewhere or not decision.choices:
            return decision
        likeliest = self.shelf.endpoints.get(endpoint_id(decision.choices[0]))
        return decision.model_copy(update={"endpoints": (likeliest,), "choices": ()}) if likeliest else decision

    def _without_call(self, case: DialogueCase, played: Played, request: TurnRequest, decision: Decision) -> Played:
        """Note a turn that reached no endpoint; where another system leads, what was known stays known."""
        before, at = played.conversation, int(request.turn_id.rpartition("/")[2])
        kind = "choice" if decision.choices else "reply" if decision.layer == "context" else "fallback"
        prediction = Prediction(id=case.id, turn=at, kind=kind, ranked=_ranked(decision))
        keeps = decision.keeps_collection
        if case.is_led_elsewhere and decision.layer == "context" and played.last is not None:
            prediction = played.last.model_copy(update={"turn": at, "kind": kind, "ask": ()})
            keeps = True
        turn = Turn(request=request, decision=decision, language=decision.language, answer=decision.reply)
        if case.is_led_elsewhere or keeps or decision.choices:
            still = before.collecting if before and keeps else None
            left = before if case.is_led_elsewhere else parked_by(decision, before)
            conversation = self._after(left, turn, still, decision.choices)
        else:
            conversation = self._after_the_end(parked_by(decision, before), turn)
        return replace(played, conversation=conversation, last=prediction)

    def _request(self, case: DialogueCase, at: int, message: str) -> TurnRequest:
        return TurnRequest(
            turn_id=f"{case.id}/{at}", tenant=TENANT, chat_id=case.id, message=message, accepted_at=self.now,
            deadline_at=self.now + timedelta(minutes=1),
        )  # fmt: skip

    def _words(self, collecting: Collecting, message: str, decision: Decision) -> Words:
        """Note what has a form of its own as the person said it."""
        reading = read(message, language=decision.language, now=self.now)
        heard = hear(reading, collecting)
        return {
            (progress.endpoint.endpoint_id, name): _own_words(reading, said, progress, name)
            for progress, found in zip(collecting.endpoints, heard.found, strict=True)
            for name, said in found.items()
            if isinstance(said, Said) and _is_noted_as_said(progress, name)
        }

    def _offered_words(self, collecting: Collecting, offer: str, decision: Decision) -> Words:
        """Note what was taken from an offer as the offer said it."""
        bare = [EndpointProgress(endpoint=one.endpoint) for one in collecting.endpoints]
        opened = collecting.model_copy(update={"endpoints": tuple(bare), "asked": ()})
        reading = read(offer, language=decision.language, now=self.now)
        return {
            (progress.endpoint.endpoint_id, name): _own_words(reading, said, progress, name)
            for progress, found in zip(collecting.endpoints, hear(reading, opened).found, strict=True)
            for name, said in found.items()
            if isinstance(said, Said) and said.value == progress.values.get(name) and _is_noted_as_said(progress, name)
        }

    def _remembered(
        self, before: Conversation | None, request: TurnRequest, decision: Decision, outcome: Outcome, *,
        stays_open: bool,
    ) -> Conversation:  # fmt: skip
        choices: Sequence[Choice] = outcome.choices if isinstance(outcome, Asked) else ()
        said = outcome.question if isinstance(outcome, Asked) else outcome.say if isinstance(outcome, Abandoned) else ""
        turn = Turn(request=request, decision=decision, language=decision.language, answer=said)
        if isinstance(outcome, Asked) or (stays_open and isinstance(outcome, Ready)):
            return self._after(before, turn, outcome.collecting, choices)
        return self._after_the_end(before, turn)

    def _after_the_end(self, before: Conversation | None, turn: Turn) -> Conversation:
        """Offer what was parked last, when something was."""
        offer = offered(before, language=turn.language or "en", now=self.now)
        if offer is None:
            return self._after(before, turn, None, ())
        told = turn.model_copy(update={"answer": f"{turn.answer}\n\n{offer.text}".strip()})
        return self._after(offer.conversation, told, offer.conversation.collecting, offer.choices)

    def _after(
        self, before: Conversation | None, turn: Turn, collecting: Collecting | None, choices: Sequence[Choice]
    ) -> Conversation:
        return after_turn(
            before, turn, collecting=collecting, choices=choices, now=self.now, kept=_KEPT_UTTERANCES
        )  # fmt: skip


def _patient(collecting: Collecting) -> Collecting:
    """Forget how often was asked, since another system does the asking."""
    return collecting.model_copy(update={"turns": min(collecting.turns, 1), "awaiting_continuation": False})


def _told(before: Conversation | None, turn: CaseTurn, now: datetime) -> Conversation | None:
    """Put the other system's last words in place of ours: they are the question that the message answers."""
    if before is None or not turn.system_before:
        return before
    said = (*before.transcript[:-1], Utterance(role="bot", text=turn.system_before))
    collecting = before.collecting
    if collecting is not None:
        asked = _asked_in(turn.system_before, collecting, now)
        collecting = collecting.model_copy(update={"asked": asked, "last_question": turn.system_before})
    return before.model_copy(update={"transcript": said, "collecting": collecting})


def _asked_in(words: str, collecting: Collecting, now: datetime) -> tuple[str, ...]:
    """Name the parameters that the other system's question mentions."""
    question = " ".join(s for s in _SENTENCE.findall(words) if s.rstrip().endswith("?"))
    reading = read(question, language="en", now=now)
    return tuple(
        dict.fromkeys(
            spec.name
            for progress in collecting.endpoints
            for spec in progress.endpoint.params
            if spec.name not in progress.values and reading.label_spans(param_of(spec))
        )
    )


def _own_words(reading: Reading, said: Said, progress: EndpointProgress, name: str) -> str:
    """Return a value's words: of a period only its own end, of a day no time of day beside it."""
    spec = progress.endpoint.param(name)
    param = param_of(spec) if spec else None
    start, end = said.start, said.end
    if param is None or param.kind is not Kind.DATE:
        return reading.text.between(start, end)
    joins = list(_BETWEEN_DAYS.finditer(reading.text.folded, start, end))
    if joins and param.direction == "end":
        start = joins[-1].end()
    elif joins:
        end = joins[0].start()
    for clock in reading.clocks:
        if start <= clock.start < clock.end <= end:
            start, end = (start, clock.start) if clock.start - start > end - clock.end else (clock.end, end)
    return _EDGES.sub("", reading.text.between(start, end))


def _carried_words(collecting: Collecting, given: Sequence[Given], words: Words) -> Words:
    """Give a value that was carried from another endpoint the words by which it was said there."""
    known = [
        (one.values[name], said)
        for one in given
        for (of, name), said in words.items()
        if of == one.endpoint_id and name in one.values
    ]
    return {
        (progress.endpoint.endpoint_id, name): said
        for progress in collecting.endpoints
        for name, value in progress.values.items()
        for once, said in known
        if once == value
    }


def _is_noted_as_said(progress: EndpointProgress, name: str) -> bool:
    spec = progress.endpoint.param(name)
    return spec is not None and not spec.enum and (Param(spec).kind in _AS_SAID or wants_measure(Param(spec)))


def _ranked(decision: Decision) -> tuple[str, ...]:
    return tuple(sorted(decision.scores, key=lambda one: -decision.scores[one]))


def _prediction(case: DialogueCase, at: int, decision: Decision, outcome: Outcome, elapsed_ms: float) -> Prediction:
    progresses = outcome.collecting.endpoints
    if isinstance(outcome, Abandoned):
        kind = "fallback" if outcome.reason == "exhausted" else "reply"
        return Prediction(id=case.id, turn=at, kind=kind, ranked=_ranked(decision), elapsed_ms=elapsed_ms)
    is_prompt = outcome.collecting.awaiting_continuation
    kind = "tool_call" if isinstance(outcome, Ready) else "continuation_prompt" if is_prompt else "question"
    return Prediction(
        id=case.id,
        turn=at,
        endpoints=tuple(progress.endpoint.endpoint_id for progress in progresses),
        ranked=_ranked(decision),
        calls=tuple(PredictedCall(endpoint=p.endpoint.endpoint_id, params=dict(p.values)) for p in progresses),
        ask=outcome.missing if isinstance(outcome, Asked) else (),
        kind=kind,
        elapsed_ms=elapsed_ms,
    )


def _as_said(prediction: Prediction, words: Words) -> Prediction:
    """Put values as they were said in place of their canonical form."""
    if not words:
        return prediction
    calls = tuple(
        call.model_copy(
            update={"params": {name: words.get((call.endpoint, name), value) for name, value in call.params.items()}}
        )
        for call in prediction.calls
    )
    return prediction.model_copy(update={"calls": calls})
