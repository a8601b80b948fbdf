"""Gives numbers to the parameters that were named beside them, and the one that is left to the one that is open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from workers.extraction.clues import is_clue, telling_words
from workers.extraction.kinds import Kind
from workers.extraction.params import Param
from workers.extraction.reading import Reading, Span, Standing, is_bare
from workers.extraction.said import Doubt, Found, Refused, Said
from workers.extraction.text import overlaps
from workers.extraction.values_numbers import NumberMention

NUMERIC = frozenset({Kind.INTEGER, Kind.NUMBER, Kind.AGE})
_AGE_AFTER = re.compile(r"[\s-]*(?:years? old|y\.?o\b|aasta(?:ne|selt|se|t vana|ne laps)\w*|лет|год)")
_PERCENT = 100
_RUN = re.compile(r"\s*(?:,|and|&|ja|ning|и|x|×|by|,\s*and)\s*")
_WORD_AFTER = re.compile(r"[\s-]+([^\W\d_]+)")
_WORD_BEFORE = re.compile(r"([^\W\d_]+)(?:\s+(?:of|is|at least|on)|:)?\s+$")
_UNIT = re.compile(r"(?:\s?[a-z°%]{1,10})?(?=\s|,)")


def assign_numbers(reading: Reading, params: Sequence[Param], standing: Standing) -> Found:
    """Fill what takes a number from the numbers of the message that nobody has claimed."""
    numeric = [p for p in params if p.kind in NUMERIC]
    left = [n for n in reading.numbers if not overlaps(n.start, n.end, standing.taken)]
    found = _in_order(reading, numeric, left)
    spans = [(said.start, said.end) for said in found.values()]
    left = [n for n in left if not overlaps(n.start, n.end, spans)]
    for param in (p for p in numeric if p.name not in found):
        labels = reading.label_spans(param)
        # In "1 hour 5 minutes" the hour is the unit of what stands before it, and no name for what follows.
        counted = [n for n in left if _is_counted(reading, labels, n) or _is_age(reading, param, n)]
        hits = counted or [n for n in left if reading.is_labelled(labels, n.start, n.end)]
        for number in hits[-1:]:
            found |= number_found(param, number)
            left.remove(number)
    waiting = [p for p in numeric if p.name not in found]
    open_ones = [p for p in waiting if p.name in standing.asked] or [
        p for p in waiting if p.spec.required and p.name not in standing.known
    ]
    others = [p for p in waiting if p not in open_ones]
    plain = [
        n
        for n in left
        if (not n.spelled or _counts_value(reading, n, standing) or (open_ones and open_ones[0].name in standing.asked))
        and not _is_named(reading, others, open_ones, n)
    ]
    if len(open_ones) == len(plain) and _can_pair(reading, open_ones, plain, standing.asked):
        for param, number in zip(open_ones, plain, strict=True):
            found |= number_found(param, number) or _refused(reading, param, number, standing.asked)
    return found


def _counts_value(reading: Reading, number: NumberMention, standing: Standing) -> bool:
    """Whether a number in words counts what another parameter took: "twenty euros". "One" may be any word."""
    beside = reading.text.raw[number.end :]
    start = number.end + len(beside) - len(beside.lstrip())
    return number.value != 1 and any(start == taken for taken, _ in standing.taken)


def _is_named(reading: Reading, others: Sequence[Param], than: Sequence[Param], number: NumberMention) -> bool:
    """Whether the word beside a number is of another parameter's name: "4 star", "a rating of 3"."""
    folded = reading.text.folded
    beside = [_WORD_AFTER.match(folded, number.end), _WORD_BEFORE.search(folded, 0, number.start)]
    own, theirs = ({word for p in params for word in telling_words(p.spec.name)} for params in (than, others))
    said = [match[1] for match in beside if match]
    return any(is_clue(word, clue) for word in said for clue in theirs) and not any(
        is_clue(word, clue) for word in said for clue in own
    )


