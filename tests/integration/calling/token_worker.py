"""A worker that calls an API with an OAuth2 access token, many times at once. Says how many ended in which way.

Arguments: Redis URL, API URL, URL of the authority, how many.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from schemas.calls import ApiCall, CallFailed
from schemas.endpoints import Endpoint
from schemas.ids import call_id, chat_key, new_turn_id
from workers.calling.caller import Caller
from workers.calling.outcomes import OutcomeStore
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import CallingSettings, RedisSettings


async def main(redis_url: str, url: str, token_url: str, times: int) -> None:
    settings = CallingSettings(allowed_hosts="127.0.0.1", secrets_dir=Path("/nowhere"))
    redis = async_client(RedisSettings(url=redis_url))
    caller = Caller.open(redis=redis, keys=Keys(), settings=settings, outcomes=OutcomeStore(redis, Keys()))
    endpoint = Endpoint.model_validate(
        {
            "endpoint_id": "e", "name": "e", "description": "E.", "url": url,
            "auth": {
                "kind": "client_credentials", "token_url": token_url, "client_id": "signalbox",
                "client_secret": "env:SECRET_CLIENT",
            },
        }
    )  # fmt: skip

    async def one(number: int) -> str:
        turn_id = new_turn_id(chat_key("default", f"chat {number}"))
        call = ApiCall(call_id=call_id(turn_id, 0), index=0, endpoint=endpoint)
        outcome = await caller.call(call, turn_id=turn_id, deadline=datetime.now(UTC) + timedelta(seconds=20))
        return str(outcome.reason) if isinstance(outcome, CallFailed) else "succeeded"

    # Everybody begins at the same moment, or one worker would have its token before the next is up.
    if await redis.incr("begun") == int(await redis.get("awaited")):
        await redis.rpush("go", *range(int(await redis.get("awaited"))))
    await redis.blpop(["go"], timeout=4)
    ends = Counter(await asyncio.gather(*(one(number) for number in range(times))))
    sys.stdout.write(json.dumps(ends))
    await caller.close()
    await redis.aclose()
    await redis.connection_pool.disconnect()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
