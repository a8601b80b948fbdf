"""What a message says in passing for a collection that it turns away from: "123ABC, and what is the weather?". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import Endpoint, Language
from workers.extraction.assigning import Heard, hear
from workers.extraction.kinds import Kind
from workers.extraction.params import param_of
from workers.extraction.reading import read
from workers.extraction.said import Found, Said
from workers.extraction.slots import merge
from workers.extraction.text import overlaps

_ANY_WORDS = frozenset({Kind.TEXT, Kind.ID})


def told_in_passing(
    left: Collecting, message: str, *, turned_to: Sequence[Endpoint], language: Language, now: datetime
) -> Collecting:
    """Put into the collection that is left what the message says for it and not for the endpoints turned to.

    Only what is missing is taken, and only values that have a form: any words could be free text.
    """
    beside = tuple(EndpointProgress(endpoint=endpoint) for endpoint in turned_to)
    both = left.model_copy(update={"endpoints": (*left.endpoints, *beside), "awaiting_continuation": False})
    found = hear(read(message, language=language, now=now), both).found
    ours, theirs = found[: len(left.endpoints)], found[len(left.endpoints) :]
    taken = [(said.start, said.end) for one in theirs for said in one.values()]
    kept = tuple(_missing_only(one, progress, taken) for one, progress in zip(ours, left.endpoints, strict=True))
    return merge(left, Heard(found=kept)).collecting if any(kept) else left


def _missing_only(found: Found, progress: EndpointProgress, taken: list[tuple[int, int]]) -> Found:
    wanted = {
        spec.name
        for spec in progress.endpoint.params
        if spec.name in progress.missing and param_of(spec).kind not in _ANY_WORDS
    }
    return {
        name: said
        for name, said in found.items()
        if name in wanted and isinstance(said, Said) and not overlaps(said.start, said.end, taken)
    }