def _refused(reading: Reading, param: Param, number: NumberMention, asked: Sequence[str]) -> Found:
    """Tell that a number which alone answers the question is none of the choices."""
    if not param.spec.enum or param.name not in asked or not is_bare(reading, number.start, number.end):
        return {}
    words = reading.text.between(number.start, number.end)
    return {param.name: Refused(fault="not_option", words=words, start=number.start, end=number.end)}


def _can_pair(reading: Reading, params: Sequence[Param], left: Sequence[NumberMention], asked: Sequence[str]) -> bool:
    """One number for one parameter; several only as a bare list in answer to a question that named them in order."""
    if len(params) == 1:
        return True
    between = reading.text.folded[left[0].start : left[-1].end] if left else ""
    return (
        set(asked) >= {p.name for p in params}
        and re.fullmatch(r"[\d\s.,;x×*-]+(?:and|ja|и)?[\d\s.,]*", between) is not None
    )


def _is_counted(reading: Reading, labels: Sequence[Span], number: NumberMention) -> bool:
    """Whether one of the names stands right after the number, as its unit."""
    return any(
        number.end <= start and re.fullmatch(r"[.\s-]{0,2}", reading.text.folded[number.end : start])
        for start, _ in labels
    )


def _is_age(reading: Reading, param: Param, number: NumberMention) -> bool:
    return param.kind is Kind.AGE and _AGE_AFTER.match(reading.text.folded, number.end) is not None


def number_found(param: Param, number: NumberMention) -> Found:
    """Write a number as the parameter wants it; nothing when it wants whole ones, a doubt when it has two readings."""
    wants_whole = param.spec.type == "integer"
    readings = [value for value in (number.value, number.other) if value is not None]
    if number.is_percentage and not wants_whole and not param.counts_in_percent:
        readings = [value / _PERCENT for value in readings]
    fitting = [int(v) if wants_whole else v for v in readings if not wants_whole or float(v).is_integer()]
    if param.spec.enum:
        allowed = [
            option for v in readings if float(v).is_integer() and (option := param.as_option(int(v))) is not None
        ]
        return {param.name: Said(value=allowed[0], start=number.start, end=number.end)} if allowed else {}
    if not fitting:
        return {}
    if len(fitting) > 1:
        return {param.name: Doubt(options=tuple(fitting), start=number.start, end=number.end)}
    return {param.name: Said(value=fitting[0], start=number.start, end=number.end)}


def are_enumerated(reading: Reading, numbers: Sequence[NumberMention]) -> bool:
    """Whether the numbers stand in a row, each perhaps with its unit: "6 cm and 10 cm", "30 by 12"."""
    folded = reading.text.folded
    for one, two in pairwise(numbers):
        unit = _UNIT.match(folded, one.end, two.start)
        starts = {one.end, unit.end() if unit else one.end}
        if not any(_RUN.fullmatch(folded, start, two.start) for start in starts):
            return False
    return True


def _in_order(reading: Reading, params: Sequence[Param], numbers: Sequence[NumberMention]) -> Found:
    """Read "base and height as 6 cm and 10 cm": names in a row, then as many numbers in a row."""
    spans = [
        (*span, param) for param in params if param.kind is not Kind.AGE for span in reading.label_spans(param)[-1:]
    ]
    named = sorted(spans, key=lambda one: one[:2])
    folded = reading.text.folded
    for first in range(len(named) - 1):
        row = [named[first]]
        for following in named[first + 1 :]:
            if not _RUN.fullmatch(folded[row[-1][1] : following[0]]):
                break
            row.append(following)
        after = [n for n in numbers if n.start >= row[-1][1]][: len(row)]
        if len(row) > 1 and len(after) == len(row) and are_enumerated(reading, after):
            found: Found = {}
            for (_, _, param), number in zip(row, after, strict=True):
                found |= number_found(param, number)
            return found
    return {}
