"""People's own tokens on a real Redis: sealed, one a turn, and gone with its deadline."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
import redis.asyncio as aioredis
from pydantic import SecretStr
from structlog.testing import capture_logs

from schemas.ids import TurnId, chat_key, new_turn_id
from tests.integration.calling.prying import everything_in
from workers.errors import StoreUnavailable
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import CallingSettings, RedisSettings
from workers.sessions.user_tokens import UserTokens

KEY = SecretStr("a key of the operator's, 32 characters")
TOKEN = SecretStr("persons-own-token")


@pytest.fixture
def tokens(clean_redis: aioredis.Redis) -> UserTokens:
    return UserTokens(clean_redis, Keys(), key=KEY)


def a_turn() -> TurnId:
    return new_turn_id(chat_key("default", "a chat"))


def within(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def test_a_token_is_opened_for_its_turn_and_lies_sealed_until_then(tokens: UserTokens, redis_url: str) -> None:
    turn, other = a_turn(), a_turn()
    await tokens.keep(turn, TOKEN, until=within(60))

    assert await tokens.of(turn) == TOKEN
    assert await tokens.of(other) is None
    assert turn in everything_in(redis_url)
    assert "persons-own" not in everything_in(redis_url)


async def test_a_token_is_gone_with_the_deadline(tokens: UserTokens, redis_url: str) -> None:
    turn = a_turn()
    await tokens.keep(turn, TOKEN, until=within(0.1))
    await asyncio.sleep(0.15)

    assert await tokens.of(turn) is None
    assert everything_in(redis_url) == ""


async def test_a_token_sealed_for_one_turn_is_of_no_use_to_another(
    tokens: UserTokens, clean_redis: aioredis.Redis
) -> None:
    turn, thief = a_turn(), a_turn()
    await tokens.keep(turn, TOKEN, until=within(60))
    await clean_redis.copy(Keys().own_token(turn), Keys().own_token(thief))

    with capture_logs() as logs:
        assert await tokens.of(thief) is None

    assert [line["event"] for line in logs] == ["user_token_not_opened"]


async def test_where_no_host_may_be_handed_a_token_none_is_kept(clean_redis: aioredis.Redis, redis_url: str) -> None:
    tokens = UserTokens.open(clean_redis, Keys(), CallingSettings(user_token_key=KEY))
    turn = a_turn()
    await tokens.keep(turn, TOKEN, until=within(60))

    assert tokens.name(TOKEN) == ""
    assert await tokens.of(turn) is None
    assert everything_in(redis_url) == ""


async def test_a_redis_that_is_away_is_told() -> None:
    client = async_client(RedisSettings(url="redis://127.0.0.1:1/0", socket_timeout_s=0.2))
    tokens = UserTokens(client, Keys(), key=KEY)

    with pytest.raises(StoreUnavailable):
        await tokens.keep(a_turn(), TOKEN, until=within(60))
    with pytest.raises(StoreUnavailable):
        await tokens.of(a_turn())
    await client.aclose()
    await client.connection_pool.disconnect()
