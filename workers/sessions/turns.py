"""Keeps turns: admits them, hands them to stages, commits what stages did. Every step is one round trip."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from importlib import resources

import redis.asyncio as aioredis

from schemas.conversations import Conversation
from schemas.events import PhaseChanged, TurnCancelled, TurnEvent
from schemas.ids import SHARDS, TurnId, chat_of, shard_of
from schemas.turns import OnBusy, Phase, Turn, TurnRequest
from workers.errors import StaleTurn, StoreUnavailable, UnknownTurn
from workers.runtime.keys import Keys
from workers.runtime.redis import REDIS_AWAY
from workers.runtime.settings import TurnSettings
from workers.runtime.tracing import turn_ended
from workers.sessions.results import Admission, Cancelled, Passed, Resting, Taken

_OVER = {phase for phase in Phase if not phase.is_moving}


def _load_turn(record: str, phase: str, version: str | int, attempt: str | int) -> Turn:
    turn = Turn.model_validate_json(record)
    return turn.model_copy(update={"phase": Phase(phase), "version": int(version), "attempt": int(attempt)})


class TurnStore:
    """The records of turns and conversations in Redis. All methods raise StoreUnavailable when Redis is away."""

    def __init__(self, redis: aioredis.Redis, keys: Keys, settings: TurnSettings) -> None:
        self._redis = redis
        self._keys = keys
        self._settings = settings
        self._leases: dict[str, str] = {}
        scripts = resources.files(__package__) / "scripts"
        self._scripts = {
            name: redis.register_script((scripts / f"{name}.lua").read_text(encoding="utf-8"))
            for name in ("admit", "begin", "say", "commit", "cancel", "renew")
        }

    async def _run(self, name: str, keys: Sequence[str], args: Sequence[str | int | float]) -> list[str]:
        try:
            reply: list[str] = await self._scripts[name](keys=keys, args=args)
        except REDIS_AWAY as error:
            raise StoreUnavailable(f"Redis did not answer the script {name}") from error
        return reply

    def _turn_prefix(self, turn: TurnId) -> str:
        return self._keys.turn(turn).removesuffix(turn)

    async def admit(self, request: TurnRequest, *, on_busy: OnBusy) -> Admission:
        """Record the turn and give it the chat, or a place in the chat's queue; order is the order of this call."""
        turn = TurnId(request.turn_id)
        chat = chat_of(turn)
        k = self._keys
        reply = await self._run(
            "admit",
            [k.turn(turn), k.events(turn), k.active(chat), k.waiting(chat), k.moving(shard_of(chat))],
            [
                turn,
                Turn(request=request).model_dump_json(),
                PhaseChanged(phase=Phase.ACCEPTED).model_dump_json(),
                on_busy,
                self._settings.queued_per_chat,
                time.time(),
                self._settings.kept_s,
                self._turn_prefix(turn),
            ],
        )
        match reply:
            case ["queued", position]:
                return Admission("queued", position=int(position))
            case ["rejected", active]:
                return Admission("rejected", active=active)
            case ["full", length]:
                return Admission("full", position=int(length))
            case ["known"]:
                return Admission("known")
            case _:
                return Admission("started")

    async def load(self, turn_id: str) -> Turn | None:
        """Read a turn's record; None when there is none (never admitted, or its keeping time is over)."""
        try:
            found = await self._redis.hmget(self._keys.turn(TurnId(turn_id)), ["record", "phase", "version", "attempt"])
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not answer") from error
        record, phase, version, attempt = (str(value or "") for value in found)
        return _load_turn(record, phase, version, attempt) if record else None

    async def begin(self, turn_id: str, *, serves: frozenset[Phase], enter: Phase) -> Taken | Passed:
        """Take the turn up for a stage that serves these phases.

        Raises UnknownTurn when there is no record.
        """
        turn = TurnId(turn_id)
        chat = chat_of(turn)
        token = secrets.token_hex(8)
        k = self._keys
        claim = k.claim(turn, "stage")
        reply = await self._run(
            "begin",
            [k.turn(turn), k.events(turn), k.chat(chat), k.active(chat), claim, k.moving(shard_of(chat))],
            [
                turn,
                token,
                int(self._settings.lease_s * 1000),
                f",{','.join(serves)},",
                enter,
                PhaseChanged(phase=enter).model_dump_json(),
                k.live(turn),
                time.time(),
            ],
        )
        match reply:
            case ["mine", record, phase, version, attempt, chat_record]:
                self._leases[claim] = token
                conversation = Conversation.model_validate_json(chat_record) if chat_record else None
                return Taken(_load_turn(record, phase, version, attempt), conversation, token)
            case ["moved", record, phase, version, attempt, active]:
                return Passed(_load_turn(record, phase, version, attempt), active)
            case ["claimed"]:
                return Passed(None)
            case _:
                raise UnknownTurn(turn_id)

    async def say(self, turn_id: str, events: Sequence[TurnEvent], *, attempt: int | None) -> None:
        """Append events that change no state. Raises StaleTurn when another attempt speaks or the turn is over."""
        turn = TurnId(turn_id)
        k = self._keys
        args = ["" if attempt is None else attempt, k.live(turn), *(event.model_dump_json() for event in events)]
        said = await self._run("say", [k.turn(turn), k.events(turn)], args)
        if not said:
            raise StaleTurn(turn_id)

    async def commit(
        self, turn: Turn, events: Sequence[TurnEvent], *, conversation: Conversation | None = None
    ) -> str | None:
        """Write state, events and conversation together; raise StaleTurn when the record moved on meanwhile.

        `turn.version` is the version that was read. Returns the chat's next turn when this one ended, to be published.
        """
        turn_id = TurnId(turn.turn_id)
        chat = chat_of(turn_id)
        k = self._keys
        claim = k.claim(turn_id, "stage")
        self._leases.pop(claim, None)
        reply = await self._run(
            "commit",
            [
                k.turn(turn_id),
                k.events(turn_id),
                k.chat(chat),
                k.active(chat),
                k.waiting(chat),
                k.moving(shard_of(chat)),
                claim,
            ],
            [
                turn_id,
                turn.version,
                turn.model_dump_json(),
                turn.phase,
                "1" if turn.phase in _OVER else "",
                time.time(),
                conversation.model_dump_json() if conversation else "",
                self._settings.conversation_ttl_s,
                k.live(turn_id),
                self._turn_prefix(turn_id),
                self._settings.kept_s,
                *(event.model_dump_json() for event in events),
            ],
        )
        if reply[0] == "stale":
            raise StaleTurn(turn_id)
        if not turn.phase.is_moving:
            _trace(turn)
        return reply[2] or None

    async def cancel(self, turn_id: str) -> Cancelled:
        """End a moving turn from outside, at once; whoever works on it finds its commit stale."""
        turn = TurnId(turn_id)
        chat = chat_of(turn)
        k = self._keys
        reply = await self._run(
            "cancel",
            [k.turn(turn), k.events(turn), k.active(chat), k.waiting(chat), k.moving(shard_of(chat))],
            [
                turn,
                TurnCancelled().model_dump_json(),
                k.live(turn),
                time.time(),
                self._turn_prefix(turn),
                self._settings.kept_s,
            ],
        )
        match reply:
            case ["cancelled", next_turn]:
                return Cancelled("cancelled", next_turn or None)
            case ["already_over"]:
                return Cancelled("already_over")
            case _:
                return Cancelled("unknown")

    async def release(self, turn_id: str) -> None:
        """Give a claim up without a commit (the task failed and will be retried)."""
        claim = self._keys.claim(TurnId(turn_id), "stage")
        token = self._leases.pop(claim, None)
        if token is not None:
            await self._run("renew", [claim], [token, 1])

    async def renew_leases(self) -> None:
        """Prolong every claim this process holds; called every `lease_renew_s` by wiring."""
        for claim, token in list(self._leases.items()):
            held = await self._run("renew", [claim], [token, int(self._settings.lease_s * 1000)])
            if not held:
                self._leases.pop(claim, None)

    async def resting(self, *, now_s: float, limit: int = 500) -> list[Resting]:
        """Find moving turns without progress for `rest_before_sweep_s`, oldest first within a shard."""
        rested = now_s - self._settings.rest_before_sweep_s
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                for shard in SHARDS:
                    pipe.zrangebyscore(self._keys.moving(shard), "-inf", rested, start=0, num=limit)
                shards: list[list[str]] = await pipe.execute()
            found = [await self._examine(TurnId(turn)) for turns in shards for turn in turns]
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not answer") from error
        return [resting for resting in found if resting is not None]

    async def touch(self, turn_id: str, *, at_s: float) -> None:
        """Count a moving turn as progressed at that moment (seconds since the epoch), so that the sweep waits."""
        turn = TurnId(turn_id)
        try:
            await self._redis.zadd(self._keys.moving(shard_of(chat_of(turn))), {turn: at_s}, xx=True)
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not answer") from error

    async def _examine(self, turn_id: TurnId) -> Resting | None:
        chat = chat_of(turn_id)
        turn = await self.load(turn_id)
        if turn is None:  # its record has expired; only the index still names it
            await self._redis.zrem(self._keys.moving(shard_of(chat)), turn_id)
            return None
        claims = [
            self._keys.claim(turn_id, "stage"),
            *(self._keys.claim(turn_id, f"call:{c.index}") for c in turn.calls),
        ]
        active = await self._redis.get(self._keys.active(chat))
        claimed = await self._redis.exists(*claims)
        return Resting(turn, is_active=active == turn_id, is_claimed=bool(claimed))


def _trace(turn: Turn) -> None:
    """Trace a turn that ended, by how it ended."""
    facts = {"layer": str(turn.decision.layer), "rule": turn.decision.rule} if turn.decision else {}
    if turn.failure:
        facts["failure"] = str(turn.failure.code)
    turn_ended(
        turn.turn_id, began=turn.request.accepted_at, phase=str(turn.phase), calls=len(turn.calls),
        language=turn.language or "", **facts,
    )  # fmt: skip
