"""Gives free text to the parameters it was said for: named with a colon, quoted, or what is left of an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from schemas.base import JsonValue
from workers.extraction.assign_names import NAMED, name_value
from workers.extraction.continuation import is_filler, steering
from workers.extraction.params import Kind, Param, param_of
from workers.extraction.reading import Reading, Standing
from workers.extraction.said import Found, Said
from workers.extraction.text import overlaps
from workers.extraction.values_names import NameMention
from workers.extraction.values_options import options_in
from workers.extraction.wording import starts_phrase

Span = tuple[int, int]

FREE = frozenset({Kind.TEXT, Kind.ADDRESS})
_OPENING = re.compile(r"\s*(?:[:=]|\s-\s|is\b|on\b|это\b)\s*")
_STOP = re.compile(r"\n|\s/\s|;|\)|\.(?=\s|$)|\s\|\s|\?")
_QUOTED = re.compile(r"[\"«“„](?P<said>[^\"»”“]{1,200})[\"»”“]")
_PARTS = re.compile(r"\s*(?:[,;\n]|\s/\s)\s*")
_LIST = re.compile(r"\s*(?:[,;\n]|(?<!\w)(?:and|ja|ning|и)(?!\w))\s*")
_EDGE = " \t\r\n,;:-/|.()\"«»“”„!'"
_CAPITALISED_RUN = re.compile(
    r"(?<!\w)(?:[A-ZÄÖÜÕŠŽА-ЯЁ][\w&'.-]*|\d{6,})(?:\s(?:[A-ZÄÖÜÕŠŽА-ЯЁ][\w&'.-]*|OÜ|AS|и|&))*"
)
_LONGEST_TEXT = 200
_LONGEST_QUESTION_LIKE = 2
_BESIDE = 3


def assign_text(reading: Reading, params: Sequence[Param], standing: Standing, *, labels: list[Span]) -> Found:
    """Fill the free-text parameters of one endpoint from what no other parameter has claimed.

    `labels` are the places where any parameter of the collection is called by name: a text ends before the next one.
    """
    found: Found = {}
    taken = standing.taken
    for param in (p for p in params if p.kind in FREE):
        said = _named(reading, param, labels, taken) or _quoted(reading, param, params, taken)
        if said is None and param.name not in standing.known and param.spec.required and param.kind is Kind.TEXT:
            said = _proper(reading, param, taken)
        if said is not None:
            found[param.name] = said
    waiting = [p for p in params if p.kind in FREE and p.name in standing.asked and p.name not in found]
    claimed = [*taken, *((said.start, said.end) for said in found.values())]
    return found | _answered(reading, waiting, claimed, labels)


def _named(reading: Reading, param: Param, labels: list[Span], taken: list[Span]) -> Said | None:
    """Take what stands after "Address:" up to the next sign, or the next parameter's name."""
    for _, label_end in reading.label_spans(param):
        opening = _OPENING.match(reading.text.folded, label_end)
        if not opening:
            continue
        start = opening.end()
        stop = _STOP.search(reading.text.folded, start)
        end = min(
            stop.start() if stop else len(reading.text.raw), *_beginnings(labels, taken, start), start + _LONGEST_TEXT
        )
        start, end = _trim(reading, start, end)
        if start < end:
            return Said(value=reading.text.between(start, end), start=start, end=end)
    return None


def _beginnings(labels: list[Span], taken: list[Span], after: int) -> list[int]:
    return [start for start, _ in (*labels, *taken) if start > after] or [10**9]


def _quoted(reading: Reading, param: Param, params: Sequence[Param], taken: list[Span]) -> Said | None:
    if sum(p.kind is Kind.TEXT for p in params) != 1 or param.kind is not Kind.TEXT:
        return None
    match = _QUOTED.search(reading.text.raw)
    if not match or overlaps(*match.span("said"), taken) or not reading.is_wanted(*match.span("said")):
        return None
    return Said(value=match["said"].strip(), start=match.start("said"), end=match.end("said"))


