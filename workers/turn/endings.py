"""Ends a turn, or moves it to its next stage: one commit each, and the command that is owed after it.

Every method returns the next command of the chat: the turn's own next stage, or the first stage of the turn that
waited behind it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from schemas.calls import Cached
from schemas.commands import Command, Stage
from schemas.conversations import Conversation
from schemas.events import PhaseChanged, TurnEvent, TurnFailed
from schemas.failures import Failure, FailureCode
from schemas.routing import Decision
from schemas.turns import Turn
from workers.extraction.filler import Filler
from workers.extraction.loop import Asked
from workers.messages.catalog import text
from workers.runtime.clock import Clock, local_time
from workers.sessions.results import Passed
from workers.sessions.turns import TurnStore
from workers.turn import machine
from workers.turn.machine import advance, next_command
from workers.turn.parking import offered
from workers.turn.speech import Speaker
from workers.turn.wording import followed_by

_NONE_CACHED: Mapping[str, Cached] = MappingProxyType({})


def start_of(turn_id: str | None) -> Command | None:
    """Ask for the first stage of the chat's next turn, if there is one."""
    return Command(stage=Stage.CLASSIFICATION, turn_id=turn_id) if turn_id else None


@dataclass(frozen=True, kw_only=True)
class Endings:
    """Commits what a stage came to. Methods raise StaleTurn (harmless) and StoreUnavailable (retried)."""

    turns: TurnStore
    speaker: Speaker
    clock: Clock
    filler: Filler | None = None

    async def move(
        self, turn: Turn, events: Sequence[TurnEvent] = (), *, conversation: Conversation | None = None
    ) -> Command | None:
        """Commit the turn's new phase and return the stage that serves it."""
        await self.turns.commit(turn, [PhaseChanged(phase=turn.phase), *events], conversation=conversation)
        return next_command(turn)

    async def reply(self, turn: Turn, conversation: Conversation | None, decision: Decision) -> Command | None:
        """Say the finished sentence of a decision; one that offers choices is a question."""
        if decision.asks_to_choose:
            asked = advance(turn, machine.Asked(decision.reply))
            return start_of(await self.speaker.ask(asked, conversation, choices=decision.choices))
        decided = turn.model_copy(update={"decision": decision})
        if not (conversation and decision.keeps_collection):
            return await self.finish(decided, conversation, decision.reply)
        answered = advance(decided, machine.Answered(decision.reply))
        return start_of(await self.speaker.answer(answered, conversation, kept=conversation))

    async def finish(
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
        return start_of(
            await self.speaker.answer(
                advance(turn, machine.Answered(said + rest)),
                offer.conversation if offer else conversation,
                kept=offer.conversation if offer else None,
                offered=offer.choices if offer else (turn.decision.choices if turn.decision else ()),
                cached=cached,
                pieces=followed_by(rest, pieces) if pieces else None,
            )
        )

    async def ask(
        self, turn: Turn, conversation: Conversation | None, asked: Asked, *, said_first: str = ""
    ) -> Command | None:
        """End the turn with a question, after what is to be said before it."""
        if self.filler and turn.language:
            asked = await self.filler.worded(asked, language=turn.language)
        said = advance(turn, machine.Asked(f"{said_first}\n\n{asked.question}".strip()))
        return start_of(
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
        return start_of(await self.turns.commit(broken, [TurnFailed(failure=failure, text=sentence)]))
