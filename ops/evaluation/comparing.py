"""Whether a value is one of those that a labelled set accepts. Pure.

The rules are those of the sets' own scorer: numbers by value, words without case and punctuation, lists element by
element, objects property by property (each with its own accepted values, "" for "may be absent"). `loosely` accepts
words that are nine tenths alike, for sets whose values are the person's own words.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ops.evaluation.cases import ExpectedCall, PredictedCall

_CLOSE = 0.9
_SHORTEST_ALIKE = 4
_SAME_NUMBER = 1e-6


def plain(value: object) -> str:
    """Return the value's letters and digits, in lower case."""
    return re.sub(r"[\s,./\-_*^'\"!?]", "", str(value).casefold())


def is_same(value: object, accepted: object, *, loosely: bool) -> bool:
    """Whether a value is the accepted one."""
    if isinstance(value, bool) or isinstance(accepted, bool):
        return str(value).casefold() == str(accepted).casefold()
    if isinstance(accepted, Mapping):
        return isinstance(value, Mapping) and _is_same_object(value, accepted, loosely=loosely)
    if isinstance(accepted, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(accepted)
            and all(is_same(one, two, loosely=loosely) for one, two in zip(value, accepted, strict=True))
        )
    number, right = _number(value), _number(accepted)
    if number is not None and right is not None:
        return abs(number - right) < _SAME_NUMBER
    said, meant = plain(value), plain(accepted)
    is_alike = len(meant) >= _SHORTEST_ALIKE and difflib.SequenceMatcher(None, said, meant).ratio() >= _CLOSE
    return said == meant or (loosely and is_alike)


def _number(value: object) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _is_same_object(value: Mapping[str, Any], accepted: Mapping[str, Any], *, loosely: bool) -> bool:
    for name, choices in accepted.items():
        options = choices if isinstance(choices, list) else [choices]
        if name not in value:
            if "" in options:
                continue
            return False
        if not is_accepted(value[name], options, loosely=loosely) and not is_same(
            value[name], options, loosely=loosely
        ):
            return False
    return all(name in accepted for name in value)


def is_accepted(value: object, accepted: Sequence[Any], *, loosely: bool) -> bool:
    """Whether a value is one of the accepted ones."""
    return any(is_same(value, one, loosely=loosely) for one in accepted)


def is_right_call(call: PredictedCall, expected: ExpectedCall, *, loosely: bool) -> bool:
    """Whether endpoint and values agree: nothing wrong, nothing required missing, nothing added."""
    if call.endpoint != expected.endpoint:
        return False
    for name, accepted in expected.params.items():
        if name not in call.params:
            if name in expected.optional_params:
                continue
            return False
        if not is_accepted(call.params[name], accepted, loosely=loosely):
            return False
    return all(name in expected.params or name in expected.optional_params for name in call.params)
