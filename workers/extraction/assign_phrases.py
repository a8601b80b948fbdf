"""Gives names and phrases to free-text parameters by what sort of thing they want, in English requests.

A place stands after "in" or between "from" and "to", a person after "by", a title in quotation marks. Words by which
the endpoint describes itself are never values. Other languages inflect what they name: quotes and labels must do there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from schemas.endpoints import Endpoint
from workers.extraction.assign_measures import wants_measure
from workers.extraction.clues import clues_of, is_unit, own_words, weight_of
from workers.extraction.kinds import Kind
from workers.extraction.params import Param
from workers.extraction.phrases import Phrase, noun_phrases
from workers.extraction.reading import Reading, Standing
from workers.extraction.said import Found, Said
from workers.extraction.text import overlaps
from workers.extraction.values_names import NameKind

_PLACES: tuple[NameKind, ...] = ("countries", "cities")
_OPEN = frozenset({Kind.TEXT, Kind.CITY, Kind.COUNTRY})
_PLACE = re.compile(
    r"\b(?:location|city|cities|town|place|destination|origin|country|state|region|area|county|province|airport|venue|"
    r"departure|arrival|where|district|locality|neighbou?rhood|to|from)\b"
)
_PERSON = re.compile(
    r"\b(?:person|player|author|actor|actress|artist|director|directed|president|lawyer|doctor|recipient|receiver|performer|"
    r"composer|singer|writer|scientist|individual|member|starring|cast|driver|stylist|therapist|creator|athlete|philosopher)\b"
)
_PLACE_BEFORE = re.compile(r"(?:^|\W)(?:in|at|near|around|within|of|for|visit|visiting|to|from|on)\s+(?:the\s+)?$")
_INSIDE_BEFORE = re.compile(r"(?:^|\W)(?:in|at|near|around|within)\s+(?:the\s+)?$")
_FROM_BEFORE = re.compile(r"(?:^|\W)(?:from|leaving|departing|between)\s+(?:the\s+)?$")
_TO_BEFORE = re.compile(r"(?:^|\W)(?:to|into|towards?|for)\s+(?:the\s+)?$")
_BY_BEFORE = re.compile(r"(?:^|\W)(?:by|starring|featuring)\s+(?:the\s+)?(?:artist\s+|author\s+)?$")
_CONTACT = re.compile(r"\b(?:contact|recipient|receiver|payee|beneficiary|addressee|friend)\b")
_CONTACT_BEFORE = re.compile(r"(?:^|\W)(?:with|to|from|for|pay|send|text|call)\s+(?:my\s+\w+\s+)?$")
_CHANGES = re.compile(
    r"(?<!\w)(?:instead|(?:an)?other|actually|rather|(?:how|what) about|change[ds]?|no|not|sorry|for one)(?!\w)"
)
_MANNER = re.compile(
    r"\b(?:units?|format|mode|order|method|scale|sort|status|id|function|equation|expression|formula)\b"
)
_PAIR = re.compile(r"\s*(?:,|and|&|with|vs\.?|versus|or|to|against|,\s*and)\s+(?:the\s+|an?\s+)?")
_FORMULA = re.compile(r"\b(?:function|equation|expression|formula)\d*\b")
_TERM = r"(?:\d+(?:\.\d+)?\s?\*?\s?)?[a-z](?:\s?(?:\^|\*\*)\s?\d+)?"
_ALGEBRA = re.compile(
    rf"(?<![\w=])(?:[a-z](?:\([a-z]\))?\s?=\s?)?(?P<said>-?(?:{_TERM}|\d+(?:\.\d+)?)(?:\s?[-+*/]\s?(?:{_TERM}|\d+(?:\.\d+)?))*)"
    r"(?![\w^=])"
)
_UNIT = re.compile(r"\bunits?\b")
_IN_UNIT = re.compile(r"(?<!\w)(?P<opening>in|to|into|from)\s+(?P<unit>[a-z]+(?:/[a-z]+)?)(?!\w)")
_FARTHEST = 3


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One endpoint's open text parameters, and what is known of the message so far."""

    endpoint: Endpoint
    params: tuple[Param, ...]
    standing: Standing
    is_first: bool