def _proper(reading: Reading, param: Param, taken: list[Span]) -> Said | None:
    """Take a name in capitals (or a long code) that stands right after a word by which the parameter is called."""
    stems = {word for label in param.labels for word in label if len(word) > 3}  # noqa: PLR2004 - "of", "or", "the"
    for match in _CAPITALISED_RUN.finditer(reading.text.raw):
        before = [word.folded for word in reading.text.words if word.end <= match.start()][-2:]
        is_named = any(word[:4] == stem[:4] for word in before for stem in stems)
        if is_named and not overlaps(*match.span(), taken) and reading.is_wanted(*match.span()):
            start, end = _trim(reading, *match.span())
            return Said(value=reading.text.between(start, end), start=start, end=end)
    return None


def _answered(reading: Reading, waiting: Sequence[Param], taken: list[Span], labels: list[Span]) -> Found:
    """Take what is left of an answer, when it is one text for one parameter, or as many parts as parameters."""
    if not waiting:
        return {}
    start, end = _left_over(reading, taken, labels)
    if start >= end or not _could_be_value(reading, start, end):
        return {}
    if len(waiting) == 1:
        return {waiting[0].name: Said(value=reading.text.between(start, end), start=start, end=end)}
    parts = [part for part in _PARTS.split(reading.text.between(start, end)) if part]
    if len(parts) != len(waiting):
        return {}
    return {p.name: Said(value=part, start=start, end=end) for p, part in zip(waiting, parts, strict=True)}


def _left_over(reading: Reading, taken: list[Span], labels: list[Span]) -> Span:
    """Return the longest stretch that nobody claimed, without the connecting words at its edges."""
    cuts = sorted([*taken, *reading.excluded, *_labels_beside(labels, taken)])
    edges = [(0, 0), *cuts, (len(reading.text.raw), len(reading.text.raw))]
    stretches = [_trim(reading, one[1], two[0]) for one, two in pairwise(edges) if one[1] < two[0]]
    return max(stretches, key=lambda span: span[1] - span[0], default=(0, 0))


def _labels_beside(labels: list[Span], taken: list[Span]) -> list[Span]:
    """Names of other parameters that stand beside a claimed value belong to it."""
    return [
        (start, end)
        for start, end in labels
        if any(
            abs(end - value_start) <= _BESIDE or abs(value_end - start) <= _BESIDE for value_start, value_end in taken
        )
    ]


def _trim(reading: Reading, start: int, end: int) -> Span:
    """Drop punctuation and connecting words at both ends."""
    raw = reading.text.raw
    while True:
        before = (start, end)
        while start < end and raw[start] in _EDGE:
            start += 1
        while start < end and raw[end - 1] in _EDGE:
            end -= 1
        inside = [word for word in reading.text.words if start <= word.start and word.end <= end]
        if len(inside) > 1 and _is_connector(inside[0].folded):
            start = inside[0].end
        elif len(inside) > 1 and _is_connector(inside[-1].folded):
            end = inside[-1].start
        if before == (start, end):
            return start, end


def _is_connector(word: str) -> bool:
    return starts_phrase([word.replace("'", "")], 0, "connectors") == 1


def _could_be_value(reading: Reading, start: int, end: int) -> bool:
    """Whether an answer can be a value: no question, no hesitation, no steering, not too long."""
    said = reading.text.between(start, end)
    if end - start > _LONGEST_TEXT or is_filler(said) or steering(said) or is_filler(reading.text.raw):
        return False
    if starts_phrase(reading.words, 0, "drop"):
        return False
    words = [word for word in reading.text.words if start <= word.start and word.end <= end]
    asks = reading.text.raw.rstrip().endswith("?")
    opens = bool(words) and starts_phrase([words[0].folded.replace("'", "")], 0, "openers") == 1
    return bool(words) and not asks and not (opens and len(words) > _LONGEST_QUESTION_LIKE)


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
        return (
            [(n.start, n.end, n.value) for n in reading.numbers] if param.name in asked or param.spec.required else []
        )
    start, end = _left_over(reading, taken, reading.label_spans(param))
    if param.name not in asked or start >= end or not _could_be_value(reading, start, end):
        return []
    parts = [part for part in _LIST.split(reading.text.between(start, end)) if part]
    return [(start, end, part) for part in parts]
