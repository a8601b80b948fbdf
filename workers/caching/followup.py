"""Judges a new message beside the last call: a question about its result, the same call with another value, or neither.

Rules only, for English, Estonian and Russian. Every word must be explained by the call (a value, an opener, a word
that points back, the endpoint's own words); one that isn't makes the message a new intent, because a second call
costs less than a wrong answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from schemas.endpoints import Language, ParamSpec
from workers.caching.contexts import EndpointView, FollowUp, LastCall
from workers.caching.followup_changes import changes, ends_of
from workers.caching.followup_questions import question
from workers.caching.followup_reading import Reading, names_said
from workers.caching.followup_values import Value, takers
from workers.messages.asking import said_as
from workers.messages.hearing import is_form_of, lexicon, words_of

_LONGEST_TEXT = 300
_MOST_WORDS = 24
_SURE, _PLAIN, _LIKELY, _GUESS = 0.9, 0.8, 0.75, 0.6


def judge(
    text: str,
    language: Language,
    last: LastCall,
    view: EndpointView,
    *,
    answer: str = "",
    now: datetime | None = None,  # noqa: ARG001 — the words of a date are read by the caller, from today
) -> FollowUp:
    """Say what `text` is to the call before it. Pure; never raises.

    `changed` carries words as they were typed ("Lätis", "next year"), the words of a period for both its ends.
    """
    if last.endpoint_id != view.endpoint_id or not 0 < len(text.strip()) <= _LONGEST_TEXT:
        return _new("not_comparable")
    reading = Reading.of(text, language, last, view, answer)
    if not 0 < len(reading.words) <= _MOST_WORDS:
        return _new("not_comparable")
    if reading.starts_with("actions") or reading.opens_with("howto"):
        return _new("asks_for_an_action")
    return (
        _taken_back(reading) or _turned_round(reading) or _answered(reading) or _changed(reading) or _new("unexplained")
    )


def _new(reason: str) -> FollowUp:
    return FollowUp(verdict="new_intent", reason=reason)


def _answered(reading: Reading) -> FollowUp | None:
    """A question that the stored result can answer."""
    reason, sure = question(reading)
    return FollowUp(verdict="response_question", confidence=sure, reason=reason) if reason else None


def _changed(reading: Reading) -> FollowUp | None:
    """The same call with other values."""
    if reading.picks_at >= 0:
        return None  # "which of those are in May" asks for less, never for another call
    values = _wanted_values(reading)
    changed = changes(values, reading.view.params, reading.words, reading.text, reading.language)
    strange = reading.strange.union(*(range(v.first, v.end) for v in values if not takers(v, reading.view.params)))
    if strange:
        is_all = all(set(range(value.first, value.end)) <= strange for value in values)
        named = _named_text(reading, sorted(strange)) if is_all else {}
        return _update(named, _LIKELY, "another_name") if named else None
    if not changed:
        return None
    if _only_small_words(reading):
        return _update(changed, _SURE if _leans(reading) else _PLAIN, "other_value")
    return _topical(reading, changed)


def _topical(reading: Reading, changed: dict[str, str]) -> FollowUp | None:
    """The question asked again with other values: "and the weather in Narva?"."""
    is_code = all(value.sort == "code" for value in reading.values)  # "my second car is 456DEF"
    if reading.wants("superlatives", *(() if is_code else ("ordinals",))):
        return None
    if _only_function_words(reading):
        return _update(changed, _LIKELY if _leans(reading) else _GUESS, "asks_it_of_another_value")
    if reading.said["back"] - reading.said["same"] or not reading.on_topic - reading.in_values:
        return None
    if _leans(reading):
        return _update(changed, _LIKELY, "other_value_of_the_topic")
    return None if _stands_alone(reading, changed) else _update(changed, _GUESS, "repeats_with_other_value")


def _only_function_words(reading: Reading) -> bool:
    """Whether nothing but the values has a meaning of its own: "what will it be like in Narva?"."""
    names = ("asks", "back", "polite", "now", "same", "corrections", "negations", "thanks")
    led = reading.said["small"].union(
        *(reading.said[name] for name in names), reading.trailing, range(reading.opener_end)
    )
    return frozenset(range(len(reading.words))) - reading.in_values <= led


def _leans(reading: Reading) -> bool:
    """Whether the words say that something came before: "and", "the same", "no, I meant"."""
    return reading.opener_end > 0 or reading.has("same") or _corrects(reading)


def _update(changed: dict[str, str], confidence: float, reason: str) -> FollowUp:
    return FollowUp(verdict="param_update", changed=changed, confidence=confidence, reason=reason)


def _wanted_values(reading: Reading) -> tuple[Value, ...]:
    """The values that are meant; one that is taken back ("not Latvia, Lithuania") is not."""
    negations = lexicon("followup.negations", reading.language)
    small = reading.said["small"] | reading.said["negations"]

    def is_denied(value: Value) -> bool:
        at = value.first - 1
        while at >= 0 and at in small:
            if negations.match(reading.words, at) > at:
                return True
            at -= 1
        return False

    kept = tuple(value for value in reading.values if not is_denied(value))
    return kept if len(kept) < len(reading.values) and kept else reading.values


def _only_small_words(reading: Reading) -> bool:
    """Whether nothing is said but values, what leads to them, and small words."""
    whole = lexicon("followup.whole_small", reading.language)
    small = frozenset(
        place
        for at in range(len(reading.words))
        for place in range(at, whole.match(reading.words, at, errors=reading.misspelt))
    )
    names = ("openers", "same", "corrections", "negations", "polite", "thanks")
    led = small.union(*(reading.said[name] for name in names), range(reading.opener_end), reading.trailing)
    return frozenset(range(len(reading.words))) - reading.in_values <= led


def _corrects(reading: Reading) -> bool:
    return reading.starts_with("corrections") or reading.has("corrections", "negations")


def _stands_alone(reading: Reading, changed: dict[str, str]) -> bool:
    """Whether the message names all that the endpoint requires: then it needs nothing from the call before."""
    required = {param.name for param in reading.view.params if param.required and param.default is None}
    return required <= changed.keys()


def _named_text(reading: Reading, unknown: Sequence[int]) -> dict[str, str]:
    """A name for the endpoint's only free text, after an opener ("and Meretuul Energia?")."""
    free = [param for param in reading.view.params if _is_free_text(param)]
    said = names_said(reading, unknown) if not reading.names_countries(unknown) else ""
    rest = frozenset(range(len(reading.words))) - frozenset(unknown)
    led = reading.said["small"].union(
        *(reading.said[name] for name in ("openers", "same", "corrections", "negations", "polite"))
    )
    if _leans(reading) and said and len(free) == 1 and rest <= led | frozenset(range(reading.opener_end)):
        return {free[0].name: said}
    return {}


