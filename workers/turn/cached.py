"""Calls that may not need to be made: what is kept answers at once, what many ask at the same time is asked once.

An outcome that was not called for is recorded like one that was, so a redelivered task finds it the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from schemas.auth import UserTokenAuth
from schemas.calls import ApiCall, Cached, CallOutcome, CallSucceeded
from schemas.endpoints import Language
from schemas.events import CallEnded
from schemas.ids import TurnId, chat_of
from schemas.turns import Turn
from workers.caching.cache import ResponseCache
from workers.caching.last_calls import LastCalls, Remembered
from workers.caching.refresh import wants_fresh
from workers.calling.caller import Caller
from workers.calling.outcomes import OutcomeStore
from workers.sessions.user_tokens import UserTokens

Results = Sequence[tuple[ApiCall, CallOutcome]]

SAME_CALL = frozenset({"follow_up:response_question", "follow_up:refresh"})
"""Rules of decisions under which the last call itself is meant, whatever words asked for it."""


@dataclass(frozen=True, kw_only=True)
class CachedCalls:
    """Makes a turn's calls, or finds their answers."""

    caller: Caller
    outcomes: OutcomeStore
    cache: ResponseCache
    user_tokens: UserTokens

    async def make(self, turn: Turn, call: ApiCall, *, deadline: datetime) -> CallOutcome:
        """Return the call's outcome, recorded. Raises StoreUnavailable."""

        async def call_it() -> CallOutcome:
            # Only a call that is really made opens the person's token, and only for an endpoint that passes it on.
            is_for_user = isinstance(call.endpoint.auth, UserTokenAuth) and turn.request.user_token_name
            own = await self.user_tokens.of(turn.turn_id) if is_for_user else None
            return await self.caller.call(call, turn_id=turn.turn_id, deadline=deadline, user_token=own)

        afresh = wants_fresh(turn.request.message)
        outcome = await self.cache.fetch(call, turn.request, call_it, deadline=deadline, afresh=afresh)
        return outcome if mark_of(outcome) is None else await self.outcomes.record(turn.turn_id, outcome)

    async def find_all(self, turn: Turn, calls: Sequence[ApiCall]) -> list[tuple[ApiCall, CallOutcome]] | None:
        """Return the answer of every call, recorded, when all of them are kept; None when one must be made."""
        if wants_fresh(turn.request.message):
            return None
        found: list[tuple[ApiCall, CallOutcome]] = []
        for call in calls:
            outcome = await self.cache.find(call, turn.request)
            if outcome is None:
                return None
            found.append((call, outcome))
        return [(call, await self.outcomes.record(turn.turn_id, outcome)) for call, outcome in found]

    async def remember(self, turn: Turn, results: Results, *, query: str, language: Language) -> None:
        """Note the turn's calls for the next message of the chat, before that can arrive."""
        if not self.cache.is_on:
            return
        before = await self.cache.recall(turn.request)
        leans = turn.decision is not None and turn.decision.rule in SAME_CALL
        said = {one.endpoint.endpoint_id: one.last.query for one in reversed(before.calls)} if leans else {}
        noted = [
            self.cache.remembered(
                call, outcome, turn.request, query=said.get(call.endpoint.endpoint_id, query), language=language
            )
            for call, outcome in results
        ]
        kept = [
            _as_before(one, call, outcome, before) for (call, outcome), one in zip(results, noted, strict=True) if one
        ]
        chat = chat_of(TurnId(turn.turn_id))
        await self._forget_what_changed(results, before)
        if kept:
            await self.cache.last_calls.note(chat, kept, before=before)

    async def _forget_what_changed(self, results: Results, before: LastCalls) -> None:
        """After a call that may have changed something, what this chat was told by the same host is no longer kept.

        RFC 9111 section 4.4 says so of the same address; a loan that was renewed is listed under another one.
        """
        hosts = {urlsplit(call.endpoint.url).netloc for call, _ in results if call.endpoint.method != "GET"}
        stale = [one.last.result for one in before.calls if urlsplit(one.endpoint.url).netloc in hosts]
        await self.cache.forget([result for result in stale if result])


def _as_before(one: Remembered, call: ApiCall, outcome: CallOutcome, before: LastCalls) -> Remembered:
    """A question about a result leaves the call as old as it is: its relative dates are of that day."""
    mark = mark_of(outcome)
    same = (b for b in before.calls if b.endpoint.endpoint_id == call.endpoint.endpoint_id)
    earlier = next((b for b in same if b.last.arguments == call.arguments), None)
    if mark is None or mark.source != "L2" or earlier is None:
        return one
    return earlier.model_copy(update={"turn_id": one.turn_id, "index": one.index})


def mark_of(outcome: CallOutcome) -> Cached | None:
    """Say where an outcome came from, when no call was made for it."""
    return outcome.cached if isinstance(outcome, CallSucceeded) else None


def marks_of(results: Results) -> dict[str, Cached]:
    """Name the endpoints that were not called for this turn, for its meta event; the oldest answer of each counts."""
    marks: dict[str, Cached] = {}
    for call, outcome in results:
        mark = mark_of(outcome)
        if mark is not None and mark.age_s >= marks.get(call.endpoint.name, mark).age_s:
            marks[call.endpoint.name] = mark
    return marks


def ended(call: ApiCall, outcome: CallOutcome) -> CallEnded:
    """Tell that a call ended, or that it need not be made."""
    return CallEnded(
        index=call.index,
        endpoint=call.endpoint.name,
        reason=None if isinstance(outcome, CallSucceeded) else outcome.reason,
        elapsed_ms=round(outcome.elapsed_ms, 1),
        cached=mark_of(outcome),
    )
