"""What a follow-up makes of the call before it: the same with other values, or a question about its result. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from schemas.base import JsonValue
from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import LANGUAGES, Endpoint, Language
from workers.caching.contexts import EndpointView, FollowUp, LastCall
from workers.caching.last_calls import Remembered
from workers.classification.words import fold, split_words
from workers.extraction.loop import Asked, Ready, collect, open_collection
from workers.messages.catalog import phrases
from workers.turn.shifting import as_shifted

SURE = 0.8
LEANS = 0.75
GUESS = 0.6
LIKELY = 0.5
_CLOSE = 0.05

Judge = Callable[..., FollowUp]
"""`workers.caching.followup.judge`; its form stands in `workers.caching.contexts`."""


@dataclass(frozen=True, kw_only=True)
class Heard:
    """A message as it is judged: its words, the chat's language, the answer before it, the moment in its zone."""

    text: str
    language: Language
    answer: str
    now: datetime


@dataclass(frozen=True, kw_only=True)
class Lean:
    """A remembered call, and what the message is to it. `text` is the message without words that only point at it."""

    remembered: Remembered
    follow: FollowUp
    text: str = ""


def strongest(leans: Sequence[Lean]) -> tuple[Lean, ...]:
    """Keep the leans that the message means: those of the likeliest verdict that are about equally sure.

    After two calls at once "and for Tartu?" may mean both. Where values are named, the values count.
    """
    likely = [lean for lean in leans if lean.follow.verdict != "new_intent" and lean.follow.confidence >= LIKELY]
    if not likely:
        return ()
    top = max(likely, key=lambda lean: (lean.follow.confidence, lean.follow.verdict == "param_update"))
    return tuple(
        lean
        for lean in likely
        if lean.follow.verdict == top.follow.verdict and lean.follow.confidence >= top.follow.confidence - _CLOSE
    )


def judged(calls: Sequence[Remembered], heard: Heard, *, judge: Judge) -> tuple[Lean, ...]:
    """Judge the message beside each call; "and the second one for Tartu?" is judged beside the second alone."""
    which, rest = pointed_at(heard.text, len(calls))
    meant = calls if which is None else calls[which : which + 1]
    return tuple(
        Lean(
            remembered=call,
            text=rest,
            follow=judge(
                rest, heard.language, call.last, EndpointView.of(call.endpoint), answer=heard.answer, now=heard.now
            ),
        )
        for call in meant
    )


def pointed_at(text: str, count: int) -> tuple[int | None, str]:
    """Return which of several calls the message points at (from 0), and the message without the pointing words."""
    if count <= 1:
        return None, text
    text = unicodedata.normalize("NFC", text)  # as the words are cut
    words = split_words(text)
    for at, word in enumerate(words):
        place = _place(word.folded)
        if place is not None and place < count:
            follows = at + 1 < len(words) and words[at + 1].folded in _words("pointing.nouns")
            begins = at > 0 and words[at - 1].folded in _words("pointing.articles")
            start = words[at - 1 if begins else at].start
            end = words[at + 1].end if follows else word.end
            is_pointing = follows or begins or len(words) <= at + 1
            return (place, f"{text[:start].rstrip()} {text[end:].lstrip()}".strip()) if is_pointing else (None, text)
    return None, text


def changed(lean: Lean, endpoint: Endpoint, heard: Heard) -> Ready | Asked | None:
    """Put the new values in the place of the old ones; None when the message holds none that the schema takes.

    Everything else stays, relative dates read anew from today. What is missing then is asked for.
    """
    names = tuple(name for name in lean.follow.changed if endpoint.param(name))
    gone = {*names, *lean.follow.removed}
    present = _turned(as_of_today(lean.remembered.last, endpoint, now=heard.now), lean.follow.swapped)
    base = {name: value for name, value in present.items() if name not in gone}
    words = " ".join(dict.fromkeys(lean.follow.changed.values()))
    text, values_only = (as_shifted(said, names, present, endpoint) for said in (lean.text or heard.text, words))
    heard = replace(heard, text=text)
    if not gone:
        return Ready(collecting=_seeded(endpoint, base, query=heard.text))
    opened = _seeded(endpoint, base, query=query_of(lean, heard.text), asked=names)
    outcome = _read(opened, (heard.text, values_only), heard)
    if outcome is None:
        return None
    values = outcome.collecting.endpoints[0].values
    lost = {name for name in names if name not in values}
    if (names and len(lost) == len(names)) or not lost <= {param.name for param in endpoint.required}:
        return None  # an answer without that value, or with the old one, would pass for what was asked
    merged = {name: values[name] for name in names if name not in lost} | base
    return _with_values(outcome, EndpointProgress(endpoint=endpoint, values=merged))


