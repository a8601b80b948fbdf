"""Ends a turn by speaking: its tokens, its terminal event, its state and the chat's memory leave together.

A text that is whole needs one commit, so a reader never sees half of it. With `token_pace_ms` set, tokens are said one
by one before the commit, as a model would yield them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from schemas.calls import Cached
from schemas.conversations import Collecting, Conversation
from schemas.events import AnswerCompleted, SlotAsked, TerminalEvent, TokenDelta
from schemas.routing import Choice, Layer
from schemas.turns import Turn
from workers.formatting.tokens import tokens
from workers.runtime.clock import Clock
from workers.runtime.settings import TurnSettings
from workers.sessions.turns import TurnStore
from workers.turn.memory import after_turn


class Speaker:
    """Says the turn's last words. Methods return the chat's next turn, to be started."""

    def __init__(self, turns: TurnStore, settings: TurnSettings, clock: Clock) -> None:
        self._turns = turns
        self._settings = settings
        self._clock = clock

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
        terminal = SlotAsked(attempt=turn.attempt, text=turn.answer, missing=tuple(missing), choices=tuple(choices))
        return await self._end(turn, before, terminal, collecting=collecting, choices=choices)

    async def answer(
        self,
        turn: Turn,
        before: Conversation | None,
        *,
        collecting: Collecting | None = None,
        choices: Sequence[Choice] = (),
        offered: Sequence[Choice] = (),
        cached: Mapping[str, Cached] = MappingProxyType({}),
    ) -> str | None:
        """End the turn with its answer. What stays open beside it, a collection or choices, is kept and not shown.

        `offered` are shown as well: the answer ends with the question that they answer. `cached` names the endpoints
        whose answer was known already.
        """
        decision = turn.decision
        terminal = AnswerCompleted(
            attempt=turn.attempt,
            text=turn.answer,
            layer=decision.layer if decision else Layer.OOD,
            endpoints=tuple(call.endpoint.name for call in turn.calls),
            cached=dict(cached),
            choices=tuple(offered),
        )
        return await self._end(turn, before, terminal, collecting=collecting, choices=(*choices, *offered))

    async def _end(
        self,
        turn: Turn,
        before: Conversation | None,
        terminal: TerminalEvent,
        *,
        collecting: Collecting | None,
        choices: Sequence[Choice],
    ) -> str | None:
        pieces = [
            TokenDelta(attempt=turn.attempt, index=index, text=piece) for index, piece in enumerate(tokens(turn.answer))
        ]
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
        return await self._turns.commit(turn, [*pieces, terminal], conversation=conversation)
