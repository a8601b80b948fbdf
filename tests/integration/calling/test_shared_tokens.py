"""OAuth2 access tokens in several worker processes: one fetch for all of them, and nothing readable in Redis."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import redis.asyncio as aioredis
from pydantic import SecretStr

from schemas.auth import ClientCredentialsAuth
from tests.integration.calling.misbehaving import Misbehaving
from tests.integration.calling.prying import everything_in
from workers.calling.token_sharing import Fresh, SharedTokens, Shelf
from workers.runtime.keys import Keys

WORKERS, CALLS = 4, 10
SECRET = "0authCl1entS3cretVv"  # noqa: S105
Swarm = Callable[[str, str], Awaitable[Counter[str]]]


@pytest.fixture
def swarm(clean_redis: aioredis.Redis, redis_url: str, repository: Path, server: Misbehaving) -> Swarm:
    """Let four processes call the path ten times each, with tokens of the authority at another path."""

    async def worker(path: str, authority: str) -> Counter[str]:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(Path(__file__).with_name("token_worker.py")),
            redis_url,
            server.url(path),
            server.url(authority),
            str(CALLS),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={"PYTHONPATH": str(repository), "SECRET_CLIENT": SECRET},
        )
        told, _ = await asyncio.wait_for(process.communicate(), timeout=60)
        return Counter(json.loads(told.decode().splitlines()[-1]))

    async def run(path: str, authority: str) -> Counter[str]:
        await clean_redis.set("awaited", WORKERS)
        return sum(await asyncio.gather(*(worker(path, authority) for _ in range(WORKERS))), Counter())

    return run


async def test_four_processes_fetch_one_token_and_redis_holds_none_to_be_read(
    swarm: Swarm, server: Misbehaving, redis_url: str
) -> None:
    ends = await swarm("/fine/x", "/token/3600")

    assert ends == {"succeeded": WORKERS * CALLS}
    assert server.count("/token/3600") == 1
    kept = everything_in(redis_url)
    assert "sb:access:" in kept
    assert "access-token" not in kept
    assert SECRET not in kept


async def test_a_token_that_the_api_revoked_is_renewed_once_for_all(swarm: Swarm, server: Misbehaving) -> None:
    ends = await swarm("/guarded", "/token/3600")

    assert ends == {"succeeded": WORKERS * CALLS}
    assert server.count("/token/3600") == 2


AUTH = ClientCredentialsAuth(
    token_url="https://login.example.ee/token",  # noqa: S106
    client_id="signalbox",
    client_secret="env:SECRET_CLIENT",  # noqa: S106
)


async def shelf_of(redis: aioredis.Redis, secret: str = SECRET, lease_s: float = 1.0) -> Shelf | None:
    return await SharedTokens(redis, Keys(), lease_s=lease_s).shelf(AUTH, SecretStr(secret))


async def give(token: str = "fetched") -> Fresh:  # noqa: S107
    return Fresh(token=SecretStr(token), left_s=60)


async def test_a_new_secret_does_not_find_what_the_old_one_sealed(clean_redis: aioredis.Redis) -> None:
    old, new = await shelf_of(clean_redis), await shelf_of(clean_redis, "an0therCl1entS3cret")
    assert old is not None
    assert new is not None
    await old.get(give)

    fresh = await new.get(lambda: give("another"))

    assert fresh.token.get_secret_value() == "another"


async def test_the_tokens_of_a_secret_that_could_be_guessed_are_not_shared(clean_redis: aioredis.Redis) -> None:
    assert await shelf_of(clean_redis, "short") is None


async def test_a_worker_that_dies_while_it_fetches_holds_nobody_up_for_long(clean_redis: aioredis.Redis) -> None:
    shelf = await shelf_of(clean_redis, lease_s=0.3)
    assert shelf is not None
    await clean_redis.set(f"{shelf.key}:fetching", "a dead worker's", px=300)

    async with asyncio.timeout(3):
        fresh = await shelf.get(give)

    assert fresh.token.get_secret_value() == "fetched"


async def test_a_fetch_that_fails_lets_the_next_one_try_at_once(clean_redis: aioredis.Redis) -> None:
    shelf = await shelf_of(clean_redis, lease_s=30)
    assert shelf is not None

    async def fail() -> Fresh:
        raise ValueError("no token")

    with pytest.raises(ValueError, match="no token"):
        await shelf.get(fail)
    async with asyncio.timeout(3):
        assert (await shelf.get(give)).token.get_secret_value() == "fetched"


async def test_only_the_refused_token_is_thrown_away(clean_redis: aioredis.Redis) -> None:
    shelf = await shelf_of(clean_redis)
    assert shelf is not None
    await shelf.get(give)

    await shelf.drop("an older one")
    kept = await shelf.get(lambda: give("new"))
    await shelf.drop("fetched")
    renewed = await shelf.get(lambda: give("new"))

    assert [one.token.get_secret_value() for one in (kept, renewed)] == ["fetched", "new"]


async def test_without_redis_a_process_fetches_its_own() -> None:
    away = aioredis.Redis(host="127.0.0.1", port=9)
    shelf = await shelf_of(away)
    assert shelf is not None

    assert (await shelf.get(give)).token.get_secret_value() == "fetched"
    await shelf.drop("fetched")
    await away.aclose()
