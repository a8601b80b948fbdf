"""The first outcome of a call wins; nobody sends twice; a call that left before its sender died is known to have left.

A lease says who sends now and runs out by itself. A sending mark, set just before the first byte of a call that must
not be repeated, stays: whoever finds it without an outcome knows that nobody knows.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from typing import Any

import redis.asyncio as aioredis
from pydantic import TypeAdapter

from schemas.calls import ApiCall, CallFailed, CallOutcome, FailureReason
from schemas.ids import TurnId
from workers.errors import StoreUnavailable
from workers.runtime.keys import Keys
from workers.runtime.redis import REDIS_AWAY

_OUTCOME: TypeAdapter[CallOutcome] = TypeAdapter(CallOutcome)


class ClaimState(StrEnum):
    """Whose call it is. MINE and ABANDONED_AFTER_SENDING hold the lease; the latter also found a sending mark."""

    MINE = "mine"
    SOMEBODY_ELSE_IS_SENDING = "busy"
    OUTCOME_EXISTS = "outcome"
    ABANDONED_AFTER_SENDING = "abandoned"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The answer to "may I make this call?"; `outcome` is there for OUTCOME_EXISTS only."""

    turn_id: str
    call_id: str
    token: str
    state: ClaimState
    outcome: CallOutcome | None = None


class OutcomeStore:
    """Outcomes and leases in Redis. All methods raise StoreUnavailable when Redis is away."""

    def __init__(self, redis: aioredis.Redis, keys: Keys, *, kept_s: int = 86_400) -> None:
        self._redis = redis
        self._keys = keys
        self._kept_s = kept_s
        folder = resources.files(__package__) / "scripts"
        self._scripts = {
            name: redis.register_script((folder / f"{name}.lua").read_text(encoding="utf-8"))
            for name in ("claim", "prolong", "record", "release")
        }

    async def record(self, turn_id: str, outcome: CallOutcome) -> CallOutcome:
        """Keep the outcome unless the call has one already; return the one that holds."""
        return await self._record(turn_id, outcome, instead="")

    async def give_up(self, turn_id: str, call: ApiCall) -> CallOutcome:
        """End a call whose worker is lost: unknown if it must not be repeated and had left, else timed out."""
        lost = CallFailed(call_id=call.call_id, reason=FailureReason.TIMED_OUT)
        unknown = lost.model_copy(update={"reason": FailureReason.UNKNOWN})
        return await self._record(turn_id, lost, instead=unknown.model_dump_json())

    async def all_of(self, turn_id: str) -> dict[str, CallOutcome]:
        """Return every outcome of the turn so far, by call id."""
        try:
            found = await self._redis.hgetall(self._keys.calls(TurnId(turn_id)))
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not answer") from error
        return {str(call_id): _OUTCOME.validate_json(outcome) for call_id, outcome in found.items()}

    async def claim(self, turn_id: str, call_id: str, lease_s: float) -> Claim:
        """Ask for the right to make the call, for `lease_s` seconds."""
        token = secrets.token_hex(8)
        reply: list[str] = await self._run(
            "claim", self._keys_of(turn_id, call_id), [call_id, token, round(lease_s * 1000)]
        )
        state = ClaimState(reply[0])
        outcome = _OUTCOME.validate_json(reply[1]) if state is ClaimState.OUTCOME_EXISTS else None
        return Claim(turn_id=turn_id, call_id=call_id, token=token, state=state, outcome=outcome)

    async def prolong(self, claim: Claim, lease_s: float) -> bool:
        """Keep the lease for `lease_s` more; False when it passed to another, and then nothing may be sent."""
        return await self._prolong(claim, lease_s, mark_s=0)

    async def mark_sending(self, claim: Claim, lease_s: float) -> bool:
        """Note that the request leaves now, and keep the lease; False as in `prolong`, and then no mark is set."""
        return await self._prolong(claim, lease_s, mark_s=self._kept_s)

    async def release(self, claim: Claim) -> None:
        """Let others try at once, unless the request has left."""
        _, lease, mark = self._keys_of(claim.turn_id, claim.call_id)
        await self._run("release", [lease, mark], [claim.token])

    async def _record(self, turn_id: str, outcome: CallOutcome, *, instead: str) -> CallOutcome:
        calls, _, mark = self._keys_of(turn_id, outcome.call_id)
        held: str = await self._run(
            "record", [calls, mark], [outcome.call_id, outcome.model_dump_json(), self._kept_s, instead]
        )
        return _OUTCOME.validate_json(held)

    async def _prolong(self, claim: Claim, lease_s: float, *, mark_s: int) -> bool:
        keys = self._keys_of(claim.turn_id, claim.call_id)
        return bool(await self._run("prolong", keys, [claim.call_id, claim.token, round(lease_s * 1000), mark_s]))

    def _keys_of(self, turn_id: str, call_id: str) -> list[str]:
        turn = TurnId(turn_id)
        what = call_id.removeprefix(f"{turn_id}:")
        keys = self._keys
        return [keys.calls(turn), keys.claim(turn, f"call:{what}"), keys.claim(turn, f"sent:{what}")]

    async def _run(self, name: str, keys: Sequence[str], args: Sequence[str | int]) -> Any:
        try:
            return await self._scripts[name](keys=keys, args=args)
        except REDIS_AWAY as error:
            raise StoreUnavailable(f"Redis did not answer the script {name}") from error
