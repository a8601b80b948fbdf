"""Gives free text to the parameters it was said for: named with a colon, quoted, or what is left of an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from workers.extraction.assign_measures import wants_measure
from workers.extraction.clues import small_words
from workers.extraction.continuation import is_filler, steering
from workers.extraction.kinds import Kind
from workers.extraction.params import Param
from workers.extraction.reading import Reading, Standing
from workers.extraction.said import Found, Said
from workers.extraction.text import fold, overlaps, words_of
from workers.extraction.wording import starts_phrase

Span = tuple[int, int]

FREE = frozenset({Kind.TEXT, Kind.ADDRESS})
_OPENING = re.compile(r"\s*(?:[:=]|\s-\s|is\b|on\b|это\b)\s*")
_STOP = re.compile(r"\n|\s/\s|;|\)|\.(?=\s|$)|\s\|\s|\?")
_QUOTED = re.compile(r"[\"«“„](?P<said>[^\"»”“]{1,200})[\"»”“]|(?<!\w)['‘](?P<single>\S(?:[^\n]{0,198}?\S)?)['’](?!\w)")
_BESIDE_QUOTE = re.compile(r"[\s:=-]*(?:(?:is|of|called|named|nimega|on|под названием)\s+)?")
_CALLED = frozenset({"is", "named", "called", "nimega", "nimi", "on"})
_PARTS = re.compile(r"\s*(?:[,;\n]|\s/\s)\s*")
_EDGE = " \t\r\n,;:-/|.()\"«»“”„!'"
_COMPANY_TOLD = re.compile(r"\bcompany\b|\bettevotte\b|\bfirma\b|\bкомпани|\bфирм|\bпредприяти")
# The noun is an object here: after a subject ("is the company still active", "millal firma asutati") no name follows.
_COMPANY = re.compile(
    r"(?<!\w)(?:(?:about|behind|owns?|find|look up|check|show|search for|search) (?:me )?the (?:company|firm|business)"
    r"(?: (?:called|named))?|(?:company|firm|business) (?:called|named)|(?:firmat|ettevotet)(?: nimega)?|"
    r"(?:firma|ettevote) nimega|(?:otsi|leia|naita|vaata|kontrolli) (?:firma|ettevotte)|"
    r"(?:фирму|компанию)(?: под названием)?|(?:фирма|компания|предприятие) под названием|"
    r"(?:наиди|покажи|проверь) предприятие)\s+"
    r"(?P<said>(?!(?:andme|info|nime|kood|registri|omanik|asutaja|data|details|code|website|owner|данные|код|влад)\w*)"
    r"[^\W\d_][\w&'-]*(?:\s[\w&'-]+){0,3})\s*[?.!]*\s*$"
)
_CAPITALISED_RUN = re.compile(
    r"(?<!\w)(?:[A-ZÄÖÜÕŠŽА-ЯЁ][\w&'.-]*|\d{6,})(?:\s(?:[A-ZÄÖÜÕŠŽА-ЯЁ][\w&'.-]*|OÜ|AS|и|&))*"
)
_PLACE = re.compile(r"\b(?:location|city|town|area|destination|origin|where|airport|from|to|linn|koht)\b")
_NO_PLACE = re.compile(r"\bname\b|\bdate\b|\btime\b")
_INSIDE = re.compile(r"(?:^|\W)(?:in|at|near|around|to|from)\s+(?:the\s+)?$")
_SPEAKS = re.compile(r"(?:i|we)(?:'d| would)? (?:like|prefer|want|need|live|am|go)\b")
_PLACE_LEAD = re.compile(
    r"(?:(?:it|that|this)(?:'s| is| should be| will be| would be)\s+)?(?:(?:in|at|near|around|to|from)\s+)?(?:the\s+)?"
)
# A capital after a full stop says nothing.
_OPENS = re.compile(r"[.!?]\s+$")
_LONGEST_TEXT = 200
_LONGEST_QUESTION_LIKE = 2
_SENTENCE_WORDS = 5
_BESIDE = 3


def assign_text(reading: Reading, params: Sequence[Param], standing: Standing, *, labels: list[Span]) -> Found:
    """Fill the free-text parameters of one endpoint from what no other parameter has claimed.

    `labels` are the places where any parameter of the collection is called by name: a text ends before the next one.
    """
    found: Found = {}
    taken = standing.taken
    for param in (p for p in params if p.kind in FREE and not wants_measure(p)):
        said = _named(reading, param, labels, taken) or _quoted(reading, param, params, taken)
        if said is None and param.name not in standing.known and param.spec.required and param.kind is Kind.TEXT:
            said = _proper(reading, param, taken) or _company(reading, param, taken)
        if said is not None:
            found[param.name] = said
    waiting = [p for p in params if p.kind in FREE and p.name in standing.asked and p.name not in found]
    if not reading.every_number:
        waiting = [p for p in waiting if not wants_measure(p)]
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
    """Take what stands in quotation marks: right after the parameter's name, or anywhere for the only text."""
    is_only = param.kind is Kind.TEXT and sum(p.kind is Kind.TEXT for p in params) == 1
    labels = reading.label_spans(param)
    for match in _QUOTED.finditer(reading.text.raw):
        span = match.span("said" if match["said"] else "single")
        is_named = any(
            end <= match.start() and _BESIDE_QUOTE.fullmatch(reading.text.folded, end, match.start())
            for _, end in labels
        )
        if (is_only or is_named) and not overlaps(*span, taken) and reading.is_wanted(*span):
            return Said(value=reading.text.between(*span).strip(), start=span[0], end=span[1])
    return None


