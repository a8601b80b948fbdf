"""Gives countries, currencies, languages, towns and listed values to the parameters they were said for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.base import JsonValue
from workers.extraction.clues import telling_words
from workers.extraction.kinds import Kind
from workers.extraction.params import Direction, Param, country_code
from workers.extraction.reading import Reading, is_bare
from workers.extraction.said import Found, Refused, Said
from workers.extraction.text import fold, overlaps, same_stem
from workers.extraction.values_names import NameKind, NameMention
from workers.extraction.values_options import misspelled_option, options_in

NAMED: dict[Kind, NameKind] = {
    Kind.COUNTRY: "countries", Kind.CURRENCY: "currencies", Kind.LANGUAGE: "languages", Kind.CITY: "cities",
}  # fmt: skip
_START_BEFORE = re.compile(r"(?:^|[^\w])(?:from|alates|из|с|со|от|leaving|departing|between|instead)\s+(?:the\s+)?$")
_END_BEFORE = re.compile(r"(?:(?:^|[^\w])(?:to|into|towards?|till|until|kuni|в|во|на|до)\s+(?:the\s+)?|(?:->|→|>)\s*)$")
_IN_BEFORE = re.compile(r"(?:^|[^\w])(?:in|as)\s+$")
_START_ENDING = re.compile(r"[aeiou]?(?:st|lt)|te?st|dest")
_END_ENDING = re.compile(r"[aeiou]?(?:sse|ni|ks|le)|i?teks|desse|tesse")
_CURRENCY_END_ENDING = re.compile(r"[aeiou]?s|i?tes|ides|des")
_AMOUNT_BEFORE = re.compile(r"\d\s*$")
_AMOUNT_AFTER = re.compile(r"\s*\d")
_DASH_BETWEEN = re.compile(r"\s*(?:-|->|/|>|→)\s*")
_CAPITALISED = re.compile(
    r"(?<![\w])(?:in|at|to|from|for|near|of)\s+(?:the\s+)?((?:[A-ZÄÖÜÕŠŽ][\w'-]+)(?:\s[A-ZÄÖÜÕŠŽ][\w'-]+)*)"
)
_CITY_AFTER = re.compile(r"\sCity(?!\w)")
_PLACE_LEAD = re.compile(r"(?:(?:it|that)(?:'s| is)\s+)?(?:in|at|near|around)\s+|(?:it|that)(?:'s| is)\s+")
_LONGEST_BARE_NAME = 3


@dataclass(frozen=True, kw_only=True)
class _Mention:
    start: int
    end: int
    value: JsonValue
    direction: Direction


def assign_names(reading: Reading, params: Sequence[Param], *, known: set[str], asked: Sequence[str]) -> Found:
    """Give what was named to the parameters of one endpoint; those that take the same values compete for it."""
    found: Found = {}
    taken: list[tuple[int, int]] = (
        [(code.start, code.end) for code in reading.addresses] if _wants_address(params) else []
    )
    for group in _groups(params):
        mentions = [
            m for m in _mentions(reading, group[0], asked, is_first=not known) if not overlaps(m.start, m.end, taken)
        ]
        given = _share(reading, group, mentions, known=known, asked=asked)
        found |= given
        taken += [(said.start, said.end) for said in given.values() if isinstance(said, Said)]
        for param in group:
            if param.name not in found and param.name in asked and not mentions:
                found |= _rest(reading, param, asked)
    return found


def _wants_address(params: Sequence[Param]) -> bool:
    return any(param.kind is Kind.ADDRESS for param in params)


def _groups(params: Sequence[Param]) -> list[list[Param]]:
    """Put together the parameters that the same words could fill."""
    groups: dict[object, list[Param]] = {}
    for param in params:
        if param.kind is Kind.ENUM:
            key: object = tuple(option.value for option in param.spec.enum)
        elif param.kind in NAMED:
            key = param.kind
        else:
            continue
        groups.setdefault(key, []).append(param)
    return list(groups.values())


def _mentions(reading: Reading, param: Param, asked: Sequence[str], *, is_first: bool) -> list[_Mention]:
    is_money = param.kind is Kind.CURRENCY or "currency" in param.named
    if param.kind is Kind.ENUM:
        options = options_in(reading.text, param.wordings)
        is_asked = param.name in asked
        if not options and (is_asked or (is_first and param.spec.required)):
            typo = misspelled_option(reading.text, param.wordings, is_asked=is_asked)
            options = [typo] if typo else []
        named = [(o.start, o.end, _typed(param, o.value), o.ending) for o in options]
    else:
        named = [_whole(reading, param, m) for m in reading.names(NAMED[param.kind])] or (
            _unlisted_towns(reading) if param.kind is Kind.CITY else []
        )
    wanted = [one for one in named if reading.is_wanted(one[0], one[1])]
    return [
        _Mention(
            start=start, end=end, value=value,
            direction=_direction(reading, (start, end), ending, is_money=is_money)
            or _by_dash(reading, i, [(s, e) for s, e, _, _ in wanted]),
        )
        for i, (start, end, value, ending) in enumerate(wanted)
    ]  # fmt: skip


def _whole(reading: Reading, param: Param, mention: NameMention) -> tuple[int, int, JsonValue, str]:
    """Read "New York City" as one town."""
    longer = _CITY_AFTER.match(reading.text.raw, mention.end) if param.kind is Kind.CITY else None
    if longer:
        return mention.start, longer.end(), f"{mention.name}{longer.group()}", mention.ending
    return mention.start, mention.end, name_value(param, mention), mention.ending


def _typed(param: Param, value: str) -> JsonValue:
    """Give an option back in the parameter's own type."""
    if param.spec.type == "integer" and re.fullmatch(r"-?\d+", value):
        return int(value)
    return value


