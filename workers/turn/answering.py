"""From complete values to an answer: plan the calls, use what is known of them, and word what they brought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from schemas.calls import ApiCall, CallOutcome
from schemas.commands import Command
from schemas.conversations import Collecting, Conversation
from schemas.events import CallStarted
from schemas.ids import TurnId
from schemas.routing import Decision
from schemas.turns import Turn
from workers.calling.plan import plan as calls_for
from workers.extraction.loop import Asked, ask_again
from workers.runtime.clock import Clock, local_time
from workers.sessions.turns import TurnStore
from workers.turn import machine
from workers.turn.cached import CachedCalls, ended, marks_of
from workers.turn.endings import Endings
from workers.turn.following import ABOUT_THE_RESULT
from workers.turn.machine import advance
from workers.turn.memory import remembering
from workers.turn.reopening import reopen
from workers.turn.wording import Told, Wording


@dataclass(frozen=True, kw_only=True)
class Answering:
    """Plans the calls of a turn, and answers with their outcomes."""

    turns: TurnStore
    calls: CachedCalls
    endings: Endings
    clock: Clock
    wording: Wording = field(default_factory=Wording)

    async def plan(self, turn: Turn, conversation: Conversation | None, complete: Collecting) -> Command | None:
        """Plan the calls of complete values; where the cache knows every outcome, answer at once."""
        calls = calls_for(TurnId(turn.turn_id), complete, environment=turn.request.environment)
        planned = advance(turn, machine.Planned(calls, at=self.clock()))
        remembered = remembering(turn, conversation, complete)
        known = await self.calls.find_all(turn, calls)
        if known is not None:
            return await self.say_known(planned, remembered, known)
        started = [CallStarted(index=call.index, endpoint=call.endpoint.name) for call in calls]
        return await self.endings.move(planned, started, conversation=remembered)

    async def say_known(
        self, planned: Turn, conversation: Conversation, known: Sequence[tuple[ApiCall, CallOutcome]]
    ) -> Command | None:
        """Answer at once: nothing is left to wait for, so no queue is asked."""
        await self.turns.say(planned.turn_id, [ended(call, outcome) for call, outcome in known], attempt=None)
        return await self.say_results(advance(planned, machine.Gathered()), conversation, known)

    async def say_results(
        self, turn: Turn, conversation: Conversation | None, results: Sequence[tuple[ApiCall, CallOutcome]]
    ) -> Command | None:
        """Word the outcomes, and end the turn with them or with what an API did not accept."""
        decision = decision_of(turn)
        collecting = conversation.collecting if conversation else None
        query = collecting.original_query if collecting else turn.request.message
        reopened = reopen(collecting, results) if collecting else None
        now = local_time(self.clock(), turn.request.time_zone)
        worded = self.wording.word(
            Told(
                query=query,
                question=turn.request.message if decision.rule == ABOUT_THE_RESULT else "",
                results=results,
                language=decision.language,
                unmatched=collecting.unmatched if collecting else decision.unmatched,
                later=collecting.later if collecting else (),
                lacking=collecting.lacking if collecting else (),
                carried=collecting.carried if collecting else (),
                reasons=reopened.reasons if reopened else {},
                now=now,
            )
        )
        await self.calls.remember(turn, results, query=query, language=decision.language)
        if reopened is not None:
            again = ask_again(reopened.collecting, language=decision.language, now=now)
            if isinstance(again, Asked):
                return await self.endings.ask(turn, conversation, again, said_first=worded.text)
        return await self.endings.finish(
            turn, conversation, worded.text, cached=marks_of(results), pieces=worded.pieces
        )


def decision_of(turn: Turn) -> Decision:
    """Return what the classification decided. Raises ValueError for a turn that was never classified."""
    if turn.decision is None:
        raise ValueError(f"turn {turn.turn_id} is {turn.phase} without a decision")
    return turn.decision
