"""Gathers lists: "Tallinn ja Tartu", [3, 4, 5], "small and large"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from schemas.base import JsonValue
from workers.extraction.assign_names import NAMED, name_value
from workers.extraction.assign_text import could_be_value, left_over
from workers.extraction.params import Kind, Param, param_of
from workers.extraction.reading import Reading, Span
from workers.extraction.said import Found, Said
from workers.extraction.values_names import NameMention
from workers.extraction.values_numbers import NumberMention
from workers.extraction.values_options import options_in

_LIST = re.compile(r"\s*(?:[,;\n]|(?<!\w)(?:and|ja|ning|и)(?!\w))\s*")
_BETWEEN = re.compile(r"\s*(?:[,;]\s*)?(?:(?:and|ja|ning|и)\s+)?")


def assign_lists(reading: Reading, params: Sequence[Param], *, asked: Sequence[str], taken: list[Span]) -> Found:
    """Gather every value that was named for a list: "Tallinn ja Tartu" for a list of towns."""
    found: Found = {}
    for param in (p for p in params if p.kind is Kind.ARRAY):
        spans = _listed(reading, param, asked, taken)
        if spans:
            found[param.name] = Said(
                value=[value for _, _, value in spans],
                start=min(s for s, _, _ in spans),
                end=max(e for _, e, _ in spans),
            )
    return found


def _listed(
    reading: Reading, param: Param, asked: Sequence[str], taken: list[Span]
) -> list[tuple[int, int, JsonValue]]:
    item = param_of(param.spec.items) if param.spec.items else None
    wordings = param.wordings or (item.wordings if item else ())
    if wordings:
        named = [(o.start, o.end, o.value) for o in options_in(reading.text, wordings)]
        return [one for one in named if reading.is_wanted(one[0], one[1])]
    kind = param_of(param.spec.model_copy(update={"type": "string"})).kind
    names: list[NameMention] = reading.names(NAMED[kind]) if kind in NAMED else []
    if names:
        return [(m.start, m.end, name_value(param, m)) for m in names]
    if item and item.kind in (Kind.INTEGER, Kind.NUMBER):
        return _run_of_numbers(reading, param, asked)
    start, end = left_over(reading, taken, reading.label_spans(param))
    if param.name not in asked or start >= end or not could_be_value(reading, start, end):
        return []
    parts = [part for part in _LIST.split(reading.text.between(start, end)) if part]
    return [(start, end, part) for part in parts]


def _run_of_numbers(reading: Reading, param: Param, asked: Sequence[str]) -> list[tuple[int, int, JsonValue]]:
    """Take the run of numbers that follows the parameter's name, or the only run when it was just asked for."""
    runs: list[list[NumberMention]] = []
    for number in reading.numbers:
        if runs and _BETWEEN.fullmatch(reading.text.folded, runs[-1][-1].end, number.start):
            runs[-1].append(number)
        else:
            runs.append([number])
    labels = reading.label_spans(param)
    named = [run for run in runs if reading.is_labelled(labels, run[0].start, run[-1].end)]
    chosen = named[:1] or (runs if len(runs) == 1 and param.name in asked else [])
    return [(n.start, n.end, n.value) for run in chosen for n in run]
