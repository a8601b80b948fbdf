"""Lets a value that a model read count only if the person's own words carry it. Pure.

The model says where a value stands (the person's words for it); the rules say what those words mean. Where the rules
can read the words, their reading is the value. Where they cannot, the model's value counts if it is one of the
options, or if the words hold it letter for letter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from schemas.base import JsonValue
from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import Language, ParamSpec
from workers.extraction.assigning import hear
from workers.extraction.kinds import Kind
from workers.extraction.params import param_of
from workers.extraction.reading import read
from workers.extraction.said import Found, Said
from workers.extraction.text import fold, same_stem, words_of
from workers.extraction.values_numbers import numbers

_BEGINNING = r"(?<![^\W_])(?<!\d[.,:])"
_NO_MORE = r"(?![^\W_])(?![.,:]\d)"
_ENDING = r"(?![^\W_]{5})(?![^\W\d_]*\d)"
_TEXTS = frozenset({Kind.TEXT, Kind.ID, Kind.ADDRESS, Kind.CITY, Kind.TIME, Kind.PLATE, Kind.REGISTRY_CODE})


@dataclass(frozen=True, kw_only=True)
class Speech:
    """What the person said: the message now, and what they said before."""

    message: str
    earlier: Sequence[str] = ()
    language: Language
    now: datetime


def grounded(proposed: Mapping[str, object], progress: EndpointProgress, speech: Speech) -> Found:
    """Keep the proposals that the person's words carry. `proposed`: name → {"value", "words"}, as a model gave it.

    Names outside the schema, values already known and words nobody said are dropped.
    """
    kept: Found = {}
    for name, proposal in proposed.items():
        spec = progress.endpoint.param(name)
        if spec is None or name in progress.values or not isinstance(proposal, Mapping):
            continue
        words = str(proposal.get("words") or "").strip()
        place = _place(words, speech)
        if place is None:
            continue
        value = _value(spec, proposal.get("value"), words, progress, speech)
        if value is not None:
            kept[name] = Said(value=value, start=place, end=place + len(words))
    return kept


def _place(words: str, speech: Speech) -> int | None:
    """Find where those words stand in the message, or 0 when they were said before; None when nobody said them.

    They are whole words: "12" is no part of "125", nor "34ABC" of "1234ABC". A word of letters may have an ending.
    """
    sought = fold(words)
    if not sought:
        return None
    ending = _ENDING if sought[-1].isalpha() and not any(char.isdigit() for char in sought) else _NO_MORE
    whole = re.compile(rf"{_BEGINNING}{re.escape(sought)}{ending}")
    here = whole.search(fold(speech.message))
    if here:
        return here.start()
    return 0 if any(whole.search(fold(said)) for said in speech.earlier) else None


def _value(spec: ParamSpec, value: object, words: str, progress: EndpointProgress, speech: Speech) -> JsonValue:
    by_rules = _read_alone(spec, words, progress, speech)
    if by_rules is not None:
        return by_rules
    if spec.enum:
        return next((option.value for option in spec.enum if fold(option.value) == fold(str(value))), None)
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = read(words, language=speech.language, now=speech.now).text
        return value if any(mention.value == value for mention in numbers(text, speech.language)) else None
    is_text = spec.type == "string" and param_of(spec).kind in _TEXTS
    return str(value) if is_text and isinstance(value, str) and _holds(words, value) else None


def _read_alone(spec: ParamSpec, words: str, progress: EndpointProgress, speech: Speech) -> JsonValue:
    """Let the rules read the words as the answer to a question for this parameter alone."""
    if param_of(spec).kind in _TEXTS:
        return None
    alone = progress.endpoint.model_copy(update={"params": (spec,)})
    collecting = Collecting(
        endpoints=(EndpointProgress(endpoint=alone),), original_query=words, asked=(spec.name,), turns=1
    )
    (found,) = hear(read(words, language=speech.language, now=speech.now), collecting).found
    said = found.get(spec.name)
    return said.value if isinstance(said, Said) else None


def _holds(words: str, value: str) -> bool:
    """Whether the words hold the value, in any of its forms: "Tartus" holds "Tartu"."""
    if not value.strip():
        return False
    if fold(value) in fold(words):
        return True
    said = [word.folded for word in words_of(fold(words))]
    wanted = [word.folded for word in words_of(fold(value))]
    return bool(wanted) and all(any(same_stem(word, other) for other in said) for word in wanted)
