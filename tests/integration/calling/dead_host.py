"""A worker that calls one dead endpoint many times, one call after another. Says how many ended in which way.

Arguments: Redis URL, API URL, how many.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta

from schemas.calls import ApiCall, CallFailed
from schemas.endpoints import Endpoint
from schemas.ids import call_id, chat_key, new_turn_id
from workers.calling.caller import Caller
from workers.calling.outcomes import OutcomeStore
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import CallingSettings, RedisSettings

THRESHOLD = 5
COOLDOWN_S = 1.0
SETTINGS = CallingSettings(
    timeout_s=1.0,
    allowed_hosts="127.0.0.1",
    retries=0,
    breaker_failures_to_open=THRESHOLD,
    breaker_cooldown_s=COOLDOWN_S,
)


async def main(redis_url: str, url: str, times: int) -> None:
    redis = async_client(RedisSettings(url=redis_url))
    caller = Caller.open(redis=redis, keys=Keys(), settings=SETTINGS, outcomes=OutcomeStore(redis, Keys()))
    endpoint = Endpoint(endpoint_id="dead", name="dead", description="Dead.", url=url)
    ends: Counter[str] = Counter()
    for number in range(times):
        turn_id = new_turn_id(chat_key("default", f"chat {number}"))
        call = ApiCall(call_id=call_id(turn_id, 0), index=0, endpoint=endpoint)
        deadline = datetime.now(UTC) + timedelta(seconds=10)
        outcome = await caller.call(call, turn_id=turn_id, deadline=deadline)
        ends[str(outcome.reason) if isinstance(outcome, CallFailed) else "succeeded"] += 1
        await asyncio.sleep(0.01)
    sys.stdout.write(json.dumps(ends))
    await caller.close()
    await redis.aclose()
    await redis.connection_pool.disconnect()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
