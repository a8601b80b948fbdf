"""Merging what was said into an open collection: shared values, missing ones, impossible pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schemas.base import JsonValue
from schemas.conversations import Collecting, EndpointProgress
from workers.slotfilling.kinds import Kind
from workers.slotfilling.slot import Slot


def known_values(collecting: Collecting) -> dict[str, JsonValue]:
    """Return every value collected so far, by parameter name."""
    return {name: value for progress in collecting.endpoints for name, value in progress.values.items()}


def merged(collecting: Collecting, values: Mapping[str, JsonValue], *, reopened: Sequence[str] = ()) -> Collecting:
    """Give each endpoint the values its schema has a parameter for; new values win, reopened ones go."""

    def updated(progress: EndpointProgress) -> EndpointProgress:
        names = {param.name for param in progress.endpoint.params}
        kept = {name: value for name, value in progress.values.items() if name not in reopened}
        return progress.model_copy(update={"values": kept | {n: v for n, v in values.items() if n in names}})

    return collecting.model_copy(update={"endpoints": tuple(updated(progress) for progress in collecting.endpoints)})


def missing_slots(collecting: Collecting, slots: Sequence[Slot]) -> list[Slot]:
    """Return the slots that some endpoint still needs, in schema order, each once."""
    names = {name for progress in collecting.endpoints for name in progress.missing}
    return [slot for slot in slots if slot.name in names]


def reversed_pair(slots: Sequence[Slot], values: Mapping[str, JsonValue]) -> list[str]:
    """Return the end of each from-to pair that lies before its start: it must be asked again."""
    wrong = []
    dated = [slot for slot in slots if slot.kind in (Kind.DATE, Kind.MOMENT)]
    for start in (slot for slot in dated if slot.role == "start"):
        for end in (slot for slot in dated if slot.role == "end" and slot.owners == start.owners):
            first, last = values.get(start.name), values.get(end.name)
            if isinstance(first, str) and isinstance(last, str) and last < first:
                wrong.append(end.name)
    return wrong
