"""Gives a sum of money, a mark or a length to text parameters that want one: "$82", "rated 4.2", "six nights"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workers.extraction.clues import unit_of
from workers.extraction.kinds import Kind
from workers.extraction.params import Param
from workers.extraction.reading import Reading, Span
from workers.extraction.said import Found, Said
from workers.extraction.text import fold, overlaps

_SUM = re.compile(r"\b(?:amount|sum|summa)\b")
_MARK = re.compile(r"\b(?:rating|score)\b")
_LENGTH = re.compile(r"\b(?:length|duration|kestus)\b")
_LENGTH_UNIT = re.compile(r"\bin (day|night|hour|minute|week|month)s?\b")
_MONEY = re.compile(
    r"\s?(?:€|\$|£)|\s+(?:dollars?|bucks?|euros?|eur|usd|gbp|pounds?|quid|eurot|eurosid|dollarit|евро|долларов|доллара?|"
    r"рублеи|рубля?)(?!\w)"
)
_SIGN_BEFORE = re.compile(r"[€$£]\s?$")
_TENS_BEFORE = re.compile(r"(?:(?:an?|one|two|three|four|five|six|seven|eight|nine)\s+hundred(?:\s+and)?\s+)$")
_MARK_BEFORE = re.compile(
    r"(?<!\w)(?:rated|ratings?|scores?|hinne|hindega|hinnanguga|реитинг\w*|оценк\w*)"
    r"(?:\s+(?:(?:to|should|must|will|would) be|is|of|has|at least|above|over|minimum|vahemalt|не ниже|от))*"
    r"(?:\s+at least)?\s+$"
)
_MARK_AFTER = re.compile(r"(?:\s+(?:or|and)\s+(?:higher|more|above|better|up))?[\s-]+(?:ratings?|rated|scores?)(?!\w)")
_COUNTED_AFTER = re.compile(r"[\s-]+([^\W\d_]+)")
_NIGHT = frozenset(
    {"night", "nights", "oo", "ood", "ooks", "ночь", "ночи", "ночеи", "днеи", "дня", "день", "paeva", "paevaks"}
)


def wants_measure(param: Param) -> bool:
    """Whether a text parameter wants a sum of money, a mark, or a length in a unit that its description names."""
    if param.kind is not Kind.TEXT or param.spec.enum:
        return False
    return any(sort.search(param.named) for sort in (_SUM, _MARK)) or _length_unit(param) is not None


def assign_measures(reading: Reading, params: Sequence[Param], *, taken: Sequence[Span]) -> Found:
    """Give each such parameter the last one of its sort that was said, as it was said; a length as its number."""
    found: Found = {}
    for param in (p for p in params if wants_measure(p)):
        spans = [*taken, *((one.start, one.end) for one in found.values())]
        sorts = (_sums, _marks, _lengths)
        said = [one for sort in sorts for one in sort(reading, param) if not overlaps(one.start, one.end, spans)]
        if said:
            found[param.name] = said[-1]
    return found


def _sums(reading: Reading, param: Param) -> list[Said]:
    if not _SUM.search(param.named):
        return []
    folded, found = reading.text.folded, []
    for number in reading.numbers:
        sign, unit = _SIGN_BEFORE.search(folded, 0, number.start), _MONEY.match(folded, number.end)
        hundreds = _TENS_BEFORE.search(folded, 0, number.start) if number.spelled else None
        start = sign.start() if sign else hundreds.start() if hundreds else number.start
        end = unit.end() if unit else number.end
        if sign or unit or reading.is_labelled(reading.label_spans(param), start, end):
            found.append(Said(value=reading.text.between(start, end), start=start, end=end))
    return found


def _marks(reading: Reading, param: Param) -> list[Said]:
    if not _MARK.search(param.named):
        return []
    folded = reading.text.folded
    return [
        Said(value=reading.text.between(number.start, number.end), start=number.start, end=number.end)
        for number in reading.numbers
        if _MARK_BEFORE.search(folded, 0, number.start) or _MARK_AFTER.match(folded, number.end)
    ]


def _length_unit(param: Param) -> str | None:
    unit = _LENGTH_UNIT.search(fold(param.spec.description)) if _LENGTH.search(param.named) else None
    return unit[1] if unit else None


def _lengths(reading: Reading, param: Param) -> list[Said]:
    unit = _length_unit(param)
    if unit is None:
        return []
    found = []
    for number in reading.every_number:
        counted = _COUNTED_AFTER.match(reading.text.folded, number.end)
        is_night = unit in ("day", "night") and counted is not None and counted[1] in _NIGHT
        if counted and (is_night or unit_of(counted[1]) == unit) and float(number.value).is_integer():
            found.append(Said(value=str(int(number.value)), start=number.start, end=number.end))
    return found
