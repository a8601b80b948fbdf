"""Values that come beside a message, not in its words (a form, a profile): held to the rules of any value. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

from schemas.base import JsonValue
from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import Language, ParamSpec
from workers.extraction.assigning import Heard, hear
from workers.extraction.kinds import Kind
from workers.extraction.params import param_of
from workers.extraction.reading import read
from workers.extraction.said import Found, Said
from workers.extraction.slots import merge
from workers.extraction.values_numbers import parse_number

_LONGEST_TEXT = 300
_AS_WRITTEN = frozenset({Kind.TEXT, Kind.ID})


def seeded(collecting: Collecting, seeds: Mapping[str, JsonValue], *, language: Language, now: datetime) -> Collecting:
    """Put the seeds into a fresh collection, for every endpoint that has a parameter of the name.

    A seed is read as an answer to a question for its parameter alone. One that is no value of it, or has two readings,
    is dropped, so the person is asked; so is a name that no endpoint has. What the message says comes later and wins.
    """
    found = tuple(_found(progress, seeds, language=language, now=now) for progress in collecting.endpoints)
    return merge(collecting, Heard(found=found)).collecting if any(found) else collecting


def _found(progress: EndpointProgress, seeds: Mapping[str, JsonValue], *, language: Language, now: datetime) -> Found:
    values = {
        spec.name: _value(spec, seeds[spec.name], progress, language=language, now=now)
        for spec in progress.endpoint.params
        if spec.name in seeds
    }
    return {name: Said(value=value, start=0, end=0) for name, value in values.items() if value is not None}


def _value(
    spec: ParamSpec, given: JsonValue, progress: EndpointProgress, *, language: Language, now: datetime
) -> JsonValue:
    match given:
        case dict():
            return given if spec.type == "object" else None
        case list():
            return _items(spec, given, progress, language=language, now=now)
        case bool():
            return given if spec.type == "boolean" else None
        case int() | float() if spec.type in ("integer", "number") and not spec.enum:
            return _number(spec, given)
        case str() | int() | float():
            return _text(spec, str(given).strip(), progress, language=language, now=now)
        case _:
            return None


def _text(spec: ParamSpec, said: str, progress: EndpointProgress, *, language: Language, now: datetime) -> JsonValue:
    if spec.type == "object":
        return None
    if param_of(spec).kind in _AS_WRITTEN:
        return said if 0 < len(said) <= _LONGEST_TEXT else None
    if spec.type in ("integer", "number") and not spec.enum:
        number = parse_number(said, language)
        return None if number is None else _number(spec, number)
    return _read(spec, said, progress, language=language, now=now)


def _number(spec: ParamSpec, given: float) -> JsonValue:
    if not math.isfinite(given):
        return None
    if spec.type == "integer":
        return int(given) if given == int(given) else None
    return given


def _items(
    spec: ParamSpec, given: list[JsonValue], progress: EndpointProgress, *, language: Language, now: datetime
) -> JsonValue:
    if spec.type != "array" or not given:
        return None
    one = (spec.items or ParamSpec(name=spec.name)).model_copy(update={"enum": spec.enum} if spec.enum else {})
    values = [_value(one, item, progress, language=language, now=now) for item in given]
    return None if None in values else values


def _read(spec: ParamSpec, text: str, progress: EndpointProgress, *, language: Language, now: datetime) -> JsonValue:
    alone = progress.endpoint.model_copy(update={"params": (spec,)})
    asked = Collecting(endpoints=(EndpointProgress(endpoint=alone),), original_query=text, asked=(spec.name,), turns=1)
    (found,) = hear(read(text, language=language, now=now), asked).found
    said = found.get(spec.name)
    return said.value if isinstance(said, Said) else None
