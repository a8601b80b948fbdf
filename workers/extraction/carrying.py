"""Takes values from earlier in the chat: what was given to the same service, pointed back at, or offered and accepted.

Pure. Only what the person gave or agreed to is taken, only for a parameter that is still open and whose sort of value
it is, and what is taken is told (`Collecting.carried`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from schemas.base import JsonValue
from schemas.conversations import Collecting, EndpointProgress, Given
from workers.extraction.assign_text import is_place
from workers.extraction.assigning import hear
from workers.extraction.continuation import yes_or_no
from workers.extraction.kinds import Kind
from workers.extraction.params import Param, param_of
from workers.extraction.phrases import names_in_answer
from workers.extraction.reading import Reading, read
from workers.extraction.said import Found, Said
from workers.extraction.values_names import NameKind
from workers.extraction.wording import holds, plain_words, starts_phrase

_MOST_GIVEN = 5
_DATED = frozenset({Kind.DATE, Kind.MOMENT})
_PLACED = frozenset({Kind.CITY, Kind.TEXT, Kind.ADDRESS})
# Told in an offer as data of their own; flags are not: "it has no parking" is no wish.
_OFFERED = frozenset({Kind.DATE, Kind.MOMENT, Kind.TIME, Kind.INTEGER, Kind.NUMBER, Kind.CITY, Kind.ENUM, Kind.ADDRESS})
_NAME = re.compile(r"\b(?:name|title|track)\b")
_NAME_OF_SOMEONE_ELSE = re.compile(r"\b(?:contact|user|first|last|family|new|file|sender|customer|client)\b")
# To whom something goes, and how much of it, is said anew each time: another payment is no payment to the same person.
_IS_NEW_EACH_TIME = re.compile(r"\b(?:receiver|recipient|payee|beneficiary|addressee|contact|amount|sum)\b")
# What an answer puts after these is where something is, or a degree of heat, and no name of what was found.
_NO_NAME_BESIDE = re.compile(r"(?:\b(?:in|near|to|from|degrees)\s+(?:the\s+)?|°\s?)$")
_PLACES: tuple[NameKind, ...] = ("countries", "cities")
_EXISTENTIAL = frozenset({"is", "are", "was", "were", "hi", "hello", "hey", "if", "be"})


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """What a message may point back at: values by endpoint, the latest last, and our last words where they offered.

    `told` are our last answers, the newest first: where the names stand of what was found.
    """

    given: tuple[Given, ...] = ()
    offered: str = ""
    told: tuple[str, ...] = ()


NOTHING_EARLIER = Earlier()


def given_after(given: Sequence[Given], *collectings: Collecting | None) -> tuple[Given, ...]:
    """Return what a chat has given, with what those collections hold now in the place of what they held before."""
    kept = list(given)
    for progress in (p for collecting in collectings if collecting for p in collecting.endpoints):
        kept = [one for one in kept if one.endpoint_id != progress.endpoint.endpoint_id]
        kept += [_given(progress)] if progress.values else []
    return tuple(kept[-_MOST_GIVEN:])


def _given(progress: EndpointProgress) -> Given:
    endpoint = progress.endpoint
    known = tuple(spec for spec in endpoint.params if spec.name in progress.values)
    return Given(
        endpoint_id=endpoint.endpoint_id, service_id=endpoint.service_id, params=known, values=progress.values
    )  # fmt: skip


def recall(reading: Reading, collecting: Collecting, heard: Sequence[Found], earlier: Earlier) -> tuple[Found, ...]:
    """Return for each endpoint what earlier words give for what is open and unsaid."""
    if earlier == NOTHING_EARLIER:
        return ()
    return tuple(
        _recalled(reading, collecting, progress, said, earlier)
        for progress, said in zip(collecting.endpoints, heard, strict=True)
    )


def _recalled(
    reading: Reading, collecting: Collecting, progress: EndpointProgress, heard: Found, earlier: Earlier
) -> Found:
    taken = {*progress.values, *heard}
    open_ones = [param for spec in progress.endpoint.params if spec.name not in taken for param in (param_of(spec),)]
    found: Found = {}
    for rule in (_offered, _named_before, _pointed_at, _of_the_service):
        still = [param for param in open_ones if param.name not in found]
        found |= rule(reading, collecting, progress, still, earlier)
    return found


def _of_the_service(
    _: Reading, collecting: Collecting, progress: EndpointProgress, params: Sequence[Param], earlier: Earlier
) -> Found:
    """Take what was given to another endpoint of the same service under the same name."""
    service = progress.endpoint.service_id
    if not service or collecting.turns or progress.values:
        return {}
    found: Found = {}
    for given in earlier.given:
        if given.service_id != service or given.endpoint_id == progress.endpoint.endpoint_id:
            continue
        theirs = {spec.name: param_of(spec) for spec in given.params}
        found |= {
            param.name: Said(value=given.values[param.name], start=0, end=0)
            for param in params
            if param.name in theirs
            and _same_sort(theirs[param.name], param)
            and not _IS_NEW_EACH_TIME.search(param.named)
        }
    return found


def _same_sort(one: Param, other: Param) -> bool:
    options = [{option.value for option in param.spec.enum} for param in (one, other)]
    return one.kind is other.kind and one.spec.type == other.spec.type and options[0] == options[1]


def _pointed_at(
    reading: Reading, _: Collecting, __: EndpointProgress, params: Sequence[Param], earlier: Earlier
) -> Found:
    """Take the place, the day or the time that "there", "that day" and "the same time" point back at."""
    found: Found = {}
    if _points_at_place(reading):
        places = [param for param in params if _is_place(param)]
        found |= _fill(places, earlier, wants_start=holds(reading.words, "from_there"))
    if holds(reading.words, "same_day"):
        found |= _fill([param for param in params if param.kind in _DATED], earlier)
    if holds(reading.words, "same_time"):
        found |= _fill([param for param in params if param.kind is Kind.TIME], earlier)
    return found


def _points_at_place(reading: Reading) -> bool:
    words = reading.words
    for place in range(len(words)):
        length = starts_phrase(words, place, "same_place")
        after = words[place + length] if place + length < len(words) else ""
        before = words[place - 1] if place else ""
        if length and after not in _EXISTENTIAL and before not in _EXISTENTIAL - {"be"}:  # "will it be sunny there"
            return True
    return False


def _is_place(param: Param) -> bool:
    return param.kind in _PLACED and is_place(param)


def _fill(params: Sequence[Param], earlier: Earlier, *, wants_start: bool = False) -> Found:
    """Give the latest value of that sort to the only parameter that can take it; of a journey's two, by its way."""
    target = params[0] if len(params) == 1 else None
    if len(params) > 1:
        way = "start" if wants_start or all(param.kind in _DATED for param in params) else "end"
        fitting = [param for param in params if param.direction == way]
        target = fitting[0] if len(fitting) == 1 else None
    if target is None:
        return {}
    value = _latest(target, earlier.given)
    return {target.name: Said(value=value, start=0, end=0)} if value is not None else {}


