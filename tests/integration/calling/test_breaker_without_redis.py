"""The breaker while Redis is away, and what the others know of it afterwards. The Redis here stops and starts."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import redis
from structlog.testing import capture_logs

from tests.conftest import free_port, server_binary
from workers.calling.breaker import BreakerRules, BreakerState, Pass, Verdict
from workers.calling.breaker_store import Admission, BreakerStore
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import RedisSettings

URL = "https://a.ee/x"
# Asking a Redis that is gone takes a fraction of a second, so the cooldown is longer than a few of them.
RULES = BreakerRules(failures_to_open=3, cooldown_ms=3_000)


@dataclass
class Blinking:
    """A Redis that keeps its port, and its data, when it goes away and comes back."""

    folder: Path
    port: int = field(default_factory=free_port)
    server: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def come(self) -> None:
        self.server = subprocess.Popen(
            [server_binary(), "--port", str(self.port), "--bind", "127.0.0.1", *self._kept()],
            stdout=subprocess.DEVNULL,
        )
        client, deadline = redis.Redis.from_url(self.url), time.monotonic() + 10
        while True:
            try:
                client.ping()
                break
            except redis.ConnectionError:
                assert time.monotonic() < deadline
                time.sleep(0.02)
        client.close()

    def _kept(self) -> list[str]:
        return ["--dir", str(self.folder), "--appendonly", "yes", "--appendfsync", "always"]

    def go(self) -> None:
        assert self.server is not None
        self.server.kill()
        self.server.wait(timeout=10)
        self.server = None

    def freeze(self, wanted: signal.Signals) -> None:
        assert self.server is not None
        os.kill(self.server.pid, wanted)


@pytest.fixture
def blinking(tmp_path: Path) -> Iterator[Blinking]:
    server = Blinking(tmp_path)
    server.come()
    yield server
    if server.server is not None:
        server.freeze(signal.SIGCONT)
        server.go()


@pytest.fixture
async def stores(blinking: Blinking) -> AsyncIterator[list[BreakerStore]]:
    """Two processes' breakers, as far as Redis can tell."""
    clients = [async_client(RedisSettings(url=blinking.url, socket_timeout_s=2)) for _ in range(2)]
    yield [BreakerStore(client, Keys(), RULES) for client in clients]
    for client in clients:
        await client.aclose()
        await client.connection_pool.disconnect()


async def ask(store: BreakerStore, owner: str = "a") -> Admission:
    return await store.admit(URL, owner=owner, probe_s=1)


async def fail(store: BreakerStore, times: int) -> None:
    for _ in range(times):
        await store.report(URL, Admission(owner="t", verdict=Pass.GO), Verdict.FAILING)


async def test_without_redis_each_process_opens_after_the_threshold_and_probes_once_a_cooldown(
    blinking: Blinking, stores: list[BreakerStore]
) -> None:
    one, other = stores
    blinking.go()
    with capture_logs() as logs:
        await fail(one, 3)
        stopped = await ask(one)
        await asyncio.sleep(3)
        probes = [(await ask(one, owner)).verdict for owner in "abc"]

    assert (stopped.verdict, stopped.is_local) == (Pass.NO, True)
    assert stopped.retry_after_s is not None
    assert probes == [Pass.PROBE, Pass.NO, Pass.NO]
    assert (await ask(other)).verdict is Pass.GO, "another process knows nothing of it"
    assert [line["failures"] for line in logs if line["event"] == "breaker_opened"] == [3]
    assert "breaker_unreachable" in {line["event"] for line in logs}


async def test_what_redis_said_last_holds_while_it_is_away(blinking: Blinking, stores: list[BreakerStore]) -> None:
    one, other = stores
    await fail(one, 3)
    heard = await ask(other)
    blinking.go()

    assert heard.verdict is Pass.NO
    assert [(await ask(store)).verdict for store in stores] == [Pass.NO, Pass.NO]


async def test_a_probe_whose_redis_went_away_still_decides_for_its_own_process(
    blinking: Blinking, stores: list[BreakerStore]
) -> None:
    one, _ = stores
    await fail(one, 3)
    await asyncio.sleep(3.02)
    probe = await ask(one)
    blinking.go()
    await one.report(URL, probe, Verdict.HEALTHY)

    assert probe.verdict is Pass.PROBE
    assert (await ask(one)).verdict is Pass.GO


async def test_back_again_redis_hears_what_it_missed_and_everybody_stops(
    blinking: Blinking, stores: list[BreakerStore]
) -> None:
    one, other = stores
    await fail(one, 1)
    blinking.go()
    await fail(one, 2)
    blinking.come()
    await ask(one)

    assert [(view.state, view.failures) for view in await other.states()] == [(BreakerState.OPEN, 3)]
    assert (await ask(other)).verdict is Pass.NO
    assert not (await ask(one)).is_local


async def test_a_row_that_an_answer_broke_meanwhile_begins_anew_in_redis(
    blinking: Blinking, stores: list[BreakerStore]
) -> None:
    one, other = stores
    await fail(one, 2)
    blinking.go()
    await one.report(URL, await ask(one), Verdict.HEALTHY)
    await fail(one, 1)
    blinking.come()
    await ask(one)

    assert [(view.state, view.failures) for view in await other.states()] == [(BreakerState.CLOSED, 1)]


async def test_a_frozen_redis_costs_a_call_one_second_and_counts_a_failure_once(
    blinking: Blinking, stores: list[BreakerStore]
) -> None:
    one, other = stores
    await ask(one)
    blinking.freeze(signal.SIGSTOP)
    began = time.monotonic()
    admission = await ask(one)
    asked_s = time.monotonic() - began
    await one.report(URL, admission, Verdict.FAILING)
    blinking.freeze(signal.SIGCONT)
    await asyncio.sleep(0.1)
    await ask(one)

    assert admission.is_local
    assert asked_s < 1.5
    assert [(view.state, view.failures) for view in await other.states()] == [(BreakerState.CLOSED, 1)]
