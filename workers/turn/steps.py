"""One method per stage: take the turn, let the room work, commit, say what comes next.

Each stage answers with a command or None. A stage that finds its turn elsewhere does no work and repeats the turn's
present command; one that finds it in another worker's hands steps aside. Methods raise StaleTurn (harmless),
StoreUnavailable (retried) and bugs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType

from schemas.calls import ApiCall, Cached, CallOutcome
from schemas.commands import Command, Stage
from schemas.conversations import Collecting, Conversation
from schemas.events import CallStarted, PhaseChanged, TurnEvent, TurnFailed
from schemas.failures import Failure, FailureCode
from schemas.ids import TurnId
from schemas.routing import Decision
from schemas.turns import Phase, Turn
from workers.calling.outcomes import OutcomeStore
from workers.calling.plan import plan
from workers.classification.chain import Classifier
from workers.errors import StaleTurn
from workers.extraction.filler import Spoken
from workers.extraction.loop import Abandoned, Asked, Ready, ask_again, collect
from workers.llm.scope import asking_for
from workers.messages.catalog import text
from workers.runtime.clock import Clock, local_time
from workers.sessions.results import Passed, Taken
from workers.sessions.turns import TurnStore
from workers.turn import machine
from workers.turn.cached import CachedCalls, ended, marks_of
from workers.turn.following import ABOUT_THE_RESULT, Followed, Way
from workers.turn.judges import Judges
from workers.turn.machine import advance, next_command
from workers.turn.memory import remembering, spoken_message
from workers.turn.parking import left_by, offered, open_in, parked_by
from workers.turn.reopening import reopen
from workers.turn.speech import Speaker
from workers.turn.wording import Told, Wording, followed_by

Work = Callable[[Taken], Awaitable[Command | None]]
_NONE_CACHED: Mapping[str, Cached] = MappingProxyType({})


def _start(turn_id: str | None) -> Command | None:
    """Ask for the first stage of the chat's next turn, if there is one."""
    return Command(stage=Stage.CLASSIFICATION, turn_id=turn_id) if turn_id else None


