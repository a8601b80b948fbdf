"""Gives identifiers, addresses, yes and no, and structured values to the parameters they were said for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from schemas.base import JsonValue
from workers.extraction.assign_numbers import NUMERIC, assign_numbers
from workers.extraction.clues import is_clue
from workers.extraction.continuation import yes_or_no
from workers.extraction.kinds import Kind
from workers.extraction.params import Param
from workers.extraction.reading import Reading, Standing, is_bare
from workers.extraction.said import Found, Said
from workers.extraction.text import fold, overlaps, readable, words_of
from workers.extraction.values_codes import CodeMention
from workers.extraction.wording import holds

# The strictest forms choose first.
_ORDER = (
    Kind.EMAIL, Kind.URL, Kind.UUID, Kind.IBAN, Kind.ADDRESS, Kind.PERSONAL_CODE, Kind.REGISTRY_CODE, Kind.PLATE,
    Kind.POSTCODE, Kind.PHONE, Kind.ID,
)  # fmt: skip
# Forms so loose that they need a name beside them, a question just asked, or the message for themselves.
_LOOSE = frozenset({Kind.PHONE, Kind.POSTCODE})
_LOOKS_LIKE_YEAR = re.compile(r"(?:19|20)\d\d")
_FLAG_WORDS = frozenset(
    {
        "show",
        "include",
        "with",
        "only",
        "is",
        "has",
        "get",
        "use",
        "the",
        "a",
        "an",
        "of",
        "and",
        "all",
        "in",
        "for",
        "allow",
        "allows",
        "allowed",
        "enable",
        "add",
        "want",
        "wants",
        "return",
        "whether",
        "should",
        "can",
        "need",
        "ainult",
        "koos",
        "kas",
        "ja",
        "только",
        "с",
        "и",
    }
)
_NEGATED_WITHIN = 3
_FACTUAL = re.compile(
    r"\W*(?:(?:yes|no|ok|okay|great|good|cool|and|also|what is \w+ (?:address|number|phone)\w* and)\W+)*"
    r"(?:(?:can|could|would|do) you (?:please )?(?:tell me|know|check|say|confirm) (?:if|whether)\b|"
    r"(?:do|does|is|are|was|has|have|did|may|can|what|how) (?!you\b)|kas (?!sa|te)|есть ли|можно ли|у них)"
)
_JSON_OPENING = re.compile(r"[\[{]")
_MOST_PIECES = 20


def assign_codes(reading: Reading, params: Sequence[Param], standing: Standing) -> Found:
    """Give forms, identifiers and numbers out, the strictest forms first; no stretch is given twice."""
    found: Found = {}
    spans = list(standing.taken)
    now = Standing(asked=standing.asked, known=standing.known, taken=spans)
    for param in sorted((p for p in params if p.kind in _ORDER), key=lambda p: _ORDER.index(p.kind)):
        said = _coded(reading, param, params, now)
        if said is not None:
            found[param.name] = said
            spans.append((said.start, said.end))
    return found | assign_numbers(reading, params, now)


def _coded(reading: Reading, param: Param, params: Sequence[Param], standing: Standing) -> Said | None:
    mentions = _candidates(reading, param)
    free = [m for m in mentions if not overlaps(m.start, m.end, standing.taken)]
    labels = reading.label_spans(param)
    labelled = [m for m in free if reading.is_labelled(labels, m.start, m.end)]
    chosen = labelled or [m for m in free if _is_meant(reading, m, param, params, standing)]
    if not chosen:
        return _bare_code(reading, param, standing)
    last = chosen[-1] if reading.corrects or labelled else chosen[0]
    return Said(value=last.written, start=last.start, end=last.end)


def _candidates(reading: Reading, param: Param) -> list[CodeMention]:
    if param.kind is Kind.ADDRESS:
        return reading.addresses
    return reading.identifiers() if param.kind is Kind.ID else reading.codes(param.kind)


def _is_meant(
    reading: Reading, mention: CodeMention, param: Param, params: Sequence[Param], standing: Standing
) -> bool:
    """Whether a mention without a name beside it is for this parameter."""
    is_alone = is_bare(reading, mention.start, mention.end)
    if overlaps(mention.start, mention.end, reading.day_spans):
        return False
    if param.kind is Kind.ID:
        return _identifies(mention, param, params, standing, is_alone=is_alone)
    if param.kind in _LOOSE:
        return param.name in standing.asked or is_alone
    return True


def _identifies(
    mention: CodeMention, param: Param, params: Sequence[Param], standing: Standing, *, is_alone: bool
) -> bool:
    """Whether a word with a digit is this identifier: asked for, or required and with no rival that takes numbers."""
    rivals = [
        p
        for p in params
        if p is not param and (p.kind in NUMERIC or p.kind is Kind.ID) and p.name not in standing.known
    ]
    is_free = not any(p.name in standing.asked or p.spec.required for p in rivals)
    if param.name in standing.asked:
        return is_free or is_alone
    is_open = param.spec.required and param.name not in standing.known and is_free
    return is_open and not _LOOKS_LIKE_YEAR.fullmatch(mention.written)


def _bare_code(reading: Reading, param: Param, standing: Standing) -> Said | None:
    """Take the only word with a digit for what was just asked, though its form is another one than expected."""
    if param.name not in standing.asked or param.kind in (Kind.ADDRESS, Kind.EMAIL, Kind.IBAN, Kind.URL):
        return None
    found = [m for m in reading.identifiers() if not overlaps(m.start, m.end, standing.taken)]
    if len(found) != 1 or not is_bare(reading, found[0].start, found[0].end):
        return None
    return Said(value=found[0].written, start=found[0].start, end=found[0].end)


def assign_flags(reading: Reading, params: Sequence[Param], *, asked: Sequence[str], is_first: bool = True) -> Found:
    """Set a yes-or-no parameter that was named, or answered when it alone was asked.

    Once something is known, "Do they have a terrace?" asks about it, and wishes for nothing.
    """
    found: Found = {}
    for param in (p for p in params if p.kind is Kind.BOOLEAN):
        said = _flag(reading, param)
        if said is None and list(asked) == [param.name]:
            answer = yes_or_no(reading.text.raw)
            said = Said(value=answer == "yes", start=0, end=len(reading.text.raw)) if answer != "unclear" else None
        elif said is not None and not is_first and param.name not in asked and _is_questioned(reading, said):
            said = None
        if said is not None:
            found[param.name] = said
    return found


def _is_questioned(reading: Reading, said: Said) -> bool:
    """Whether the sentence with those words is a question about how something is, and no request in its form."""
    raw = reading.text.raw
    begin = max((raw.rfind(sign, 0, said.start) for sign in ".?!"), default=-1) + 1
    sign = re.search(r"[.?!]", raw[said.end :])
    return sign is not None and sign.group() == "?" and _FACTUAL.match(reading.text.folded, begin) is not None


def _flag(reading: Reading, param: Param) -> Said | None:
    words = reading.text.words
    labels = [*param.spec.labels.values(), readable(param.spec.name)]
    for label in labels:
        wanted = [w.folded for w in words_of(fold(label)) if w.folded not in _FLAG_WORDS]
        places = [next((i for i, w in enumerate(words) if is_clue(w.folded, said)), -1) for said in wanted]
        is_phrase = wanted and min(places) >= 0 and max(places) - min(places) < len(wanted) + 1
        if is_phrase and sum(map(len, wanted)) > _NEGATED_WITHIN:
            first, last = min(places), max(places)
            before = reading.words[max(0, first - _NEGATED_WITHIN) : first]
            return Said(value=not holds(before, "false"), start=words[first].start, end=words[last].end)
    return None


def assign_structures(reading: Reading, params: Sequence[Param], *, asked: Sequence[str]) -> Found:
    """Take JSON for a parameter that wants an object or a list; objects are never made from prose.

    Several values of one sort go by the name before them, else in order when there are as many as parameters.
    """
    found: Found = {}
    pieces = list(_json_pieces(reading.text.raw))
    for kind, sort in ((Kind.OBJECT, dict), (Kind.ARRAY, list)):
        open_ones = [p for p in params if p.kind is kind and (p.name in asked or p.spec.required)]
        left = [piece for piece in pieces if isinstance(piece.value, sort)]
        for param in open_ones:
            labels = reading.label_spans(param)
            named = next((piece for piece in left if reading.is_labelled(labels, piece.start, piece.end)), None)
            if named:
                found[param.name] = named
                left.remove(named)
        still = [p for p in open_ones if p.name not in found]
        if len(still) == 1 or len(still) == len(left):
            found |= {param.name: piece for param, piece in zip(still, left, strict=False)}
    return found


def _json_pieces(raw: str) -> Iterator[Said]:
    """Yield the objects and lists that are written out as JSON, in order, none inside another."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    place = 0
    for _ in range(_MOST_PIECES):
        opening = _JSON_OPENING.search(raw, place)
        if not opening:
            return
        try:
            value, end = decoder.raw_decode(raw, opening.start())
        except (ValueError, RecursionError):
            place = opening.end()
            continue
        yield Said(value=value, start=opening.start(), end=end)
        place = end


def _no_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is no JSON")


def assign_examples(reading: Reading, params: Sequence[Param]) -> Found:
    """Give a text parameter one of the values that its description offers, when exactly that word was said."""
    found: Found = {}
    for param in (p for p in params if p.kind in (Kind.TEXT, Kind.ID)):
        for example in (*param.examples, *param.choices):
            said = tuple(word.folded for word in words_of(fold(readable(example))))
            for place in range(len(reading.words) - len(said) + 1):
                if said and not said[0][:1].isdigit() and reading.words[place : place + len(said)] == said:
                    first, last = reading.text.words[place], reading.text.words[place + len(said) - 1]
                    found[param.name] = Said(value=example, start=first.start, end=last.end)
    return found
