"""What models used is counted for the scraper, priced by the operator's own list, and summed by day and tenant."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
import redis.asyncio as aioredis
from prometheus_client import REGISTRY

from tests.integration.llm.scripted import Reply, marked, scripted_model
from tests.integration.llm.test_faults import FILLED, Fill, open_model
from workers.errors import ModelFailed
from workers.llm.ledger import Ledger
from workers.llm.scope import asking_for
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys

HOUSE = "openai/house-model"


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"{name}_total", {"judgement": "fill", "model": HOUSE} | labels) or 0.0


async def test_requests_tokens_and_dollars_are_counted_by_judgement_and_model() -> None:
    names = (
        ("signalbox_model_requests", {"ending": "answered"}),
        ("signalbox_model_requests", {"ending": "server_error"}),
        ("signalbox_model_tokens", {"kind": "prompt"}),
        ("signalbox_model_tokens", {"kind": "completion"}),
    )
    before = [counted(name, **labels) for name, labels in names]
    with scripted_model(503, otherwise=marked(found=FILLED)) as script:
        model = await open_model(script, model=HOUSE)
        await model.ask(Fill, message="x")
        await model.ask(Fill, message="x")

    after = [counted(name, **labels) for name, labels in names]
    assert [new - old for new, old in zip(after, before, strict=True)] == [2, 1, 22, 14]


async def test_the_operators_own_prices_make_the_bill(clean_redis: aioredis.Redis, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('["house-model"]\ninput = 1000\noutput = 10000\n', encoding="utf-8")
    ledger, before = Ledger(clean_redis, Keys("t")), counted("signalbox_model_cost_usd")
    with scripted_model(otherwise=marked(found=FILLED)) as script:
        model = await open_model(script, ledger=ledger, model=HOUSE, prices_file=prices)
        with asking_for("tenant-1"):
            await model.ask(Fill, message="x")

    assert await ledger.spent_usd("tenant-1", today=utc_now().date()) == pytest.approx(0.011 + 0.07)
    assert counted("signalbox_model_cost_usd") - before == pytest.approx(0.081)


async def test_days_tenants_and_judgements_have_rows_of_their_own(clean_redis: aioredis.Redis) -> None:
    ledger, today = Ledger(clean_redis, Keys("t")), utc_now().date()
    with scripted_model(401, otherwise=marked(found=FILLED)) as script:
        model = await open_model(script, ledger=ledger)
        for tenant in ("a", "a", "b"):
            with asking_for(tenant):
                try:
                    await model.ask(Fill, message="x")
                except ModelFailed:
                    continue

    rows = {row.tenant: row.costs for row in await ledger.of_day(today)}
    assert (rows["a"].calls, rows["a"].prompt_tokens) == (2, 11)  # one was refused and cost nothing
    assert (rows["b"].calls, rows["b"].prompt_tokens) == (1, 11)
    assert await ledger.of_day(today - timedelta(days=1)) == []


async def test_tokens_that_nobody_counted_are_reckoned_from_the_text(clean_redis: aioredis.Redis) -> None:
    ledger = Ledger(clean_redis, Keys("t"))
    with scripted_model(Reply(content=marked(found=FILLED), counts=False)) as script:
        model = await open_model(script, ledger=ledger)
        with asking_for("a"):
            await model.ask(Fill, message="word " * 400)

    (row,) = await ledger.of_day(utc_now().date())
    assert 400 <= row.costs.prompt_tokens <= 600
