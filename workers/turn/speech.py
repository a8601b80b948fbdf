"""Ends a turn by speaking: its tokens, its terminal event, its state and the chat's memory leave together.

A text that is whole needs one commit, so a reader never sees half of it. With `token_pace_ms` set, tokens are said one
by one before the commit. What a model writes is said as it comes; where it breaks off or a guard objects, the rules'
text takes its place in the terminal event.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from types import MappingProxyType

import structlog

from schemas.calls import Cached
from schemas.conversations import Collecting, Conversation
from schemas.events import AnswerCompleted, SlotAsked, TokenDelta
from schemas.routing import Choice, Layer
from schemas.turns import Turn
from schemas.usage import TurnCosts
from workers.errors import ModelFailed, StoreUnavailable
from workers.formatting.tokens import tokens
from workers.llm.ledger import Ledger
from workers.runtime.clock import Clock
from workers.runtime.settings import TurnSettings
from workers.sessions.turns import TurnStore
from workers.turn.hearing import Heard
from workers.turn.memory import after_turn

log = structlog.get_logger(__name__)


class Speaker:
    """Says the turn's last words. Methods return the chat's next turn, to be started.

    With a ledger the terminal event tells what the turn asked of models.
    """

    def __init__(self, turns: TurnStore, settings: TurnSettings, clock: Clock, *, ledger: Ledger | None = None) -> None:
        self._turns = turns
        self._settings = settings
        self._clock = clock
        self._ledger = ledger

    async def ask(
        self,
        turn: Turn,
        before: Conversation | None,
        *,
        missing: Sequence[str] = (),
        choices: Sequence[Choice] = (),
        collecting: Collecting | None = None,
    ) -> str | None:
        """End the turn with a question; the chat's next message answers it."""
        terminal = SlotAsked(
            attempt=turn.attempt,
            text=turn.answer,
            missing=tuple(missing),
            choices=tuple(choices),
            costs=await self._costs(turn),
        )
        return await self._end(turn, before, terminal, collecting=collecting, choices=choices)

    async def answer(
        self,
        turn: Turn,
        before: Conversation | None,
        *,
        kept: Conversation | None = None,
        offered: Sequence[Choice] = (),
        cached: Mapping[str, Cached] = MappingProxyType({}),
        pieces: AsyncIterator[str] | None = None,
    ) -> str | None:
        """End the turn with its answer. What `kept` holds open, a collection or choices, stays so and is not shown.

        `offered` are shown as well: the answer ends with the question that they answer. `cached` names the endpoints
        whose answer was known already; `pieces` are a model's words, said in place of `turn.answer` if they come to an
        end.
        """
        decision = turn.decision
        written = await self._tell(turn, pieces) if pieces else None
        turn = turn.model_copy(update={"answer": written}) if written else turn
        terminal = AnswerCompleted(
            attempt=turn.attempt,
            text=turn.answer,
            layer=decision.layer if decision else Layer.OOD,
            endpoints=tuple(call.endpoint.name for call in turn.calls),
            cached=dict(cached),
            choices=tuple(offered),
            costs=await self._costs(turn),
            input_guard_failed=bool(decision and decision.blocked_by),
        )
        return await self._end(
            turn,
            before,
            terminal,
            collecting=kept.collecting if kept else None,
            choices=(*(kept.choices if kept else ()), *offered),
            is_said=pieces is not None,
        )

    async def _tell(self, turn: Turn, pieces: AsyncIterator[str]) -> str | None:
        """Say the pieces as they come and return their text; None when the model failed before the end.

        Raises StaleTurn when the turn is over meanwhile (cancelled, taken over); the model is then left at once.
        """
        heard = Heard(pieces)
        said: list[str] = []
        try:
            async for text in heard.together():
                piece = TokenDelta(attempt=turn.attempt, index=len(said), text=text)
                await self._turns.say(turn.turn_id, [piece], attempt=turn.attempt)
                said.append(text)
        except ModelFailed as error:
            log.warning("answer_left_to_rules", turn_id=turn.turn_id, reason=str(error), had_begun=bool(said))
            return None
        finally:
            await heard.leave()
        return "".join(said) if "".join(said).strip() else None

    async def _costs(self, turn: Turn) -> TurnCosts:
        if self._ledger is None:
            return TurnCosts()
        try:
            return await self._ledger.of_turn(turn.turn_id)
        except StoreUnavailable:
            return TurnCosts()

    async def _end(
        self,
        turn: Turn,
        before: Conversation | None,
        terminal: SlotAsked | AnswerCompleted,
        *,
        collecting: Collecting | None,
        choices: Sequence[Choice],
        is_said: bool = False,
    ) -> str | None:
        """Commit. Where a model has spoken, the terminal event alone brings what the reader lacks."""
        whole = [] if is_said else tokens(turn.answer)
        pieces = [TokenDelta(attempt=turn.attempt, index=index, text=piece) for index, piece in enumerate(whole)]
        if self._settings.token_pace_ms:
            for piece in pieces:
                await self._turns.say(turn.turn_id, [piece], attempt=turn.attempt)
                await asyncio.sleep(self._settings.token_pace_ms / 1000)
            pieces = []
        conversation = after_turn(
            before,
            turn,
            collecting=collecting,
            choices=choices,
            now=self._clock(),
            kept=self._settings.transcript_kept,
        )
        next_turn = await self._turns.commit(turn, [*pieces, terminal], conversation=conversation)
        _log_costs(turn, terminal.costs)
        return next_turn


def _log_costs(turn: Turn, costs: TurnCosts) -> None:
    """Write the turn's costs_metric, once: after the commit that ended it."""
    if costs.calls:
        log.info(
            "costs_metric",
            turn_id=turn.turn_id,
            tenant=turn.request.tenant,
            calls=costs.calls,
            tokens=costs.tokens,
            usd=round(costs.cost_usd, 6),
            judgements={name: one.model_dump() for name, one in costs.judgements.items()},
        )
