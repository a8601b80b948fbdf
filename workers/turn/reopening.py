"""What stays open when an API does not accept a value: that value, and nothing else. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.calls import ApiCall, CallFailed, CallOutcome
from schemas.conversations import Collecting, EndpointProgress
from workers.calling.complaints import Complaint, complaints

Results = Sequence[tuple[ApiCall, CallOutcome]]


@dataclass(frozen=True, kw_only=True)
class Reopened:
    """The endpoints that wait for another value, without the one they did not accept.

    `reasons` are the APIs' own words for it, by call id.
    """

    collecting: Collecting
    reasons: dict[str, tuple[str, ...]]


def reopen(collecting: Collecting, results: Results) -> Reopened | None:
    """Take out of a finished collection what its APIs complain about; None when they name nothing that was said.

    Endpoints that were answered, or failed in another way, leave the collection, and so do the unmatched parts: both
    have been told. The questions asked so far go on counting.
    """
    waiting: dict[int, EndpointProgress] = {}
    reasons: dict[str, tuple[str, ...]] = {}
    for call, outcome in results:
        place = _place_of(call, collecting)
        found = complaints(outcome, call.endpoint) if isinstance(outcome, CallFailed) and place is not None else ()
        of_said = [one for one in found if place is not None and one.param in collecting.endpoints[place].values]
        if place is not None and of_said:
            waiting[place] = _without(collecting.endpoints[place], of_said)
            reasons[call.call_id] = tuple(one.reason for one in of_said if one.reason)
    if not waiting:
        return None
    left = collecting.model_copy(
        update={"endpoints": tuple(waiting.values()), "unmatched": (), "later": (), "lacking": ()}
    )
    return Reopened(collecting=left, reasons=reasons)


def _place_of(call: ApiCall, collecting: Collecting) -> int | None:
    """Find the endpoint that a call was planned for; one endpoint may stand there twice, with other values."""
    for place, progress in enumerate(collecting.endpoints):
        is_same = progress.endpoint.endpoint_id == call.endpoint.endpoint_id
        if is_same and all(progress.values.get(name, value) == value for name, value in call.arguments.items()):
            return place
    return None


def _without(progress: EndpointProgress, found: Sequence[Complaint]) -> EndpointProgress:
    names = tuple(one.param for one in found)
    kept = {name: value for name, value in progress.values.items() if name not in names}
    return progress.model_copy(update={"values": kept, "reopened": names})