@dataclass(frozen=True, kw_only=True)
class Steps:
    """The stages of a turn, over the rooms that do the work."""

    turns: TurnStore
    way: Way
    classifier: Classifier
    calls: CachedCalls
    outcomes: OutcomeStore
    speaker: Speaker
    clock: Clock
    batch_timeout: timedelta
    judges: Judges = field(default_factory=Judges)
    wording: Wording = field(default_factory=Wording)

    async def classify(self, turn_id: str) -> Command | None:
        """Find the layer that claims the turn; small talk and refusals are answered on the spot."""
        return await self._stage(turn_id, {Phase.ACCEPTED, Phase.CLASSIFYING}, Phase.CLASSIFYING, self._classify)

    async def _classify(self, taken: Taken) -> Command | None:
        decision = await self.way.find(taken)
        if isinstance(decision, Followed):
            return await self._follow(taken, decision)
        turn = advance(taken.turn, machine.Routed(decision))
        if turn.phase is Phase.FORMATTING:
            return await self._reply(turn, parked_by(decision, taken.conversation), decision)
        return await self._move(turn)

    async def _follow(self, taken: Taken, followed: Followed) -> Command | None:
        """Go on from the call before this message: ask, call again, or answer from what is known."""
        turn = advance(taken.turn, machine.Routed(followed.decision))
        if isinstance(followed.outcome, Asked):
            return await self._ask(turn, taken.conversation, followed.outcome)
        collecting = followed.outcome.collecting
        if not followed.known:
            return await self._plan(turn, taken.conversation, collecting)
        calls = tuple(call for call, _ in followed.known)
        planned = advance(turn, machine.Planned(calls, at=self.clock()))
        return await self._say_known(planned, remembering(turn, taken.conversation, collecting), followed.known)

    async def extract(self, turn_id: str) -> Command | None:
        """Fill what the user said; ask for what is missing; plan the calls once nothing is."""
        return await self._stage(turn_id, {Phase.EXTRACTING}, Phase.EXTRACTING, self._extract)

    async def _extract(self, taken: Taken) -> Command | None:
        turn, decision = taken.turn, _decision(taken.turn)
        message = spoken_message(turn, taken.conversation)
        now = local_time(self.clock(), turn.request.time_zone)
        conversation = left_by(decision, taken.conversation, now=now)
        collecting = open_in(conversation, decision, message)
        outcome = collect(collecting, message, language=decision.language, now=now)
        if self.judges.filler and isinstance(outcome, Asked):
            said = conversation.transcript if conversation else ()
            spoken = Spoken(message=message, said=said, now=now, language=decision.language, hints=decision.hints)
            outcome = await self.judges.filler.improve(outcome, collecting, spoken)
        match outcome:
            case Asked() as asked:
                return await self._ask(turn, conversation, asked)
            case Ready(collecting=complete):
                return await self._plan(turn, conversation, complete)
            case Abandoned(say=say) if say:
                return await self._finish(turn, conversation, say)
            case Abandoned(reason=reason):
                fallen = await self.classifier.fall_through(
                    turn.request, conversation, language=decision.language, rule=reason
                )
                return await self._reply(turn, conversation, fallen)

    async def _plan(self, turn: Turn, conversation: Conversation | None, complete: Collecting) -> Command | None:
        calls = plan(TurnId(turn.turn_id), complete, environment=turn.request.environment)
        planned = advance(turn, machine.Planned(calls, at=self.clock()))
        remembered = remembering(turn, conversation, complete)
        known = await self.calls.find_all(turn, calls)
        if known is not None:
            return await self._say_known(planned, remembered, known)
        started = [CallStarted(index=call.index, endpoint=call.endpoint.name) for call in calls]
        return await self._move(planned, started, conversation=remembered)

    async def _say_known(
        self, planned: Turn, conversation: Conversation, known: Sequence[tuple[ApiCall, CallOutcome]]
    ) -> Command | None:
        """Answer at once: nothing is left to wait for, so no queue is asked."""
        await self.turns.say(planned.turn_id, [ended(call, outcome) for call, outcome in known], attempt=None)
        return await self._say_results(advance(planned, machine.Gathered()), conversation, known)

    async def call(self, turn_id: str) -> Command | None:
        """Make the turn's only call, in place."""
        return await self._stage(turn_id, {Phase.CALLING}, Phase.CALLING, self._call)

    async def _call(self, taken: Taken) -> Command | None:
        call = taken.turn.calls[0]
        outcome = await self._make(taken.turn, call)
        return await self._move(advance(taken.turn, machine.Gathered()), [ended(call, outcome)])

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
        found = await self.outcomes.all_of(turn.turn_id)
        # A lost or hanging call is given up for good, so that its late answer can no longer change the turn.
        results = [
            (call, found.get(call.call_id) or await self.outcomes.give_up(turn.turn_id, call)) for call in turn.calls
        ]
        return await self._say_results(turn, taken.conversation, results)

    async def _say_results(
        self, turn: Turn, conversation: Conversation | None, results: Sequence[tuple[ApiCall, CallOutcome]]
    ) -> Command | None:
        """Word the outcomes, and end the turn with them or with what an API did not accept."""
        decision = _decision(turn)
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
                reasons=reopened.reasons if reopened else {},
                now=now,
            )
        )
        await self.calls.remember(turn, results, query=query, language=decision.language)
        if reopened is not None:
            again = ask_again(reopened.collecting, language=decision.language, now=now)
            if isinstance(again, Asked):
                return await self._ask(turn, conversation, again, said_first=worded.text)
        return await self._finish(turn, conversation, worded.text, cached=marks_of(results), pieces=worded.pieces)

    async def _finish(
        self,
        turn: Turn,
        conversation: Conversation | None,
        said: str,
        *,
        cached: Mapping[str, Cached] = _NONE_CACHED,
        pieces: AsyncIterator[str] | None = None,
    ) -> Command | None:
        """End the turn with `said`, or a model's `pieces` in its place; what the chat had parked is offered again."""
        offer = offered(
            conversation, language=turn.language or "en", now=local_time(self.clock(), turn.request.time_zone)
        )
        rest = f"\n\n{offer.text}" if offer else ""
        return _start(
            await self.speaker.answer(
                advance(turn, machine.Answered(said + rest)),
                offer.conversation if offer else conversation,
                kept=offer.conversation if offer else None,
                offered=offer.choices if offer else (turn.decision.choices if turn.decision else ()),
                cached=cached,
                pieces=followed_by(rest, pieces) if pieces else None,
            )
        )

    async def _ask(
        self, turn: Turn, conversation: Conversation | None, asked: Asked, *, said_first: str = ""
    ) -> Command | None:
        """End the turn with a question, after what is to be said before it."""
        if self.judges.filler and turn.language:
            asked = await self.judges.filler.worded(asked, language=turn.language)
        said = advance(turn, machine.Asked(f"{said_first}\n\n{asked.question}".strip()))
        return _start(
            await self.speaker.ask(
                said, conversation, missing=asked.missing, choices=asked.choices, collecting=asked.collecting
            )
        )

    async def fail(self, turn_id: str, error_id: str, *, code: FailureCode = FailureCode.INTERNAL) -> Command | None:
        """End a moving turn with an honest apology. A turn that is over, or in living hands, is left alone."""
        turn = await self.turns.load(turn_id)
        if turn is None or not turn.phase.is_moving:
            return None
        found = await self.turns.begin(turn_id, serves=frozenset({turn.phase}), enter=turn.phase)
        if isinstance(found, Passed):
            return None
        language = found.turn.language or (found.conversation and found.conversation.language) or "en"
        failure = Failure(code=code, error_id=error_id)
        sentence = text(f"failure.{code}", language, error_id=error_id)
        broken = advance(found.turn, machine.Broke(failure)).model_copy(update={"answer": sentence})
        return _start(await self.turns.commit(broken, [TurnFailed(failure=failure, text=sentence)]))

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
            return _start(passed.active) if passed.active != turn_id else None
        is_queued = passed.turn.phase is Phase.ACCEPTED and passed.active != turn_id
        return None if is_queued else next_command(passed.turn)

    async def _reply(self, turn: Turn, conversation: Conversation | None, decision: Decision) -> Command | None:
        """Say the finished sentence of a decision; one that offers choices is a question."""
        if decision.asks_to_choose:
            asked = advance(turn, machine.Asked(decision.reply))
            return _start(await self.speaker.ask(asked, conversation, choices=decision.choices))
        decided = turn.model_copy(update={"decision": decision})
        if not (conversation and decision.keeps_collection):
            return await self._finish(decided, conversation, decision.reply)
        answered = advance(decided, machine.Answered(decision.reply))
        return _start(await self.speaker.answer(answered, conversation, kept=conversation))

    async def _move(
        self, turn: Turn, events: Sequence[TurnEvent] = (), *, conversation: Conversation | None = None
    ) -> Command | None:
        await self.turns.commit(turn, [PhaseChanged(phase=turn.phase), *events], conversation=conversation)
        return next_command(turn)


def _decision(turn: Turn) -> Decision:
    if turn.decision is None:
        raise ValueError(f"turn {turn.turn_id} is {turn.phase} without a decision")
    return turn.decision
