"""Gives numbers to the parameters whose words stand nearest: "a base of 10 and a height of 5", "for 3 days", "$100"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workers.extraction.assign_numbers import NUMERIC, are_enumerated, number_found
from workers.extraction.clues import distinct_clues, is_clue, small_words, telling_words, unit_of, weight_of
from workers.extraction.params import Param
from workers.extraction.reading import Reading, Standing
from workers.extraction.said import Found
from workers.extraction.text import overlaps
from workers.extraction.values_numbers import NumberMention

_FARTHEST = 6
_FARTHEST_CHARS = 60
_SIGN_BEFORE = re.compile(r"([$€£])\s?$")
_UNIT_AFTER = re.compile(r"\s?(%|€|\$|[a-z]{1,3}(?![a-z]))")
_LEAST = 0.7
_SURE = 1.0
_BREAK = re.compile(
    r"[,;!?()]|\.(?=\s)|(?<!\w)(?:and|or|with|at|while|having|given|if|than|from|ja|ning|voi|и|или|с|на)(?!\w)"
)
# The preposition right before a number belongs to it ("sold at $25"), and parts nothing.
_LEAD_IN = re.compile(r"\s(?:at|with|from|by|to|of|is|as|being)\s[$€£]?$")
# "for two", "a group of four", "neljale", "на двоих" tell how many people; a noun after it would be what is counted.
_PEOPLE_BEFORE = re.compile(r"(?<!\w)(?:for|(?:group|party|table|family) of|на|для)\s+(?:just\s+|only\s+)?$")
_PEOPLE = re.compile(r"двоих|троих|четверых|пятерых|шестерых|kahele|kolmele|neljale|viiele|kuuele")
_NO_NOUN = re.compile(
    r"\s*(?:[,.;!?)]|$)|\s+(?:to|in|at|on|from|with|please|and|as|for|by|near|ja|ning|и|в|на|с)(?!\w)"
)
_COUNTS = re.compile(r"\b(?:num|number|count|how many|total|top|limit|days?|weeks?|months?|years?|hours?|minutes?)\b")
_SHARE = re.compile(r"\bprob(?:ability)?\b|\btoenaosus|\bвероятност")
_COUNTED = frozenset({"day", "week", "month", "year", "hour", "minute", "second", "quarter"})
_ORDINAL = re.compile(r"(?<![a-z])(?:first|second|third|fourth|initial|[a-z]|\d+)(?![a-z])|\d+$")


@dataclass(frozen=True)
class _Near:
    """How much speaks for a number being a parameter's."""

    score: float
    param: Param
    number: NumberMention


def assign_near(reading: Reading, params: Sequence[Param], standing: Standing) -> Found:
    """Fill open parameters that take numbers from numbers that nobody has claimed, by the words around them.

    What is required may also be filled by what is left over: one number for one parameter, or a plain enumeration
    ("12 and 18") for parameters that are counted themselves (num1, num2).
    """
    open_ones = [p for p in params if p.kind in NUMERIC and p.name not in standing.known]
    if not open_ones:
        return {}
    left = _free(reading, standing)
    found = _enumerated(reading, open_ones, left)
    left = [n for n in left if not overlaps(n.start, n.end, [(said.start, said.end) for said in found.values()])]
    open_ones = [p for p in open_ones if p.name not in found]
    if not left or not open_ones:
        return found
    clues = distinct_clues([p for p in params if p.kind in NUMERIC])
    beside = {number: _beside(reading, number, left) for number in left}
    nearness = sorted(
        (
            _Near(_score(beside[number], clues[p.name]), p, number)
            for p in open_ones
            for number in left
            if not number.spelled or _counts(p) or _is_named_after(reading, p, number)
        ),
        key=lambda near: -near.score,
    )
    for near in nearness:
        is_taken = near.param.name in found or near.number not in left
        if near.score < (_LEAST if near.param.spec.required else _SURE) or is_taken:
            continue
        filled = number_found(near.param, near.number)
        if filled and not _is_impossible(near):
            found |= filled
            left.remove(near.number)
    return found | _left_over(reading, [p for p in open_ones if p.name not in found and p.spec.required], left)


def changed_counts(reading: Reading, params: Sequence[Param], standing: Standing) -> Found:
    """Take a number for what is known already where its noun follows: "make it for two people", "I want 3 tickets".

    A noun that speaks for more than one of them changes none.
    """
    numeric = [p for p in params if p.kind in NUMERIC]
    spans = standing.taken
    left = [n for n in _free(reading, standing) if not overlaps(n.start, n.end, spans)] if numeric else []
    found: Found = {}
    for number in left:
        meant = [p for p in numeric if _is_counted_by_name(reading, p, number)]
        if len(meant) == 1:
            found |= number_found(meant[0], number)
    return found


def _is_counted_by_name(reading: Reading, param: Param, number: NumberMention) -> bool:
    following = re.match(r"[\s-]+([^\W\d_]+)", reading.text.folded[number.end :])
    if following is None:
        return _tells_people(reading, number) and "person" in telling_words(param.spec.name)
    word, names = following[1], telling_words(param.spec.name)
    return any(is_clue(word, name) for name in names)


