"""Decides which parameter of the last call each value of a message changes; nothing when that is open. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from schemas.base import JsonValue
from schemas.endpoints import Language, ParamSpec
from workers.caching.followup_values import Value, takers
from workers.messages.asking import words_of_key
from workers.messages.hearing import Word, lexicon

_FROM_WORDS = frozenset({"from", "source", "origin", "departure", "sender"})
_TO_WORDS = frozenset({"to", "target", "destination", "arrival", "receiver"})
_ESTONIAN_FROM = re.compile(r"\w{2,}(?:lt|st)")
_ESTONIAN_TO = re.compile(r"\w{2,}(?:sse|le|des|tes|desse|tesse|ni)")
_PAIR = 2
_DATED = ("date", "datetime", "date-time", "time")


def changes(
    values: Sequence[Value], params: Sequence[ParamSpec], words: Sequence[Word], text: str, language: Language
) -> dict[str, str] | None:
    """Map parameter names to the words of their new values; None when a value fits nowhere, or more than one place.

    The words of a period stand for both its ends. Two values for one parameter ("Latvia and Lithuania") are more
    than one call can answer: None.
    """
    found: dict[str, str] = {}
    for value in values:
        able = takers(value, params)
        chosen = able if len(able) < _PAIR or _is_period(able, value) else _by_direction(able, value, words, language)
        if not chosen and value.sort == "option":
            chosen = _beside_amount(able, value, values)
        if not chosen or any(param.name in found for param in chosen):
            return None
        said = value.words(words, text)
        found |= {param.name: said for param in chosen}
    return found


def ends_of(params: Sequence[ParamSpec], arguments: Mapping[str, JsonValue]) -> tuple[str, str] | None:
    """Return the only two parameters between which something goes (from, to), if the call had both; days are none."""
    goes = [p for p in params if p.name in arguments and p.type not in _DATED and p.format not in _DATED]
    starts, ends = ([p for p in goes if side & set(words_of_key(p.name))] for side in (_FROM_WORDS, _TO_WORDS))
    if len(starts) != 1 or len(ends) != 1:
        return None
    (start,), (end,) = starts, ends
    are_alike = (start.type, start.format, start.enum) == (end.type, end.format, end.enum)
    return (start.name, end.name) if are_alike else None


def _is_period(able: Sequence[ParamSpec], value: Value) -> bool:
    """Whether the parameters are the two ends of one period."""
    return value.sort in ("day", "year") and len(able) == _PAIR and able[0].type == able[1].type


def _beside_amount(able: Sequence[ParamSpec], value: Value, values: Sequence[Value]) -> tuple[ParamSpec, ...]:
    """In "200 dollars" the dollars are what one has."""
    if any(other.sort == "number" and other.end == value.first for other in values):
        return tuple(param for param in able if _FROM_WORDS & set(words_of_key(param.name)))
    return ()


def _by_direction(
    able: Sequence[ParamSpec], value: Value, words: Sequence[Word], language: Language
) -> tuple[ParamSpec, ...]:
    direction = _direction(value, words, language)
    chosen = tuple(param for param in able if direction & set(words_of_key(param.name)))
    return chosen if len(chosen) == 1 else ()


def _direction(value: Value, words: Sequence[Word], language: Language) -> frozenset[str]:
    before = words[value.first - 1].folded if value.first else ""
    last = words[value.end - 1].folded
    if before in lexicon("followup.from", language) or (language == "et" and _ESTONIAN_FROM.fullmatch(last)):
        return _FROM_WORDS
    if before in lexicon("followup.to", language) or (language == "et" and _ESTONIAN_TO.fullmatch(last)):
        return _TO_WORDS
    # In Estonian where one comes from has an ending always, where one goes ("Narva") not.
    return _TO_WORDS if language == "et" and value.sort == "city" else frozenset()