def _latest(target: Param, given: Sequence[Given]) -> JsonValue:
    for one in reversed(given):
        alike = [param for spec in one.params for param in (param_of(spec),) if _is_alike(param, target)]
        # Where a journey ends is where its traveller is going to be.
        ends = [param for param in alike if param.direction == "end"] if _is_place(target) else []
        values = [one.values[param.name] for param in (ends or alike)]
        if values:
            return values[0]
    return None


def _is_alike(param: Param, target: Param) -> bool:
    if _is_place(target):
        return _is_place(param) and param.spec.type == target.spec.type
    if target.kind in _DATED:
        return param.kind is target.kind and param.spec.type == target.spec.type and param.direction != "end"
    return param.kind is target.kind


def _offered(
    reading: Reading, collecting: Collecting, progress: EndpointProgress, params: Sequence[Param], earlier: Earlier
) -> Found:
    """Take what our last words named, where the person agrees to it: "a table at 7 pm?" - "yes"."""
    if not earlier.offered or not params or not _agrees(reading):
        return {}
    offer = read(earlier.offered, language=reading.language, now=reading.now)
    ours = [one.endpoint for one in collecting.endpoints]
    bare = collecting.model_copy(
        update={"asked": (), "endpoints": tuple(EndpointProgress(endpoint=endpoint) for endpoint in ours)}
    )
    said = hear(offer, bare).found
    names = {param.name: param for param in params}
    return {
        name: Said(value=one.value, start=0, end=0)
        for found in said
        for name, one in found.items()
        if name in names
        and isinstance(one, Said)
        and (names[name].kind in _OFFERED or _is_offered_place(names[name], one.value))
        and (names[name].spec.required or progress.endpoint.method != "GET")
    }


def _is_offered_place(param: Param, value: JsonValue) -> bool:
    """An offer's street and number tell where its own thing is; a town may be where the person wants to be."""
    return _is_place(param) and not str(value)[:1].isdigit()


def _named_before(
    reading: Reading, collecting: Collecting, progress: EndpointProgress, params: Sequence[Param], earlier: Earlier
) -> Found:
    """Take the name of what an answer told of: the one that the person repeats, or the only one where it goes on."""
    wanted = [param for param in params if param.kind is Kind.TEXT and _NAME.search(param.named)]
    wanted = [param for param in wanted if param.spec.required and not _NAME_OF_SOMEONE_ELSE.search(param.named)]
    if len(wanted) != 1:
        return {}
    known = {str(value).casefold() for one in earlier.given for value in one.values.values()}
    known |= {option.value.casefold() for one in earlier.given for spec in one.params for option in spec.enum}
    if not any(is_kin(one, progress) for one in earlier.given):
        return {}
    goes_on = is_kin(earlier.given[-1], progress) and not collecting.turns
    for text in earlier.told:
        names = list(dict.fromkeys(n for n in names_told(text, reading.now) if n.casefold() not in known))
        said = [name for name in names if _is_repeated(name, reading)]
        if len(said) == 1 or (len(names) == 1 and not said and (goes_on or _agrees(reading))):
            return {wanted[0].name: Said(value=(said or names)[0], start=0, end=0)}
        if names:
            return {}
    return {}


def is_kin(given: Given, progress: EndpointProgress) -> bool:
    """Whether values were given to another endpoint of the same service."""
    endpoint = progress.endpoint
    return bool(endpoint.service_id) and given.service_id == endpoint.service_id != given.endpoint_id


def names_told(text: str, now: datetime) -> list[str]:
    """Return the names in an answer: quotes and runs of capitals that are no place, no day, no address, no opening."""
    told = read(text, language="en", now=now)
    blocked = [*told.day_spans, *((one.start, one.end) for one in told.addresses)]
    blocked += [(name.start, name.end) for kind in _PLACES for name in told.names(kind)]
    return [
        phrase.text for phrase in names_in_answer(text, blocked) if not _NO_NAME_BESIDE.search(text, 0, phrase.start)
    ]


def _is_repeated(name: str, reading: Reading) -> bool:
    words = plain_words(name)
    return any(reading.words[at : at + len(words)] == words for at in range(len(reading.words))) or (
        len(words) > 1 and all(word in reading.words for word in words)
    )


def _agrees(reading: Reading) -> bool:
    return yes_or_no(reading.text.raw) == "yes" or bool(starts_phrase(reading.words, 0, "accepting"))
