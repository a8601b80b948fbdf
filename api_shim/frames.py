"""Turns a turn's events into what a client shows. Pure: the same events give the same frames, on any instance.

A plain client concatenates the content of the frames and gets the answer exactly. Tokens are provisional: when a new
attempt starts after text was sent, what it repeats is skipped. Should it say something else, a rich client gets
`replace` with the whole text; a plain client, which can't take words back, gets the new text after a blank line, from
the start of the line in which the two part.

Ids: the frames of one event carry its id, named events before it none, so a connection that breaks between them
resumes without a loss; what may then come twice (a named event) says the same thing again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from api_shim import sse
from schemas.base import JsonValue
from schemas.calls import Cached
from schemas.events import (
    AnswerCompleted,
    CallEnded,
    CallStarted,
    PhaseChanged,
    SlotAsked,
    TerminalEvent,
    TokenDelta,
    TurnCancelled,
    TurnEvent,
    TurnFailed,
)
from schemas.orchestrate import END
from schemas.routing import Choice
from schemas.usage import TurnCosts

BREAK = "\n\n"


@dataclass(frozen=True)
class Shown:
    """What one event adds to the view: `replace` takes the place of everything before, `append` follows it."""

    append: str = ""
    replace: str | None = None


@dataclass
class View:
    """The text a reader has before it, and the attempt it came from."""

    takes_replacements: bool = False
    text: str = ""
    _attempt: int = -1
    _next_index: int = 0
    _has_gap: bool = False
    _heard: list[str] = field(default_factory=list)
    _heard_length: int = 0

    def token(self, token: TokenDelta) -> Shown:
        """Take a piece of the answer; pieces of older attempts and repeated ones show nothing."""
        if token.attempt < self._attempt:
            return Shown()
        if token.attempt > self._attempt:
            self._attempt, self._next_index, self._has_gap = token.attempt, 0, False
            self._heard, self._heard_length = [], 0
        if token.index < self._next_index:
            return Shown()
        # After a hole nothing can be placed; the terminal event repeats the text.
        self._has_gap = self._has_gap or token.index > self._next_index
        if self._has_gap:
            return Shown()
        self._next_index = token.index + 1
        return self._hear(token.text)

    def _hear(self, piece: str) -> Shown:
        is_continuation = self._heard_length == len(self.text)
        self._heard.append(piece)
        self._heard_length += len(piece)
        if is_continuation:
            self.text += piece
            return Shown(append=piece)
        said = "".join(self._heard)
        return Shown() if self.text.startswith(said) else self._become(said)

    def whole(self, text: str) -> Shown:
        """Take the full text that a terminal event repeats."""
        return self._become(text)

    def after(self, text: str) -> Shown:
        """Add a remark that belongs to no attempt (an apology), apart from what was said."""
        addition = f"{BREAK}{text}" if self.text else text
        self.text += addition
        return Shown(append=addition)

    def _become(self, text: str) -> Shown:
        if text.startswith(self.text):
            shown = Shown(append=text[len(self.text) :])
        elif self.takes_replacements:
            shown = Shown(append="", replace=text)
        else:
            shown = Shown(append=BREAK + text[_line_of_parting(self.text, text) :])
        self.text = text
        self._heard, self._heard_length = [text], len(text)
        return shown


def _line_of_parting(old: str, new: str) -> int:
    """Find where the line begins in which two texts start to differ."""
    common = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return new.rfind("\n", 0, common) + 1


def buttons(choices: tuple[Choice, ...]) -> list[JsonValue]:
    """Give choices their wire form."""
    return [{"title": choice.title, "payload": choice.payload} for choice in choices]


class FrameWriter:
    """Writes one reader's stream. `skip` takes in what the reader already has; `write` gives bytes to send."""

    def __init__(self, chat_id: str, *, rich: bool) -> None:
        self._chat_id = chat_id
        self._rich = rich
        self._view = View(takes_replacements=rich)

    def skip(self, event: TurnEvent) -> None:
        """Follow an event that the reader has seen on an earlier connection."""
        self.write("", event, now_ms=0)

    def write(self, event_id: str, event: TurnEvent, *, now_ms: int) -> bytes:
        """Give the frames of one event, possibly none; those of a terminal event finish with END."""
        match event:
            case TokenDelta():
                return self._show(self._view.token(event), event_id, now_ms=now_ms)
            case PhaseChanged(phase=phase):
                return self._named("phase", {"phase": phase}, event_id)
            case CallStarted(index=index, endpoint=endpoint):
                return self._named("tool_call", {"index": index, "endpoint": endpoint}, event_id)
            case CallEnded():
                return self._named("tool_result", _call_ended(event), event_id)
            case _:
                return self._last(event_id, event, now_ms=now_ms)

    def end(self, event_id: str, *, now_ms: int) -> bytes:
        """Give the frame that ends a stream."""
        return self._frame(END, event_id, now_ms=now_ms)

    def failure(self, text: str, *, code: str, error_id: str, now_ms: int) -> bytes:
        """End a stream with an error that is not in the turn's log."""
        told = self._named("error", {"type": code, "errorId": error_id, "text": text}, "")
        shown = self._show(self._view.after(text), "", now_ms=now_ms)
        return told + shown + self.end("", now_ms=now_ms)

    def _last(self, event_id: str, event: TerminalEvent, *, now_ms: int) -> bytes:
        told, shown = b"", Shown()
        choices: tuple[Choice, ...] = ()
        match event:
            case SlotAsked(text=text, missing=missing):
                question: JsonValue = {"text": text, "missing": list(missing), "costs": told_costs(event.costs)}
                told = self._named("question", question, "")
                shown, choices = self._view.whole(text), event.choices
            case AnswerCompleted(text=text):
                told = self._named("meta", answered_by(event), "")
                shown, choices = self._view.whole(text), event.choices
            case TurnFailed(failure=failure, text=text):
                error: JsonValue = {"type": failure.code, "errorId": failure.error_id, "text": text}
                told = self._named("error", error, "")
                shown = self._view.after(text)
            case TurnCancelled():
                told = self._named("phase", {"phase": "cancelled"}, "")
        rest = self._show(shown, event_id, now_ms=now_ms, choices=choices)
        return told + rest + self.end(event_id, now_ms=now_ms)

    def _show(self, shown: Shown, event_id: str, *, now_ms: int, choices: tuple[Choice, ...] = ()) -> bytes:
        """Write the text; buttons go on the last content frame, an empty one if all was said before."""
        replaced = b""
        if shown.replace is not None:
            replaced = self._named("replace", {"content": shown.replace}, "" if choices else event_id)
        if not (shown.append or choices):
            return replaced
        if shown.append == END:
            # A text that is the end mark itself would end the stream in a client: it goes in two halves.
            first = self._frame(END[:1], "", now_ms=now_ms)
            return replaced + first + self._frame(END[1:], event_id, now_ms=now_ms, choices=choices)
        return replaced + self._frame(shown.append, event_id, now_ms=now_ms, choices=choices)

    def _named(self, name: str, data: JsonValue, event_id: str) -> bytes:
        return sse.event(data, name=name, event_id=event_id) if self._rich else b""

    def _frame(self, content: str, event_id: str, *, now_ms: int, choices: tuple[Choice, ...] = ()) -> bytes:
        payload: dict[str, JsonValue] = {"content": content}
        if choices:
            payload["buttons"] = buttons(choices)
        frame: JsonValue = {"chatId": self._chat_id, "payload": payload, "timestamp": str(now_ms), "sentTo": []}
        return sse.event(frame, event_id=event_id)


def told_costs(costs: TurnCosts) -> JsonValue:
    """Give a turn's model requests their wire form: requests, tokens and dollars, in all and by judgement."""
    return {
        "calls": costs.calls,
        "tokens": costs.tokens,
        "usd": round(costs.cost_usd, 6),
        "judgements": {name: one.calls for name, one in costs.judgements.items()},
    }


def _call_ended(event: CallEnded) -> JsonValue:
    told: dict[str, JsonValue] = {
        "index": event.index,
        "endpoint": event.endpoint,
        "reason": event.reason,
        "elapsedMs": round(event.elapsed_ms, 1),
    }
    if event.cached:
        told["cached"] = _cached(event.cached)
    return told


def answered_by(event: AnswerCompleted) -> dict[str, JsonValue]:
    """Say what answered: the layer, the endpoints, and for those that were not called again where it came from."""
    told: dict[str, JsonValue] = {
        "layer": event.layer,
        "endpoints": list(event.endpoints),
        "costs": told_costs(event.costs),
    }
    if event.cached:
        told["cached"] = {name: _cached(mark) for name, mark in event.cached.items()}
    return told


def _cached(mark: Cached) -> JsonValue:
    return {"source": mark.source, "ageS": round(mark.age_s, 1)}