def _counts(param: Param) -> bool:
    """Whether it says how many: only such are told in words ("three days")."""
    return _COUNTS.search(f"{param.named} {param.spec.description.lower()}") is not None


def _is_named_after(reading: Reading, param: Param, number: NumberMention) -> bool:
    """Whether a word of its name follows at once: "a three star hotel" for a star rating."""
    following = re.match(r"[\s-]+([^\W\d_]+)", reading.text.folded[number.end :])
    return following is not None and any(is_clue(following[1], word) for word in telling_words(param.spec.name))


def _is_impossible(near: _Near) -> bool:
    """A probability is no more than one, or a percentage."""
    is_share = _SHARE.search(near.param.named) is not None
    return is_share and near.number.value > 1 and not near.number.is_percentage


def _free(reading: Reading, standing: Standing) -> list[NumberMention]:
    """Return the unclaimed numbers, those in a stretch of days ("the next 5 days") when they count days or so."""
    return [
        n
        for n in reading.every_number
        if not overlaps(n.start, n.end, standing.taken)
        and (not overlaps(n.start, n.end, reading.day_spans) or _counts_time(reading, n))
        and (not n.spelled or _counts_something(reading, n))
    ]


def _counts_time(reading: Reading, number: NumberMention) -> bool:
    following = re.match(r"[\s-]*([a-z]+)", reading.text.folded[number.end :])
    return following is not None and unit_of(following[1]) in _COUNTED


def _enumerated(reading: Reading, params: Sequence[Param], left: Sequence[NumberMention]) -> Found:
    """Give "3, 4 and 5" to three parameters that differ in their count alone."""
    required = [p for p in params if p.spec.required]
    plain = [n for n in left if not n.spelled]
    if not 1 < len(required) == len(plain) or not (_are_siblings(required) and are_enumerated(reading, plain)):
        return {}
    found: Found = {}
    for param, number in zip(required, plain, strict=True):
        found |= number_found(param, number)
    return found


def _counts_something(reading: Reading, number: NumberMention) -> bool:
    """A number in words counts only before a noun ("three days"), not as a word of its own ("this one")."""
    if _tells_people(reading, number):
        return True
    following = re.match(r"\s+([^\W\d_]{3,})", reading.text.folded[number.end :])
    return following is not None and following[1] not in small_words()


@dataclass(frozen=True)
class _Beside:
    """A word or sign near a number, and how many steps lie between."""

    word: str
    steps: int


def _tells_people(reading: Reading, number: NumberMention) -> bool:
    folded = reading.text.folded
    is_form = _PEOPLE.fullmatch(folded, number.start, number.end) is not None
    is_told = _PEOPLE_BEFORE.search(folded, 0, number.start) is not None
    return (is_form or is_told) and _NO_NOUN.match(folded, number.end) is not None


def _beside(reading: Reading, number: NumberMention, numbers: Sequence[NumberMention]) -> list[_Beside]:
    """Return the words near a number; clauses and other numbers between count as more steps."""
    folded = reading.text.folded
    found = [
        _Beside(sign, 0)
        for match in (_SIGN_BEFORE.search(folded, 0, number.start), _UNIT_AFTER.match(folded, number.end))
        if match and (sign := match[1])
    ]
    found += [_Beside("people", 0)] if _tells_people(reading, number) else []
    for word in reading.text.words:
        is_before = word.end <= number.start
        start, end = (word.end, number.start) if is_before else (number.end, word.start)
        if not 0 <= end - start <= _FARTHEST_CHARS or (word.start < number.end and not is_before):
            continue
        between = _LEAD_IN.sub("", folded[start:end]) if is_before else folded[start:end]
        steps = len(between.split()) + 2 * len(_BREAK.findall(between))
        steps += 3 * sum(start <= other.start < end for other in numbers if other is not number)
        if steps <= _FARTHEST:
            found.append(_Beside(word.folded, steps))
    return found


def _score(beside: Sequence[_Beside], clues: Mapping[str, float]) -> float:
    """Weigh the two words that speak loudest; each step weakens a word."""
    best: dict[str, float] = {}
    for near in beside:
        weight = weight_of(near.word, clues)
        if weight:
            key = unit_of(near.word)
            best[key] = max(best.get(key, 0.0), weight / (1 + near.steps / 2))
    return sum(sorted(best.values())[-2:])


def _left_over(reading: Reading, params: Sequence[Param], left: Sequence[NumberMention]) -> Found:
    plain = [number for number in left if not number.spelled]
    if not params or len(params) != len(plain):
        return {}
    if len(params) > 1 and not (_are_siblings(params) or are_enumerated(reading, plain)):
        return {}
    found: Found = {}
    for param, number in zip(params, plain, strict=True):
        found |= number_found(param, number)
    return found


def _are_siblings(params: Sequence[Param]) -> bool:
    """Whether the names differ in their count alone: num1 and num2, x and y, first and second side."""
    return len({_ORDINAL.sub("", param.named).strip() for param in params}) == 1
