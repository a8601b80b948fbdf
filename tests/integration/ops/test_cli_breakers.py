"""`signalbox breakers` against a real Redis that workers share."""

from __future__ import annotations

import json

import pytest
import redis.asyncio as aioredis

from tests.integration.ops.conftest import Cli
from workers.calling.breaker import BreakerRules, Pass, Verdict
from workers.calling.breaker_store import Admission, BreakerStore
from workers.runtime.keys import Keys

URL = "https://API.example.ee/holidays/{year}"
ADDRESS = "https://api.example.ee/holidays/{year}"


@pytest.fixture
def store(clean_redis: aioredis.Redis) -> BreakerStore:
    return BreakerStore(clean_redis, Keys(), BreakerRules())


async def test_an_operator_opens_and_closes_what_all_workers_see(store: BreakerStore, cli: Cli, redis_url: str) -> None:
    opened = cli("breakers", "open", f"{URL}?a=1", REDIS_URL=redis_url)
    kept_away = await store.admit(ADDRESS, owner="w", probe_s=1)
    listed = json.loads(cli("breakers", "list", "--json", REDIS_URL=redis_url).stdout)["items"]
    closed = cli("breakers", "close", URL, REDIS_URL=redis_url)
    let_through = await store.admit(ADDRESS, owner="w", probe_s=1)

    assert (opened.returncode, closed.returncode) == (0, 0), opened.stderr + closed.stderr
    assert (kept_away.verdict, let_through.verdict) == (Pass.NO, Pass.GO)
    assert listed == [{"endpoint": ADDRESS, "state": "forced_open", "failures": 0, "retryAfterS": 0.0}]
    assert json.loads(cli("breakers", "list", "--json", REDIS_URL=redis_url).stdout)["items"] == []


async def test_what_calls_did_to_a_breaker_is_shown(store: BreakerStore, cli: Cli, redis_url: str) -> None:
    for _ in range(5):
        await store.report(ADDRESS, Admission(owner="w", verdict=Pass.GO), Verdict.FAILING)

    told = json.loads(cli("breakers", "changes", "--json", REDIS_URL=redis_url).stdout)["items"]
    shown = cli("breakers", "list", REDIS_URL=redis_url)

    assert [(one["state"], one["failures"], one["by"]) for one in told] == [("open", 5, "calls")]
    assert "open" in shown.stdout
    assert "1 breakers" in shown.stdout


@pytest.mark.usefixtures("clean_redis")
@pytest.mark.parametrize("said", ["holidays", "ftp://a.ee/x", "https://", "http://[::1/x"])
async def test_what_is_no_endpoint_is_told_and_changes_nothing(said: str, cli: Cli, redis_url: str) -> None:
    told = cli("breakers", "open", said, REDIS_URL=redis_url)

    assert told.returncode == 1
    assert "no URL" in told.stderr
    assert json.loads(cli("breakers", "list", "--json", REDIS_URL=redis_url).stdout)["items"] == []
