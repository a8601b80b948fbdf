"""Reads all that a Redis holds, and all that it was ever told, as an intruder would."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import redis

READERS: dict[bytes, Callable[[Any, bytes], object]] = {
    b"string": lambda client, key: client.get(key),
    b"hash": lambda client, key: client.hgetall(key),
    b"list": lambda client, key: client.lrange(key, 0, -1),
    b"set": lambda client, key: client.smembers(key),
    b"zset": lambda client, key: client.zrange(key, 0, -1, withscores=True),
    b"stream": lambda client, key: client.xrange(key),
}


def everything_in(redis_url: str) -> str:
    """Return every key and every value as one text."""
    client = redis.Redis.from_url(redis_url)
    try:
        return "\n".join(f"{key!r} {READERS[client.type(key)](client, key)!r}" for key in client.scan_iter(count=1000))
    finally:
        client.close()


@contextmanager
def everything_told_to(redis_url: str) -> Iterator[list[bytes]]:
    """Collect every command that reaches the server meanwhile, with its arguments (MONITOR)."""
    heard: list[bytes] = []
    place = urlsplit(redis_url)
    wire = socket.create_connection((place.hostname or "", place.port or 0))
    wire.sendall(b"MONITOR\r\n")
    assert wire.recv(5) == b"+OK\r\n"

    def listen() -> None:
        while chunk := wire.recv(65_536):
            heard.append(chunk)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield heard
    finally:
        wire.shutdown(socket.SHUT_RDWR)
        listener.join(timeout=5)
        wire.close()