def _proper(reading: Reading, param: Param, taken: list[Span]) -> Said | None:
    """Take a name in capitals (or a long code) that stands right after a word by which the parameter is called."""
    stems = {word for label in param.labels for word in label if len(word) > 3}  # noqa: PLR2004 - "of", "or", "the"
    for match in _CAPITALISED_RUN.finditer(reading.text.raw):
        if re.fullmatch(r"I(?:['’]\w+)?", match.group()) or _OPENS.search(reading.text.raw[: match.start()]):
            continue
        before = [word.folded for word in reading.text.words if word.end <= match.start()][-2:]
        if before and before[-1] in _CALLED:
            before.pop()
        is_named = bool(before) and any(before[-1][:4] == stem[:4] for stem in stems)
        if is_named and not overlaps(*match.span(), taken) and reading.is_wanted(*match.span()):
            start, end = _trim(reading, *match.span())
            return Said(value=reading.text.between(start, end), start=start, end=end)
    return None


def _company(reading: Reading, param: Param, taken: list[Span]) -> Said | None:
    """Take a company's name in small letters that ends the message: "who owns the company bolt technology"."""
    told = fold(" ".join((param.named, param.spec.description, *param.spec.labels.values())))
    match = _COMPANY.search(reading.text.folded) if _COMPANY_TOLD.search(told) else None
    if match is None or overlaps(*match.span("said"), taken) or not reading.is_wanted(*match.span("said")):
        return None
    words = [word.folded for word in words_of(match["said"])]
    if any(word in small_words() or steering(word) or is_filler(word) for word in words):
        return None
    start, end = match.span("said")
    return Said(value=reading.text.between(start, end), start=start, end=end)


def _answered(reading: Reading, waiting: Sequence[Param], taken: list[Span], labels: list[Span]) -> Found:
    """Take what is left of an answer, when it is one text for one parameter, or as many parts as parameters."""
    if not waiting:
        return {}
    start, end = left_over(reading, taken, labels)
    if start >= end or not could_be_value(reading, start, end):
        return {}
    if len(waiting) == 1 and is_place(waiting[0]):
        start, end = _place_in(reading, start, end)
    if len(waiting) == 1:
        return {waiting[0].name: Said(value=reading.text.between(start, end), start=start, end=end)}
    parts = [part for part in _PARTS.split(reading.text.between(start, end)) if part]
    if len(parts) != len(waiting):
        return {}
    return {p.name: Said(value=part, start=start, end=end) for p, part in zip(waiting, parts, strict=True)}


def is_place(param: Param) -> bool:
    """Whether it wants a place, by its name."""
    return param.kind is Kind.CITY or (_PLACE.search(param.named) is not None and not _NO_PLACE.search(param.named))


def _place_in(reading: Reading, start: int, end: int) -> Span:
    """Of "somewhere in Sunnyvale" take the place; of anything else all."""
    named = [
        p
        for p in reading.phrases
        if start <= p.start and p.end <= end and _INSIDE.search(reading.text.folded[: p.start])
    ]
    inside = [p for p in reading.phrases if start <= p.start and p.end <= end]
    if not named and len(inside) == 1 and _SPEAKS.match(reading.text.folded, start, end):
        named = inside
    if named:
        return named[-1].start, named[-1].end
    lead = _PLACE_LEAD.match(reading.text.folded, start, end)
    return (lead.end(), end) if lead and lead.end() < end else (start, end)


def left_over(reading: Reading, taken: list[Span], labels: list[Span]) -> Span:
    """Return the longest stretch that nobody claimed, without the connecting words at its edges.

    A sentence that is the whole message keeps its words but for courtesies.
    """
    others = [*taken, *_labels_beside(labels, taken)]
    if not others and len(reading.words) >= _SENTENCE_WORDS and not any(start == 0 for start, _ in reading.excluded):
        return _trim(reading, 0, len(reading.text.raw), key="courtesy")
    cuts = sorted([*others, *reading.excluded])
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


def _trim(reading: Reading, start: int, end: int, *, key: str = "connectors") -> Span:
    """Drop punctuation and connecting words at both ends; `key` names the phrases that connect."""
    raw = reading.text.raw
    while True:
        before = (start, end)
        while start < end and raw[start] in _EDGE:
            start += 1
        while start < end and raw[end - 1] in _EDGE:
            end -= 1
        inside = [word for word in reading.text.words if start <= word.start and word.end <= end]
        if len(inside) > 1 and _is_among(key, inside[0].folded):
            start = inside[0].end
        elif len(inside) > 1 and _is_among(key, inside[-1].folded):
            end = inside[-1].start
        if before == (start, end):
            return start, end


def _is_among(key: str, word: str) -> bool:
    return starts_phrase([word.replace("'", "")], 0, key) == 1


def could_be_value(reading: Reading, start: int, end: int) -> bool:
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
