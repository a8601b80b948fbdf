"""Every command that reaches Redis, every key and every log line of a worker that calls: no secret in any."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
import redis.asyncio as aioredis
from structlog.testing import capture_logs

from schemas.ids import TurnId
from tests.integration.calling.conftest import MakeCall
from tests.integration.calling.misbehaving import Misbehaving
from tests.integration.calling.prying import everything_in, everything_told_to
from workers.calling.caller import Caller
from workers.calling.outcomes import OutcomeStore
from workers.runtime.keys import Keys
from workers.runtime.settings import CallingSettings

SECRET = "s3cr3t-of-the-house"  # noqa: S105


@pytest.mark.parametrize("path", ["/fine/x", "/status/422", "/status/500", "/reset", "/redirect"])
async def test_a_secret_stays_in_the_worker_however_the_call_ends(  # noqa: PLR0913, PLR0917 - fixtures
    clean_redis: aioredis.Redis,
    redis_url: str,
    make_call: MakeCall,
    server: Misbehaving,
    turn_id: TurnId,
    soon: datetime,
    tmp_path: Path,
    path: str,
) -> None:  # fmt: skip
    (tmp_path / "key").write_text(SECRET)
    settings = CallingSettings(timeout_s=1, retries=0, allowed_hosts="127.0.0.1", secrets_dir=tmp_path)
    caller = Caller.open(redis=clean_redis, keys=Keys(), settings=settings, outcomes=OutcomeStore(clean_redis, Keys()))
    places = ("header", "query", "cookie")
    auths = [{"kind": "api_key", "name": "k", "placement": place, "value": "file:key"} for place in places]
    with everything_told_to(redis_url) as told, capture_logs() as logs:
        for index, auth in enumerate([*auths, {"kind": "bearer", "token": "file:key"}]):
            call = make_call(path, index=index, method="POST", auth=auth)
            await caller.call(call, turn_id=turn_id, deadline=soon)
    await caller.close()

    assert len(server.seen) == 4
    assert all(SECRET in repr(request) for request in server.seen)
    seen_elsewhere = b"".join(told).decode(errors="replace") + everything_in(redis_url) + repr(logs)
    assert turn_id in seen_elsewhere
    assert SECRET not in seen_elsewhere
