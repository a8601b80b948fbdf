"""A worker that makes one POST and is killed while at it. Says "ready", waits for a line, calls, says the outcome.

Arguments: Redis URL, API URL, turn id.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime, timedelta

from schemas.calls import ApiCall
from schemas.endpoints import Endpoint
from schemas.ids import TurnId, call_id
from workers.calling.caller import Caller
from workers.calling.outcomes import OutcomeStore
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import CallingSettings, RedisSettings

SETTINGS = CallingSettings(timeout_s=1.0, allowed_hosts="127.0.0.1", breaker_failures_to_open=1000)


def the_post(url: str, turn_id: str) -> ApiCall:
    endpoint = Endpoint(endpoint_id="order", name="order", description="Order.", url=url, method="POST")
    return ApiCall(call_id=call_id(TurnId(turn_id), 0), index=0, endpoint=endpoint)


async def main(redis_url: str, url: str, turn_id: str) -> None:
    redis = async_client(RedisSettings(url=redis_url))
    caller = Caller.open(redis=redis, keys=Keys(), settings=SETTINGS, outcomes=OutcomeStore(redis, Keys()))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    deadline = datetime.now(UTC) + timedelta(seconds=20)
    outcome = await caller.call(the_post(url, turn_id), turn_id=turn_id, deadline=deadline)
    sys.stdout.write(f"{outcome.kind}\n")
    await caller.close()
    await redis.aclose()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