def name_value(param: Param, mention: NameMention) -> JsonValue:
    """Write what was named as the parameter wants it: a code, or the town's own name."""
    if param.kind is Kind.COUNTRY:
        return country_code(mention.codes, param.spec) if param.wants_code else mention.name
    code = mention.codes[0]
    return code.upper() if param.kind is Kind.LANGUAGE and param.writes_codes_in_capitals else code


def _unlisted_towns(reading: Reading) -> list[tuple[int, int, JsonValue, str]]:
    """Take "in Springfield" for a town when no known one was named (English only: other languages inflect)."""
    if reading.language != "en":
        return []
    known = [*reading.day_spans, *((n.start, n.end) for n in reading.names("countries"))]
    return [
        (match.start(1), match.end(1), match[1], "")
        for match in _CAPITALISED.finditer(reading.text.raw)
        if not overlaps(match.start(1), match.end(1), known)
    ]


def _direction(reading: Reading, span: tuple[int, int], ending: str, *, is_money: bool) -> Direction:
    start, end = span
    before, after = reading.text.folded[:start], reading.text.folded[end:]
    is_target = _END_BEFORE.search(before) is not None
    if is_money and (
        _AMOUNT_BEFORE.search(before)
        or _is_spelled_before(reading, start)
        or (_AMOUNT_AFTER.match(after) and not is_target)
    ):
        return "start"
    if _START_ENDING.fullmatch(ending) or _START_BEFORE.search(before):
        return "start"
    if _END_ENDING.fullmatch(ending) or is_target:
        return "end"
    if is_money and (_CURRENCY_END_ENDING.fullmatch(ending) or _IN_BEFORE.search(before)):
        return "end"
    return ""


def _is_spelled_before(reading: Reading, start: int) -> bool:
    """Whether a number in words stands right there: "fifty pounds"."""
    return any(n.spelled and n.end <= start and not reading.text.raw[n.end : start].strip() for n in reading.numbers)


def _by_dash(reading: Reading, place: int, spans: list[tuple[int, int]]) -> Direction:
    """Read "Tallinn–Tartu" and "EUR/SEK" from left to right."""
    if place + 1 < len(spans) and _DASH_BETWEEN.fullmatch(reading.text.folded, spans[place][1], spans[place + 1][0]):
        return "start"
    if place and _DASH_BETWEEN.fullmatch(reading.text.folded, spans[place - 1][1], spans[place][0]):
        return "end"
    return ""


