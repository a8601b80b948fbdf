"""kill -9 between send and record, a dozen times (a hundred in a soak): the server's own log shows no POST twice."""

from __future__ import annotations

import asyncio
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import redis.asyncio as aioredis

from schemas.calls import CallFailed, CallOutcome, CallSucceeded, FailureReason
from schemas.ids import chat_key, new_turn_id
from tests.integration.calling.misbehaving import Misbehaving
from tests.integration.calling.victim import SETTINGS, the_post
from workers.calling.caller import Caller
from workers.calling.outcomes import OutcomeStore
from workers.runtime.keys import Keys

VICTIMS = 12


class Murder:
    """One worker, one order, one death."""

    def __init__(self, server: Misbehaving, number: int) -> None:
        self.server = server
        self.number = number
        self.turn_id = new_turn_id(chat_key("default", f"chat {number}"))
        self.path = f"/slowish/{number}"

    @property
    def sent(self) -> int:
        return self.server.count(self.path)

    async def commit(self, redis_url: str, repository: Path) -> None:
        """Kill the worker once its POST has arrived (even numbers), or at a moment of chance (odd ones)."""
        script = str(Path(__file__).with_name("victim.py"))
        worker = await asyncio.create_subprocess_exec(
            sys.executable,
            script,
            redis_url,
            self.server.url(self.path),
            self.turn_id,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={"PYTHONPATH": str(repository)},
        )
        assert worker.stdin is not None
        assert worker.stdout is not None
        assert await worker.stdout.readline() == b"ready\n"
        worker.stdin.write(b"go\n")
        await worker.stdin.drain()
        if self.number % 2:
            await asyncio.sleep(random.uniform(0, 0.4))  # noqa: S311 - any moment will do
        else:
            while not self.sent:  # noqa: ASYNC110 - twelve victims, one server
                await asyncio.sleep(0.005)
        worker.kill()
        await worker.communicate()


@pytest.mark.parametrize("victims", [VICTIMS, pytest.param(100, marks=pytest.mark.soak)])
async def test_a_killed_worker_never_leads_to_a_second_post(
    clean_redis: aioredis.Redis, redis_url: str, repository: Path, server: Misbehaving, victims: int
) -> None:
    murders = [Murder(server, number) for number in range(victims)]
    for start in range(0, victims, 4):
        await asyncio.gather(*(murder.commit(redis_url, repository) for murder in murders[start : start + 4]))
    sent_before = {murder.number: murder.sent for murder in murders}

    survivor = Caller.open(
        redis=clean_redis, keys=Keys(), settings=SETTINGS, outcomes=OutcomeStore(clean_redis, Keys())
    )
    deadline = datetime.now(UTC) + timedelta(seconds=40)
    ends: list[CallOutcome] = await asyncio.gather(
        *(survivor.call(the_post(server.url(m.path), m.turn_id), turn_id=m.turn_id, deadline=deadline) for m in murders)
    )
    await survivor.close()

    assert {murder.number: murder.sent for murder in murders if murder.sent > 1} == {}
    for outcome in ends:
        was_lost = isinstance(outcome, CallFailed) and outcome.reason is FailureReason.UNKNOWN
        assert was_lost or isinstance(outcome, CallSucceeded)
        assert not (was_lost and outcome.status), "nobody saw an answer"
    killed_in_flight = [number for number, sent in sent_before.items() if sent and number % 2 == 0]
    assert len(killed_in_flight) == victims // 2
    assert all(isinstance(ends[n], CallFailed) for n in killed_in_flight), "they were killed before any record"