def assign_phrases(reading: Reading, wanted: Wanted) -> Found:
    """Fill open text parameters; a phrase is given once, and only where no other parameter could mean it."""
    open_ones = [p for p in wanted.params if p.kind in _OPEN and p.name not in wanted.standing.known]
    open_ones = [p for p in open_ones if _is_free(p) and not wants_measure(p)]
    known = [p for p in wanted.params if p.kind in _OPEN and p.name in wanted.standing.known and _is_free(p)]
    if reading.language != "en" or not (open_ones or known):
        return {}
    own = own_words(wanted.endpoint)
    left = [
        phrase
        for phrase in reading.phrases
        if not overlaps(phrase.start, phrase.end, wanted.standing.taken) and (phrase.is_quoted or phrase.is_new(own))
    ]
    left = _with_towns(reading, left, wanted.standing)
    found: Found = {}
    for rule in (
        _by_formula,
        _by_unit,
        _by_way,
        _by_contact,
        _by_place,
        _by_maker,
        _by_count,
        _by_clue,
        _by_being_left,
    ):
        still = [p for p in open_ones if p.name not in found]
        given = rule(reading, still, left) if still else {}
        found |= given
        left = [x for x in left if not overlaps(x.start, x.end, [(g.start, g.end) for g in given.values()])]
    if not wanted.is_first and known and _CHANGES.search(reading.text.folded):
        found |= _changed(reading, known, left)
    still = [p for p in open_ones if p.name not in found and p.spec.required and _wants_thing(p)]
    if wanted.is_first and len(still) == 1:
        taken = [*wanted.standing.taken, *((given.start, given.end) for given in found.values())]
        found |= _by_noun_phrase(reading, still[0], own, taken)
    return found


def _changed(reading: Reading, known: Sequence[Param], left: Sequence[Phrase]) -> Found:
    """Give what is known already another value where the word before tells whose it is: "no, with Ann"."""
    inside = [x for x in left if _INSIDE_BEFORE.search(reading.text.folded[: x.start])]
    places = [p for p in known if _wants_place(p) and not p.direction]
    return (
        _by_contact(reading, known, left)
        | _by_maker(reading, known, left)
        | (_said(places[0], inside[-1]) if len(places) == 1 and inside else {})
    )


def _with_towns(reading: Reading, left: Sequence[Phrase], standing: Standing) -> list[Phrase]:
    """Add the known towns in small letters after a word of place ("from paris"), which are no runs of capitals."""
    taken = [*standing.taken, *((phrase.start, phrase.end) for phrase in left)]
    towns = [
        Phrase(text=reading.text.between(town.start, town.end), start=town.start, end=town.end)
        for town in reading.names("cities")
        if not overlaps(town.start, town.end, taken) and _PLACE_BEFORE.search(reading.text.folded[: town.start])
    ]
    return sorted([*left, *towns], key=lambda phrase: phrase.start)


def _wants_thing(param: Param) -> bool:
    """Whether a common noun can be its value: neither a place nor a person, neither a unit nor a form."""
    is_named = _wants_place(param) or _PERSON.search(param.named) or _MANNER.search(param.named)
    return param.kind is Kind.TEXT and not is_named


def _is_free(param: Param) -> bool:
    """Whether any words may fill it: no code, no listed value, no form given by its description."""
    return not (param.kind is Kind.COUNTRY and param.wants_code) and not param.choices


def _wants_place(param: Param) -> bool:
    return param.kind is Kind.CITY or _PLACE.search(param.named) is not None


def _said(param: Param, phrase: Phrase) -> Found:
    return {param.name: Said(value=phrase.text, start=phrase.start, end=phrase.end)}


