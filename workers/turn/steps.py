"""One method per stage: take the turn, let the room work, commit, say what comes next.

Each stage answers with a command or None. A stage that finds its turn elsewhere does no work and repeats the turn's
present command; one that finds it in another worker's hands steps aside. Methods raise StaleTurn (harmless),
StoreUnavailable (retried) and bugs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from schemas.calls import ApiCall, CallOutcome
from schemas.commands import Command
from schemas.turns import Phase, Turn
from workers.classification.chain import Classifier
from workers.errors import StaleTurn
from workers.extraction.fanning import MOST_AT_ONCE
from workers.extraction.filler import Filler, Spoken
from workers.extraction.loop import Abandoned, Asked, Ready, collect
from workers.llm.scope import asking_for
from workers.runtime.clock import Clock, local_time
from workers.sessions.results import Passed, Taken
from workers.sessions.turns import TurnStore
from workers.turn import machine
from workers.turn.answering import Answering, decision_of
from workers.turn.cached import CachedCalls, ended
from workers.turn.endings import Endings, start_of
from workers.turn.following import Followed, Way
from workers.turn.machine import advance, next_command
from workers.turn.memory import remembering, spoken_message
from workers.turn.parking import earlier_in, left_by, open_in, parked_by, waiting_behind, with_put_off

Work = Callable[[Taken], Awaitable[Command | None]]


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The stages of a turn, over the rooms that do the work."""

    turns: TurnStore
    way: Way
    classifier: Classifier
    calls: CachedCalls
    answering: Answering
    endings: Endings
    clock: Clock
    batch_timeout: timedelta
    most_at_once: int = MOST_AT_ONCE
    filler: Filler | None = None

    async def classify(self, turn_id: str) -> Command | None:
        """Find the layer that claims the turn; small talk and refusals are answered on the spot."""
        return await self._stage(turn_id, {Phase.ACCEPTED, Phase.CLASSIFYING}, Phase.CLASSIFYING, self._classify)

    async def _classify(self, taken: Taken) -> Command | None:
        decision = await self.way.find(taken)
        if isinstance(decision, Followed):
            return await self._follow(taken, decision)
        turn = advance(taken.turn, machine.Routed(decision))
        if turn.phase is Phase.FORMATTING:
            return await self.endings.reply(turn, parked_by(decision, taken.conversation), decision)
        return await self.endings.move(turn)

    async def _follow(self, taken: Taken, followed: Followed) -> Command | None:
        """Go on from the call before this message: ask, call again, or answer from what is known."""
        turn = advance(taken.turn, machine.Routed(followed.decision))
        if isinstance(followed.outcome, Asked):
            return await self.endings.ask(turn, taken.conversation, followed.outcome)
        collecting = followed.outcome.collecting
        if not followed.known:
            return await self.answering.plan(turn, taken.conversation, collecting)
        calls = tuple(call for call, _ in followed.known)
        planned = advance(turn, machine.Planned(calls, at=self.clock()))
        remembered = remembering(turn, taken.conversation, collecting)
        return await self.answering.say_known(planned, remembered, followed.known)

    async def extract(self, turn_id: str) -> Command | None:
        """Fill what the user said; ask for what is missing; plan the calls once nothing is."""
        return await self._stage(turn_id, {Phase.EXTRACTING}, Phase.EXTRACTING, self._extract)

    async def _extract(self, taken: Taken) -> Command | None:
        turn, decision = taken.turn, decision_of(taken.turn)
        message = spoken_message(turn, taken.conversation)
        now = local_time(self.clock(), turn.request.time_zone)
        conversation = left_by(decision, taken.conversation, now=now, message=message)
        collecting = open_in(
            conversation, decision, message, now=now, seeds=turn.request.seeded_params, most_at_once=self.most_at_once
        )
        earlier = earlier_in(conversation, collecting)
        outcome = collect(collecting, message, language=decision.language, now=now, earlier=earlier)
        if self.filler and isinstance(outcome, Asked):
            said = conversation.transcript if conversation else ()
            spoken = Spoken(
                message=message, said=said, now=now, language=decision.language, hints=decision.hints, before=earlier
            )
            outcome = await self.filler.improve(outcome, collecting, spoken)
        match outcome:
            case Asked() as asked:
                waits = waiting_behind(taken.conversation, conversation, language=decision.language)
                return await self.endings.ask(turn, conversation, asked, said_first=waits)
            case Ready(collecting=complete):
                parked, planned = with_put_off(conversation, complete), complete.model_copy(update={"put_off": ()})
                return await self.answering.plan(turn, parked, planned)
            case Abandoned(say=say) if say:
                return await self.endings.finish(turn, conversation, say)
            case Abandoned(reason=reason):
                fallen = await self.classifier.fall_through(
                    turn.request, conversation, language=decision.language, rule=reason
                )
                return await self.endings.reply(turn, conversation, fallen)

    async def call(self, turn_id: str) -> Command | None:
        """Make the turn's only call, in place."""
        return await self._stage(turn_id, {Phase.CALLING}, Phase.CALLING, self._call)

    async def _call(self, taken: Taken) -> Command | None:
        call = taken.turn.calls[0]
        outcome = await self._make(taken.turn, call)
        return await self.endings.move(advance(taken.turn, machine.Gathered()), [ended(call, outcome)])

    async def call_part(self, turn_id: str, index: int) -> None:
        """Make one of several calls; its outcome waits in the store for the join. Never raises for a failed API."""
        turn = await self.turns.load(turn_id)
        if turn is None or turn.phase is not Phase.CALLING:
            return
        call = turn.calls[index]
        outcome = await self._make(turn, call)
        await self.turns.say(turn_id, [ended(call, outcome)], attempt=None)

    async def _make(self, turn: Turn, call: ApiCall) -> CallOutcome:
        since = turn.calling_since or self.clock()
        deadline = min(turn.request.deadline_at, since + self.batch_timeout)
        return await self.calls.make(turn, call, deadline=deadline)

    async def format(self, turn_id: str) -> Command | None:
        """Say what the calls brought. Calls without an outcome by now have timed out."""
        return await self._stage(turn_id, {Phase.CALLING, Phase.FORMATTING}, Phase.FORMATTING, self._format)

    async def _format(self, taken: Taken) -> Command | None:
        turn = taken.turn
        found = await self.calls.outcomes.all_of(turn.turn_id)
        # A lost or hanging call is given up for good, so that its late answer can no longer change the turn.
        results = [
            (call, found.get(call.call_id) or await self.calls.outcomes.give_up(turn.turn_id, call))
            for call in turn.calls
        ]
        return await self.answering.say_results(turn, taken.conversation, results)

    async def _stage(self, turn_id: str, serves: set[Phase], enter: Phase, work: Work) -> Command | None:
        found = await self.turns.begin(turn_id, serves=frozenset(serves), enter=enter)
        if isinstance(found, Passed):
            return self._repeat(found, turn_id)
        try:
            request = found.turn.request
            with asking_for(request.tenant, turn_id=turn_id, deadline_at=request.deadline_at):
                return await work(found)
        except StaleTurn:
            raise
        except BaseException:
            await self.turns.release(turn_id)  # the retry must not wait for the lease to run out
            raise

    def _repeat(self, passed: Passed, turn_id: str) -> Command | None:
        if passed.turn is None:
            return None
        if not passed.turn.phase.is_moving:
            return start_of(passed.active) if passed.active != turn_id else None
        is_queued = passed.turn.phase is Phase.ACCEPTED and passed.active != turn_id
        return None if is_queued else next_command(passed.turn)
