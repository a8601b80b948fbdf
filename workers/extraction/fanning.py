"""One endpoint, several values: "the weather in Tartu, Tallinn and Narva" is a call for each. Pure.

The message is heard once for each value of the enumeration, with that value alone in its place. Where each hearing
gives the same but for one parameter, each value gets a progress of its own; what is missing beside it is asked once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from schemas.base import JsonValue
from schemas.conversations import Collecting, EndpointProgress
from workers.extraction.assign_numbers import NUMERIC
from workers.extraction.assigning import Heard, hear
from workers.extraction.kinds import Kind
from workers.extraction.params import Param, param_of
from workers.extraction.reading import Reading, Span
from workers.extraction.said import Found, Said
from workers.extraction.text import Text
from workers.extraction.values_names import NameKind
from workers.extraction.values_options import options_in

MOST_AT_ONCE = 3
_NAMED: dict[Kind, NameKind] = {
    Kind.CITY: "cities", Kind.TEXT: "cities", Kind.COUNTRY: "countries", Kind.CURRENCY: "currencies",
}  # fmt: skip
_CODED = (Kind.PLATE, Kind.REGISTRY_CODE, Kind.PERSONAL_CODE, Kind.IBAN, Kind.EMAIL)
# A value of these is known by its form; a free text could be any part of a sentence.
_FORMED = {Kind.CITY, Kind.COUNTRY, Kind.CURRENCY, *_CODED}
_AND = re.compile(r"[\s,]+(?:and|ja|ning|и)\s+|[.;?!]\s+(?=\S)", re.IGNORECASE)
_DATED = (Kind.DATE, Kind.MOMENT)
_JOIN = re.compile(
    r"\s*,\s*(?:(?:and|ja|ning|и)\s+)?(?:also\s+|ka\s+|также\s+)?(?:(?:in|for|on|в|во|на|для)\s+)?|"
    r"\s+(?:and|ja|ning|и|&|as well as|plus)\s+(?:also\s+|ka\s+|также\s+)?(?:(?:in|for|on|в|во|на|для)\s+)?"
)


def fan_out(
    reading: Reading, collecting: Collecting, heard: Heard, *, proposed: Sequence[Found] = ()
) -> tuple[Collecting, Heard] | None:
    """Return the collection and what was heard with the endpoint once for each value; None where one is meant.

    `proposed` is what a model read in the message beside the rules. What goes beyond as many as are done at once is
    put off, and so is all but the first for an endpoint that changes something.
    """
    if len(collecting.endpoints) != 1 or reading.corrects:
        return None
    (progress,), (found,) = collecting.endpoints, heard.found
    params = {spec.name: param_of(spec) for spec in progress.endpoint.params}
    open_kinds = {params[name].kind for name in progress.missing if name not in found}
    # "euros and dollars" for two open currencies are one value for each.
    said_once = {n: one for n, one in found.items() if isinstance(one, Said) and params[n].kind not in open_kinds}
    runs = {name: _run(reading, params[name], said) for name, said in said_once.items()}
    for name, run in (
        runs | _counted(reading, [params[name] for name in progress.missing if name not in found])
    ).items():
        each = [{**_first(proposed), **_with_only(reading, collecting, run, item)} for item in run]
        values = [one.get(name) for one in each]
        if len(run) > 1 and all(_differs_only_in(name, found, one) for one in each) and _are_distinct(values):
            return _fanned(collecting, each, [reading.text.between(*span) for span in run])
    return _by_parts(reading, collecting)


def _fanned(collecting: Collecting, each: Sequence[Found], words: Sequence[str]) -> tuple[Collecting, Heard]:
    """Open a progress for as many as are done at once; the rest is kept with its values, and its words are told."""
    (progress,) = collecting.endpoints
    most = collecting.most_at_once if progress.endpoint.method == "GET" else 1
    rest = [progress.model_copy(update={"values": {**progress.values, **_values(found)}}) for found in each[most:]]
    update = {
        "endpoints": (progress,) * len(each[:most]),
        "later": (*collecting.later, *words[most:]),
        "put_off": (*collecting.put_off, *rest),
    }
    return collecting.model_copy(update=update), Heard(found=tuple(each[:most]))


def _values(found: Found) -> dict[str, JsonValue]:
    return {name: said.value for name, said in found.items() if isinstance(said, Said)}


def _by_parts(reading: Reading, collecting: Collecting) -> tuple[Collecting, Heard] | None:
    """Read "100 USD in EUR and 50 GBP in EUR": parts that each say all that is required are a call each."""
    (progress,) = collecting.endpoints
    parts = [part for part in _AND.split(reading.text.raw) if part.strip()]
    wanted = {name: param_of(spec).kind for name in progress.missing if (spec := progress.endpoint.param(name))}
    times = _times_named(reading, progress)
    is_told = len(wanted) > 1 or (set(wanted.values()) <= _FORMED and bool(wanted)) or times > 1
    if not is_told or len(parts) < 2:  # noqa: PLR2004 - one part is the whole
        return None
    heard = [(part, _heard_alone(reading, collecting, part)) for part in parts]
    parts, each = [part for part, found in heard if found], [found for _, found in heard if found]
    if len(each) < max(2, times):  # the others said nothing, or one of them said more than one
        return None
    is_each_whole = all(isinstance(found.get(name), Said) for found in each for name in wanted)
    said = [{name: _value(one) for name, one in found.items()} for found in each]
    if not is_each_whole or len({repr(sorted(one.items(), key=str)) for one in said}) != len(said):
        return None
    return _fanned(collecting, each, parts)


def _times_named(reading: Reading, progress: EndpointProgress) -> int:
    """Return how often the only value that is open is named, where it is a number each time; else 0."""
    open_ones = [param_of(spec) for spec in progress.endpoint.params if spec.name in progress.missing]
    if len(open_ones) != 1 or open_ones[0].kind not in NUMERIC:
        return 0
    times = len(reading.label_spans(open_ones[0]))
    return times if times == len(_spans(reading, open_ones[0])) else 0


def _counted(reading: Reading, params: Sequence[Param]) -> dict[str, tuple[Span, ...]]:
    """Read "the factorial of 5, 10 and 15": numbers in a row for the only number that is open."""
    numeric = [param for param in params if param.kind in NUMERIC]
    spans = _spans(reading, numeric[0]) if len(numeric) == 1 else []
    is_row = len(spans) > 1 and all(_JOIN.fullmatch(reading.text.folded, a[1], b[0]) for a, b in pairwise(spans))
    return {numeric[0].name: tuple(spans)} if is_row else {}


def _first(proposed: Sequence[Found]) -> Found:
    return proposed[0] if proposed else {}


def _run(reading: Reading, param: Param, said: Said) -> tuple[Span, ...]:
    """Return where the enumeration stands that a value is of, item by item; empty where it stands alone."""
    spans = _spans(reading, param)
    runs: list[list[Span]] = [[spans[0]]] if spans else []
    for one, two in pairwise(spans):
        if _JOIN.fullmatch(reading.text.folded, one[1], two[0]):
            runs[-1].append(two)
        else:
            runs.append([two])
    return next((tuple(run) for run in runs if len(run) > 1 and (said.start, said.end) in run), ())


def _spans(reading: Reading, param: Param) -> list[Span]:
    """Return where values of the parameter's kind stand, in order."""
    if param.kind in _DATED and not param.direction:
        return [(days.start, days.end) for days in reading.days if days.is_day]
    if param.kind in _CODED:
        return [(code.start, code.end) for code in reading.codes(param.kind)]
    if param.kind is Kind.ENUM:
        return [(option.start, option.end) for option in options_in(reading.text, param.wordings)]
    if param.kind is Kind.ID:
        return [(code.start, code.end) for code in reading.identifiers()]
    if param.kind in _NAMED:
        return [(name.start, name.end) for name in reading.names(_NAMED[param.kind])]
    numbers = [number for number in reading.numbers if not number.spelled] if param.kind in NUMERIC else []
    return [(number.start, number.end) for number in numbers]


def _with_only(reading: Reading, collecting: Collecting, run: Sequence[Span], item: Span) -> Found:
    """Hear the message with one value in the place of all."""
    raw = reading.text.raw
    return _heard_alone(reading, collecting, f"{raw[: run[0][0]]}{raw[slice(*item)]}{raw[run[-1][1] :]}")


def _heard_alone(reading: Reading, collecting: Collecting, text: str) -> Found:
    (found,) = hear(Reading(text=Text.of(text), language=reading.language, now=reading.now), collecting).found
    return found


def _differs_only_in(name: str, found: Found, one: Found) -> bool:
    """Whether a hearing gives that parameter a value, and the others what the whole message gives them."""
    rest, other = ({key: said for key, said in f.items() if key != name} for f in (found, one))
    same = rest.keys() == other.keys() and all(_value(rest[key]) == _value(other[key]) for key in rest)
    return same and isinstance(one.get(name), Said)


def _value(said: object) -> object:
    return said.value if isinstance(said, Said) else said


def _are_distinct(values: Sequence[object]) -> bool:
    said = [one.value for one in values if isinstance(one, Said)]
    return len({repr(value) for value in said}) == len(values)