def _by_formula(reading: Reading, params: Sequence[Param], _: Sequence[Phrase]) -> Found:
    """Take "3x^2 + 2x - 1" for a function or an equation; as many as are wanted, in order."""
    wanted = [p for p in params if _FORMULA.search(p.named)]
    said = [m for m in _ALGEBRA.finditer(reading.text.raw) if re.search(r"[\d^*]", m["said"])]
    if not wanted or len(wanted) != len(said):
        return {}
    return {
        param.name: Said(value=match["said"].strip(), start=match.start("said"), end=match.end("said"))
        for param, match in zip(wanted, said, strict=True)
    }


def _by_unit(reading: Reading, params: Sequence[Param], _: Sequence[Phrase]) -> Found:
    """Take "in miles" for the unit of the answer, "from miles to kilometres" for two units."""
    units = [p for p in params if _UNIT.search(p.named)]
    said = [m for m in _IN_UNIT.finditer(reading.text.folded) if is_unit(m["unit"].split("/", maxsplit=1)[0])]
    found: Found = {}
    for param in units:
        openings = (
            ("from",) if param.direction == "start" else ("to", "into", "in") if param.direction == "end" else ("in",)
        )
        fitting = [m for m in said if m["opening"] in openings]
        if fitting and (len(units) == 1 or param.direction):
            start, end = fitting[-1].span("unit")
            found[param.name] = Said(value=reading.text.between(start, end), start=start, end=end)
    return found


def _by_way(reading: Reading, params: Sequence[Param], left: Sequence[Phrase]) -> Found:
    """Give two places to a start and an end: "from A to B", "between A and B", "A and B"."""
    ways = [p for p in params if p.direction and (_wants_place(p) or p.kind is Kind.TEXT)]
    starts, ends = ([p for p in ways if p.direction == side] for side in ("start", "end"))
    if not len(starts) == len(ends) == 1 or not (_wants_place(starts[0]) or _wants_place(ends[0])):
        return {}
    folded = reading.text.folded
    origin = next((x for x in left if _FROM_BEFORE.search(folded[: x.start])), None)
    rest = [x for x in left if x is not origin]
    target = next((x for x in rest if _TO_BEFORE.search(folded[: x.start]) or _is_paired(reading, origin, x)), None)
    if origin is None and target is None:
        origin, target = next(((a, b) for a, b in pairwise(left) if _is_paired(reading, a, b)), (None, None))
    return (_said(starts[0], origin) if origin else {}) | (_said(ends[0], target) if target else {})


def _by_place(reading: Reading, params: Sequence[Param], left: Sequence[Phrase]) -> Found:
    """Give what stands after "in" to the only place wanted; after other prepositions when it is required."""
    places = [p for p in params if _wants_place(p)]
    required = [p for p in places if p.spec.required]
    if len(places) != 1 and len(required) != 1:
        return {}
    param = required[0] if required else places[0]
    folded = reading.text.folded
    wrong_way = {"start": _TO_BEFORE, "end": _FROM_BEFORE}.get(param.direction)
    placed = [x for x in left if not x.is_quoted and _PLACE_BEFORE.search(folded[: x.start])]
    placed = [x for x in placed if not (wrong_way and wrong_way.search(folded[: x.start]))]
    inside = [x for x in placed if _INSIDE_BEFORE.search(folded[: x.start])]
    chosen = inside[-1:] or (placed[:1] if param.spec.required else [])
    return _said(param, _place_within(reading, chosen[0])) if chosen else {}


def _place_within(reading: Reading, phrase: Phrase) -> Phrase:
    """Of "King of France" take the country."""
    if " of " not in phrase.text:
        return phrase
    named = [n for kind in _PLACES for n in reading.names(kind) if phrase.start < n.start and n.end == phrase.end]
    start = named[0].start if named else phrase.start
    return Phrase(text=reading.text.between(start, phrase.end), start=start, end=phrase.end)


def _is_paired(reading: Reading, one: Phrase | None, two: Phrase) -> bool:
    return (
        one is not None
        and one.end <= two.start
        and _PAIR.fullmatch(reading.text.folded, one.end, two.start) is not None
    )