def _turned(values: dict[str, JsonValue], swapped: tuple[str, str] | None) -> dict[str, JsonValue]:
    """Let two values change places; the schema's say comes with the rest of the values."""
    if swapped is None or not values.keys() >= set(swapped):
        return values
    one, other = swapped
    return values | {one: values[other], other: values[one]}


def together(outcomes: Sequence[Ready | Asked]) -> Ready | Asked:
    """Join what several calls became; one that lacks a value waits for nobody once another is whole."""
    ready = [outcome for outcome in outcomes if isinstance(outcome, Ready)]
    if not ready:
        return outcomes[0]
    endpoints = tuple(progress for outcome in ready for progress in outcome.collecting.endpoints)
    return Ready(collecting=ready[0].collecting.model_copy(update={"endpoints": endpoints}))


def as_of_today(last: LastCall, endpoint: Endpoint, *, now: datetime) -> dict[str, JsonValue]:
    """Return the arguments of the last call under the endpoint's present schema, relative dates read from today.

    "tomorrow", said yesterday, is today by now: the question is read as it was then and as it reads now, and a value
    that moved between the two moves in the arguments too.
    """
    kept = {name: value for name, value in last.arguments.items() if endpoint.param(name)}
    then = last.finished_at.astimezone(now.tzinfo)
    if then.date() == now.date():
        return kept
    before, today = (_values(last, endpoint, now=moment) for moment in (then, now))
    moved = {n: v for n, v in today.items() if n in before and before[n] != v and kept.get(n) == before[n]}
    return kept | moved


def query_of(lean: Lean, text: str) -> str:
    """Return the words that the call's values come from, for the answer and for the next follow-up."""
    return text if len(lean.follow.changed) >= len(lean.remembered.last.arguments) else lean.remembered.last.query


def _values(last: LastCall, endpoint: Endpoint, *, now: datetime) -> dict[str, JsonValue]:
    read = collect(open_collection([endpoint], last.query), last.query, language=last.language, now=now)
    return read.collecting.endpoints[0].values if isinstance(read, Ready | Asked) else {}


def _read(opened: Collecting, texts: Sequence[str], heard: Heard) -> Ready | Asked | None:
    """Read the new values in the whole message; where that finds not all of them, in the words that mean them."""
    best: Ready | Asked | None = None
    for said in texts:
        outcome = collect(opened, said, language=heard.language, now=heard.now)
        if not isinstance(outcome, Ready | Asked):
            continue
        best = outcome
        values = outcome.collecting.endpoints[0].values
        if all(name in values and _is_said(values[name], said, texts[-1]) for name in opened.asked):
            break
    return best


def _is_said(value: JsonValue, said: str, words: str) -> bool:
    """Whether a text that was taken as it stands holds no more than the words that mean it: "for Tapa" is no place."""
    quoted = fold(str(value))
    return quoted not in fold(said) or quoted in fold(words)


def _seeded(endpoint: Endpoint, values: dict[str, JsonValue], *, query: str, asked: tuple[str, ...] = ()) -> Collecting:
    opened = open_collection([endpoint], query)
    progress = EndpointProgress(endpoint=endpoint, values=values)
    return opened.model_copy(update={"endpoints": (progress,), "asked": asked})


def _with_values(outcome: Ready | Asked, progress: EndpointProgress) -> Ready | Asked | None:
    """Give the outcome these values, unless the two do not agree on whether something is missing."""
    collecting = outcome.collecting.model_copy(update={"endpoints": (progress,)})
    if isinstance(outcome, Asked):
        return replace(outcome, collecting=collecting)
    return None if progress.missing else Ready(collecting=collecting)


def _place(word: str) -> int | None:
    for place in range(3):
        if word in _ordinals(place):
            return place
    return None


def _ordinals(place: int) -> frozenset[str]:
    return frozenset(fold(form) for language in LANGUAGES for form in phrases(f"pointing.place_{place + 1}", language))


def _words(key: str) -> frozenset[str]:
    return frozenset(fold(word) for language in LANGUAGES for word in phrases(key, language))
