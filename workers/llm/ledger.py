"""Keeps what models were asked and what it cost: per turn for its meta event, per day and tenant for the bill.

A request is entered when it ends, in one round trip; a ledger that cannot be reached never stops a turn.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Protocol

import redis.asyncio as aioredis
import structlog

from schemas.ids import TurnId
from schemas.usage import JudgementCosts, ModelUse, TurnCosts, UsageRow
from workers.errors import StoreUnavailable
from workers.llm.scope import Scope
from workers.runtime.keys import Keys
from workers.runtime.redis import REDIS_AWAY

log = structlog.get_logger(__name__)

_TURN_KEPT = timedelta(days=1)
_DAY_KEPT = timedelta(days=92)


class UsageLedger(Protocol):
    """Where requests are entered, and what was spent so far is asked."""

    async def enter(self, use: ModelUse, scope: Scope, *, today: date) -> None:
        """Add one request."""
        ...

    async def of_turn(self, turn_id: str) -> TurnCosts:
        """Return what a turn has asked so far."""
        ...

    async def spent_usd(self, tenant: str, *, today: date) -> float:
        """Return what a tenant's requests of that day cost."""
        ...


class Ledger:
    """Usage in Redis. Reading raises StoreUnavailable when Redis is away; entering only logs it."""

    def __init__(self, redis: aioredis.Redis, keys: Keys) -> None:
        self._redis = redis
        self._keys = keys

    async def enter(self, use: ModelUse, scope: Scope, *, today: date) -> None:
        """Add one request to its turn and to its tenant's day."""
        amounts = _amounts(use)
        day = self._keys.usage(today.isoformat())
        pipe = self._redis.pipeline(transaction=False)
        for metric, amount in amounts.items():
            pipe.hincrbyfloat(day, json.dumps([scope.tenant, use.judgement, use.model, metric]), amount)
        pipe.expire(day, _DAY_KEPT)
        spent = self._keys.spent(today.isoformat(), scope.tenant)
        pipe.incrbyfloat(spent, use.cost_usd)
        pipe.expire(spent, timedelta(days=2))
        if scope.turn_id:
            turn = self._keys.costs(TurnId(scope.turn_id))
            for metric, amount in amounts.items():
                pipe.hincrbyfloat(turn, f"{use.judgement}:{metric}", amount)
            pipe.expire(turn, _TURN_KEPT)
        try:
            await pipe.execute()
        except REDIS_AWAY as error:
            log.warning("usage_not_entered", judgement=use.judgement, error=type(error).__name__)

    async def of_turn(self, turn_id: str) -> TurnCosts:
        """Return what the turn has asked so far; empty when it asked nothing."""
        try:
            found = await self._redis.hgetall(self._keys.costs(TurnId(turn_id)))
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not give a turn's costs") from error
        metrics: dict[str, dict[str, float]] = defaultdict(dict)
        for field, amount in found.items():
            judgement, _, metric = str(field).partition(":")
            metrics[judgement][metric] = float(amount)
        return TurnCosts(judgements={judgement: _costs(found) for judgement, found in sorted(metrics.items())})

    async def spent_usd(self, tenant: str, *, today: date) -> float:
        """Return what the tenant's requests of that day cost."""
        try:
            found = await self._redis.get(self._keys.spent(today.isoformat(), tenant))
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not give a tenant's spending") from error
        return float(found or 0.0)

    async def of_day(self, day: date) -> list[UsageRow]:
        """Return that day's rows, the dearest first."""
        try:
            found = await self._redis.hgetall(self._keys.usage(day.isoformat()))
        except REDIS_AWAY as error:
            raise StoreUnavailable("Redis did not give the day's usage") from error
        metrics: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
        for field, amount in found.items():
            tenant, judgement, model, metric = json.loads(field)
            metrics[tenant, judgement, model][metric] = float(amount)
        rows = [
            UsageRow(tenant=tenant, judgement=judgement, model=model, costs=_costs(one))
            for (tenant, judgement, model), one in metrics.items()
        ]
        return sorted(rows, key=lambda row: (-row.costs.cost_usd, -row.costs.calls, row.tenant, row.judgement))


def _amounts(use: ModelUse) -> dict[str, float]:
    return {
        "calls": 1,
        "prompt_tokens": use.prompt_tokens,
        "completion_tokens": use.completion_tokens,
        "cost_usd": use.cost_usd,
        "latency_ms": use.latency_ms,
    }


def _costs(metrics: Mapping[str, float]) -> JudgementCosts:
    return JudgementCosts(
        calls=int(metrics.get("calls", 0)),
        prompt_tokens=int(metrics.get("prompt_tokens", 0)),
        completion_tokens=int(metrics.get("completion_tokens", 0)),
        cost_usd=round(metrics.get("cost_usd", 0.0), 9),
        latency_ms=round(metrics.get("latency_ms", 0.0), 1),
    )