def _by_contact(reading: Reading, params: Sequence[Param], left: Sequence[Phrase]) -> Found:
    """Give "share it with Grace", "pay Anna" to the only contact wanted; a place is none."""
    contacts = [p for p in params if _CONTACT.search(p.named)]
    towns = [(name.start, name.end) for kind in _PLACES for name in reading.names(kind)]
    named = [
        x
        for x in left
        if not x.is_quoted
        and _CONTACT_BEFORE.search(reading.text.folded[: x.start])
        and not overlaps(x.start, x.end, towns)
    ]
    return _said(contacts[0], named[0]) if len(contacts) == 1 and len(named) == 1 else {}


def _by_maker(reading: Reading, params: Sequence[Param], left: Sequence[Phrase]) -> Found:
    """Give the name after "by" to the only person wanted."""
    people = [p for p in params if _PERSON.search(p.named)]
    made_by = [x for x in left if not x.is_quoted and _BY_BEFORE.search(reading.text.folded[: x.start])]
    return _said(people[0], made_by[0]) if len(people) == 1 and len(made_by) == 1 else {}


def _by_count(reading: Reading, params: Sequence[Param], left: Sequence[Phrase]) -> Found:
    """Give two names side by side to two parameters that differ in their count alone: team1, team2."""
    counted = [p for p in params if re.search(r"\d$|^(?:first|second)\b|\b(?:one|two)$", p.named)]
    families = {re.sub(r"\s*(?:\d|first|second|one|two)\s*", "", p.named) for p in counted}
    if len(counted) != 2 or len(families) != 1:  # noqa: PLR2004 - a pair
        return {}
    pair = next(((a, b) for a, b in pairwise(left) if _is_paired(reading, a, b)), None)
    return _said(counted[0], pair[0]) | _said(counted[1], pair[1]) if pair else {}


def _by_clue(reading: Reading, params: Sequence[Param], left: Sequence[Phrase]) -> Found:
    """Give a phrase to the parameter whose words stand right beside it, if no other has a claim as good."""
    found: Found = {}
    for phrase in left:
        ranked = sorted(
            ((_nearness(reading, p, phrase), p) for p in params if p.name not in found), key=lambda r: -r[0]
        )
        best = ranked[0][0] if ranked else 0.0
        if best >= 1 and (len(ranked) == 1 or best > ranked[1][0] + 0.25):
            found |= _said(ranked[0][1], phrase)
    return found


def _nearness(reading: Reading, param: Param, phrase: Phrase) -> float:
    """Weigh the parameter's words within three words of the phrase, inside it too."""
    clues = clues_of(param)
    words = reading.text.words
    before = [w for w in words if w.end <= phrase.start][-_FARTHEST:]
    after = [w for w in words if w.start >= phrase.end][:_FARTHEST]
    weights = [weight_of(w.folded, clues) / step for step, w in enumerate(reversed(before), start=1)]
    weights += [weight_of(w.folded, clues) / (step + 0.5) for step, w in enumerate(after, start=1)]
    weights += [weight_of(w.folded, clues) for w in words if phrase.start <= w.start and w.end <= phrase.end]
    return max(weights, default=0.0)


def _by_being_left(_: Reading, params: Sequence[Param], left: Sequence[Phrase]) -> Found:
    """Give the only phrase that is left to the only required parameter that is open."""
    required = [p for p in params if p.spec.required and not _MANNER.search(p.named)]
    if len(required) != 1 or len(left) != 1:
        return {}
    is_person = _PERSON.search(required[0].named) is not None
    return {} if is_person and len(left[0].text.split()) == 1 and left[0].is_quoted else _said(required[0], left[0])


def _by_noun_phrase(reading: Reading, param: Param, own: frozenset[str], taken: list[tuple[int, int]]) -> Found:
    """Take what a first message asks about ("the boiling point of water") for the only thing that is required."""
    for start, end in noun_phrases(reading.text, own):
        if reading.is_wanted(start, end) and not overlaps(start, end, taken):
            return {param.name: Said(value=reading.text.between(start, end), start=start, end=end)}
    return {}