def _is_free_text(param: ParamSpec) -> bool:
    return param.type == "string" and not param.enum and param.format in (None, "address", "city")


def _taken_back(reading: Reading) -> FollowUp | None:
    """An optional parameter that is taken back: "without the date", "any day"."""
    if reading.values or reading.strange or not reading.starts_with("drops"):
        return None
    optional = [p for p in reading.view.params if not p.required and p.name in reading.last.arguments]
    removed = tuple(param.name for param in optional if _is_named(reading, param))
    if not removed:
        return None
    return FollowUp(verdict="param_update", removed=removed, confidence=_LIKELY, reason="value_taken_back")


def _turned_round(reading: Reading) -> FollowUp | None:
    """The same the other way: "and back?", "ja tagasi ülehomme?", "а обратно?"."""
    ends = ends_of(reading.view.params, reading.last.arguments)
    if ends is None or not reading.has("returning"):
        return None
    said = ("returning", "small", "polite", "thanks", "asks", "now", "same", "corrections")
    led = reading.trailing.union(*(reading.said[name] for name in said), range(reading.opener_end))
    named = changes(reading.values, reading.view.params, reading.words, reading.text, reading.language)
    if frozenset(range(len(reading.words))) - reading.in_values - reading.on_topic - led:
        return None
    if named is None or not named.keys().isdisjoint(ends):
        return None
    return FollowUp(
        verdict="param_update", changed=named, swapped=ends, confidence=_LIKELY, reason="the_other_way_round"
    )


def _is_named(reading: Reading, param: ParamSpec) -> bool:
    """Whether a word is the last of one of the parameter's labels, or of its own name."""
    labels = [words_of(label)[-1:] for label in param.labels.values()]
    own = {word.folded for label in labels for word in label}.union(said_as(param.name, reading.language))
    return any(is_form_of(word.folded, name, reading.language) for word in reading.words for name in own)
