"""Reads a model's answer that misses the asked form: JSON in fences, in prose, broken or cut off; marks left out. Pure.

Nothing is guessed: a field that cannot be found leaves the answer unreadable, and the rules decide instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import json_repair
from pydantic import TypeAdapter, ValidationError

_MARK = re.compile(r"\[\[\s*##\s*(\w+)\s*##\s*\]\]")
_FENCE = re.compile(r"```(?:json|JSON)?\s*(.*?)(?:```|\Z)", re.DOTALL)
_LONGEST = 100_000


def read_loosely(answer: str, fields: Mapping[str, Any], *, prose_is_answer: bool = False) -> dict[str, Any] | None:
    """Return every field with a value of its type, or None when one is missing or of another type.

    `fields` gives the annotation of each output field. `prose_is_answer`: the only field is a text for the person, so
    an answer without any form, if it looks like prose, is that text.
    """
    answer = answer[:_LONGEST]
    for found in (_marked(answer), _json_object(answer), _lone(answer, fields, prose_is_answer=prose_is_answer)):
        typed = _typed(found, fields)
        if typed is not None:
            return typed
    return None


def _marked(answer: str) -> dict[str, Any]:
    marks = list(_MARK.finditer(answer))
    if not marks:
        return {}
    ends = [mark.start() for mark in marks[1:]] + [len(answer)]
    return {mark.group(1): answer[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)}


def _json_object(answer: str) -> dict[str, Any]:
    fenced = _FENCE.search(answer)
    text = fenced.group(1) if fenced else answer
    start = text.find("{")
    if start < 0:
        return {}
    found = json_repair.loads(text[start:])
    return found if isinstance(found, dict) else {}


def _lone(answer: str, fields: Mapping[str, Any], *, prose_is_answer: bool) -> dict[str, Any]:
    """Take the whole answer for the only field: prose for a text, and JSON for anything else."""
    if len(fields) != 1:
        return {}
    ((name, annotation),) = fields.items()
    if annotation is not str:
        found = _json_object(answer)
        return {name: found} if found else {}
    is_prose = prose_is_answer and bool(answer.strip()) and not re.match(r"\s*(?:[{\[]|```)", answer)
    return {name: answer.strip()} if is_prose else {}


def _typed(found: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any] | None:
    typed: dict[str, Any] = {}
    for name, annotation in fields.items():
        if name not in found:
            return None
        value = found[name]
        if annotation is not str and isinstance(value, str):
            value = json_repair.loads(value) if value.lstrip()[:1] in ("{", "[") else value
        try:
            typed[name] = TypeAdapter(annotation).validate_python(value)
        except ValidationError:
            return None
    return typed