def _share(
    reading: Reading, group: list[Param], mentions: list[_Mention], *, known: set[str], asked: Sequence[str]
) -> Found:
    """Share the mentions among parameters of one sort: by label, by direction, then what is left to what is left."""
    found, left = _told_apart(reading, group, mentions)
    free = [p for p in group if p.name not in found]
    undirected = [m for m in left if not m.direction or not any(p.direction for p in group)]
    if not free or not undirected:
        return found
    target = _only_target(free, known=known, asked=asked, is_single=len(group) == 1)
    if target is not None:
        found[target.name] = _said(undirected[-1] if reading.corrects else undirected[0])
    elif len(free) == len(undirected) and set(asked) >= {p.name for p in free}:
        found |= {param.name: _said(mention) for param, mention in zip(free, undirected, strict=True)}
    elif len(undirected) == 1 and is_bare(reading, undirected[0].start, undirected[0].end) and len(free) == len(asked):
        # "EUR" alone answers the first of the two that were asked; the next question tells what it was taken for.
        first = next((p for name in asked for p in free if p.name == name), None)
        found |= {first.name: _said(undirected[0])} if first else {}
    return found


def _told_apart(reading: Reading, group: list[Param], mentions: list[_Mention]) -> tuple[Found, list[_Mention]]:
    """Give each mention to the parameter that the words around it name; return what was given, and the rest."""
    found: Found = {}
    left = list(mentions)
    own = _own_words(group)
    for fits in (_fits_label, _fits_direction, _is_described):
        for mention in list(left):
            # A name said later for the same parameter puts the earlier one right.
            param = next((p for p in group if fits(reading, p, mention, own[p.name])), None)
            if param is not None:
                found[param.name] = _said(mention)
                left.remove(mention)
    return found, left


def _said(mention: _Mention) -> Said:
    return Said(value=mention.value, start=mention.start, end=mention.end)


def _own_words(group: Sequence[Param]) -> dict[str, frozenset[str]]:
    """Return the words of each parameter's labels and description that no other of the group has."""
    said = {p.name: telling_words(" ".join((p.spec.description, *p.spec.labels.values()))) for p in group}
    return {
        name: words.difference(*(more for other, more in said.items() if other != name)) for name, words in said.items()
    }


def _fits_label(reading: Reading, param: Param, mention: _Mention, _: frozenset[str]) -> bool:
    return reading.is_labelled(reading.label_spans(param), mention.start, mention.end)


def _fits_direction(_: Reading, param: Param, mention: _Mention, __: frozenset[str]) -> bool:
    return bool(mention.direction) and mention.direction == param.direction


def _is_described(reading: Reading, _: Param, mention: _Mention, own: frozenset[str]) -> bool:
    """Whether the next word is of that parameter alone: "an Estonian passport", "эстонским паспортом"."""
    if not own or mention.direction:
        return False
    following = next((word for word in reading.text.words if word.start >= mention.end), None)
    is_next = following is not None and not reading.text.folded[mention.end : following.start].strip(" -")
    return is_next and following is not None and any(same_stem(following.folded, word) for word in own)


def _only_target(free: list[Param], *, known: set[str], asked: Sequence[str], is_single: bool) -> Param | None:
    """Return the one parameter that a word without any sign of direction can be for."""
    if is_single:
        return free[0]
    asked_free = [p for p in free if p.name in asked]
    if len(asked_free) == 1:
        return asked_free[0]
    open_ones = [p for p in free if p.name not in known]
    return open_ones[0] if len(open_ones) == len(free) == 1 else None


def _rest(reading: Reading, param: Param, asked: Sequence[str]) -> Found:
    """Take a bare answer to the only question: an unlisted town as it stands, a wrong choice as refused."""
    words = reading.text.words
    if (
        not words
        or len(asked) != 1
        or len(words) > _LONGEST_BARE_NAME
        or not is_bare(reading, words[0].start, words[-1].end)
    ):
        return {}
    start, end = words[0].start, words[-1].end
    written = reading.text.between(start, end)
    if param.kind is Kind.ENUM and fold(written).strip():
        return {param.name: Refused(fault="not_option", words=written, start=start, end=end)}
    lead = _PLACE_LEAD.match(reading.text.folded, start, end) if param.kind is Kind.CITY else None
    if lead and lead.end() < end:
        start, written = lead.end(), reading.text.between(lead.end(), end)
    if param.kind is Kind.CITY and written[:1].isalpha() and not reading.days and not reading.numbers:
        return {param.name: Said(value=written, start=start, end=end)}
    return {}
