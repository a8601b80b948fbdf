"""Gathers lists: "Tallinn ja Tartu", [3, 4, 5], "small and large"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from schemas.base import JsonValue
from workers.extraction.assign_names import NAMED, name_value
from workers.extraction.assign_text import could_be_value, left_over
from workers.extraction.kinds import Kind
from workers.extraction.params import Param, param_of
from workers.extraction.phrases import Phrase
from workers.extraction.reading import Reading, Span
from workers.extraction.said import Found, Said
from workers.extraction.values_names import NameMention
from workers.extraction.values_numbers import NumberMention
from workers.extraction.values_options import options_in

_LIST = re.compile(r"\s*(?:[,;\n]|(?<!\w)(?:and|ja|ning|и)(?!\w))\s*")
_BETWEEN = re.compile(r"(?:st|nd|rd|th)?(?:\s?[nsew](?!\w))?\s*(?:[,;]\s*)?(?:(?:and|ja|ning|и)\s+)?")
_FEW = 3
_BETWEEN_NAMES = re.compile(r"['\"]?\s*(?:,\s*and\s|,|and\s|&)\s*(?:the\s+)?['\"]?")
_SIDE = re.compile(r"\s?°?\s?([NSEW])(?!\w)")


def assign_lists(reading: Reading, params: Sequence[Param], *, asked: Sequence[str], taken: list[Span]) -> Found:
    """Gather every value that was named for a list: "Tallinn ja Tartu" for a list of towns."""
    found: Found = {}
    for param in (p for p in params if p.kind is Kind.ARRAY):
        spans = _listed(reading, param, params, asked, taken)
        if spans:
            found[param.name] = Said(
                value=[value for _, _, value in spans],
                start=min(s for s, _, _ in spans),
                end=max(e for _, e, _ in spans),
            )
    return found


def _listed(
    reading: Reading, param: Param, params: Sequence[Param], asked: Sequence[str], taken: list[Span]
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
        return _run_of_numbers(reading, param, params, asked)
    in_a_row = _run_of_names(reading, param, params)
    if in_a_row:
        return in_a_row
    start, end = left_over(reading, taken, reading.label_spans(param))
    if param.name not in asked or start >= end or not could_be_value(reading, start, end):
        return []
    parts = [part for part in _LIST.split(reading.text.between(start, end)) if part]
    return [(start, end, part) for part in parts]


def _run_of_numbers(
    reading: Reading, param: Param, params: Sequence[Param], asked: Sequence[str]
) -> list[tuple[int, int, JsonValue]]:
    """Take the run of numbers that follows the parameter's name; else the only run, or the one of the same place.

    A run that was not named needs three numbers, or two where there are as many runs as parameters that take them.
    """
    runs: list[list[NumberMention]] = []
    for number in reading.numbers:
        if runs and _BETWEEN.fullmatch(reading.text.folded, runs[-1][-1].end, number.start):
            runs[-1].append(number)
        else:
            runs.append([number])
    labels = reading.label_spans(param)
    named = [run for run in runs if reading.is_labelled(labels, run[0].start, run[-1].end)]
    chosen = named[:1] or (runs if len(runs) == 1 and param.name in asked else [])
    if not chosen and param.spec.required:
        rivals = [p for p in params if p.spec.required and p.kind is Kind.ARRAY and _takes_numbers(p)]
        least = _FEW if len(rivals) == 1 else _FEW - 1
        long_runs = [run for run in runs if len(run) >= least]
        chosen = [long_runs[rivals.index(param)]] if len(long_runs) == len(rivals) else []
    return [(n.start, n.end, _on_the_globe(reading, n)) for run in chosen for n in run]


def _takes_numbers(param: Param) -> bool:
    return param.spec.items is not None and param.spec.items.type in ("integer", "number")


def _on_the_globe(reading: Reading, number: NumberMention) -> JsonValue:
    """Read "112.07 W" as -112.07."""
    side = _SIDE.match(reading.text.raw, number.end)
    return -number.value if side and side[1] in "SW" else number.value


def _run_of_names(reading: Reading, param: Param, params: Sequence[Param]) -> list[tuple[int, int, JsonValue]]:
    """Take two or more names or quotes in a row, for the only list of words, or the one that was named before them."""
    if reading.language != "en" or not param.spec.required:
        return []
    runs: list[list[Phrase]] = []
    for phrase in reading.phrases:
        if runs and _BETWEEN_NAMES.fullmatch(reading.text.folded, runs[-1][-1].end, phrase.start):
            runs[-1].append(phrase)
        else:
            runs.append([phrase])
    long_runs = [run for run in runs if len(run) > 1]
    is_only = sum(p.kind is Kind.ARRAY and p.spec.required for p in params) == 1
    labels = reading.label_spans(param)
    named = [run for run in long_runs if reading.is_labelled(labels, run[0].start, run[-1].end)]
    chosen = named[:1] or (long_runs if is_only and len(long_runs) == 1 else [])
    return [(phrase.start, phrase.end, phrase.text) for run in chosen for phrase in run]
