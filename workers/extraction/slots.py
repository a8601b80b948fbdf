"""Keeps what is known in a collection: new values overwrite, refused ones reopen, an end never precedes its start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from schemas.base import JsonValue
from schemas.conversations import Collecting, EndpointProgress
from workers.extraction.assign_days import pairs_of
from workers.extraction.assigning import Heard
from workers.extraction.kinds import Kind
from workers.extraction.params import Param, param_of
from workers.extraction.said import Doubt, Found, Refused, Said

# Nothing goes from a place, or is converted from a currency, to the same one; a period may be a single day.
_NAMED = (Kind.CITY, Kind.COUNTRY, Kind.CURRENCY, Kind.LANGUAGE, Kind.ENUM, Kind.TEXT)


@dataclass(frozen=True, kw_only=True)
class Merged:
    """The collection after a message. `news`: what it set or changed; `doubt` and `refused`: the first of each."""

    collecting: Collecting
    news: tuple[tuple[Param, JsonValue], ...] = ()
    doubt: tuple[Param, Doubt] | None = None
    refused: Refused | None = None


def merge(collecting: Collecting, heard: Heard) -> Merged:
    """Put what was heard into the collection. Hearing the same value again changes nothing."""
    progresses: list[EndpointProgress] = []
    news: dict[str, tuple[Param, JsonValue]] = {}
    doubts: list[tuple[Param, Doubt]] = []
    refusals: list[Refused] = []
    for progress, found in zip(collecting.endpoints, heard.found, strict=True):
        params = {spec.name: param_of(spec) for spec in progress.endpoint.params}
        values, late = _ordered(progress.values, found, params)
        progresses.append(progress.model_copy(update={"values": values}))
        said = {name: one.value for name, one in found.items() if isinstance(one, Said) and name in values}
        news |= {name: (params[name], value) for name, value in said.items() if progress.values.get(name) != value}
        doubts += [(params[name], one) for name, one in found.items() if isinstance(one, Doubt)]
        refusals += [*late, *(one for one in found.values() if isinstance(one, Refused))]
    return Merged(
        collecting=collecting.model_copy(update={"endpoints": tuple(progresses)}),
        news=tuple(news.values()),
        doubt=doubts[0] if doubts else None,
        refused=refusals[0] if refusals else None,
    )


def _ordered(
    values: Mapping[str, JsonValue], found: Found, params: Mapping[str, Param]
) -> tuple[dict[str, JsonValue], list[Refused]]:
    """Merge one endpoint's values; of a period that would end before it starts, the part that is in doubt reopens."""
    merged = {name: value for name, value in values.items() if isinstance(found.get(name), Said | None)}
    merged |= {name: one.value for name, one in found.items() if isinstance(one, Said)}
    for moved in _moved(merged, values, found, params):
        del merged[moved]
    late: list[Refused] = []
    for start, end in pairs_of(params.values()):
        first, last = merged.get(start.name), merged.get(end.name)
        if not (isinstance(first, str) and isinstance(last, str) and last < first):
            continue
        said = found.get(end.name) or found.get(start.name)
        if said is None:
            continue
        late.append(Refused(fault="before_start", words="", start=said.start, end=said.end))
        del merged[end.name]
        if start.name in found and end.name in found:
            del merged[start.name]
    return merged, late


def _moved(
    merged: Mapping[str, JsonValue],
    before: Mapping[str, JsonValue],
    found: Found,
    params: Mapping[str, Param],
) -> list[str]:
    """Name the end that gave its value to the other: "to Tartu", said of the Tartu that was taken for the start."""
    ends = [param for param in params.values() if param.direction and param.kind in _NAMED and param.name in merged]
    said = [(param, merged[param.name]) for param in ends if param.name in found]
    return [
        other.name
        for other in ends
        for param, value in said
        if other.name not in found
        and other.kind is param.kind
        and other.direction != param.direction
        and before.get(other.name) == value
    ]


def missing_of(collecting: Collecting) -> tuple[str, ...]:
    """Name every required parameter not yet known, each once, in the endpoints' order."""
    return tuple(dict.fromkeys(name for progress in collecting.endpoints for name in progress.missing))


def emptied(collecting: Collecting) -> Collecting:
    """Forget every value, and how long it has been asked for: who starts over has all the turns again."""
    cleared = tuple(progress.model_copy(update={"values": {}, "reopened": ()}) for progress in collecting.endpoints)
    return collecting.model_copy(update={"endpoints": cleared, "turns": 0, "awaiting_continuation": False})


def without_optional(collecting: Collecting) -> Collecting:
    """Do without the optional values that an API did not accept; what it requires stays open."""
    return collecting.model_copy(update={"endpoints": tuple(map(_without_optional, collecting.endpoints))})


def _without_optional(progress: EndpointProgress) -> EndpointProgress:
    required = {param.name for param in progress.endpoint.params if param.required}
    return progress.model_copy(update={"reopened": tuple(name for name in progress.reopened if name in required)})


def known_values(collecting: Collecting) -> tuple[tuple[Param, JsonValue], ...]:
    """List what is known, each parameter once."""
    known = {
        name: (param_of(spec), value)
        for progress in collecting.endpoints
        for name, value in progress.values.items()
        if (spec := progress.endpoint.param(name)) is not None
    }
    return tuple(known.values())
