"""Reads all that a Redis holds, all that it was ever told, and all files of a folder, as an intruder would."""

from __future__ import annotations

import base64
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus, urlsplit

import redis

READERS: dict[bytes, Callable[[Any, bytes], object]] = {
    b"string": lambda client, key: client.get(key),
    b"hash": lambda client, key: client.hgetall(key),
    b"list": lambda client, key: client.lrange(key, 0, -1),
    b"set": lambda client, key: client.smembers(key),
    b"zset": lambda client, key: client.zrange(key, 0, -1, withscores=True),
    b"stream": lambda client, key: client.xrange(key),
}


def _read(client: Any, key: bytes) -> object:
    """Read a value in its type's way; one of an unknown type as the server would dump it."""
    reader = READERS.get(client.type(key))
    return reader(client, key) if reader else client.dump(key)


def everything_in(redis_url: str) -> str:
    """Return every key and every value as one text."""
    client = redis.Redis.from_url(redis_url)
    try:
        return "\n".join(f"{key!r} {_read(client, key)!r}" for key in client.scan_iter(count=1000))
    finally:
        client.close()


def everything_under(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield every file of a folder with its bytes; one that goes away meanwhile is left out."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            try:
                yield path, path.read_bytes()
            except FileNotFoundError:
                continue


def spellings(secret: str) -> re.Pattern[bytes]:
    """Match a secret as it is, in JSON, percent-encoded, and in base64 wherever it stands in what was encoded."""
    raw = secret.encode()
    plain = {secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1], raw.hex()}
    # Three bytes become four letters: the secret's own letters depend on how many bytes stand before it.
    for before in range(3):
        packed = base64.b64encode(bytes(before) + raw).decode()
        own = packed[(before * 8 + 5) // 6 : (before + len(raw)) * 8 // 6]
        plain |= {own, own.replace("+", "-").replace("/", "_")}
    return re.compile(b"|".join(re.escape(spelling.encode()) for spelling in sorted(plain)))


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


@contextmanager
def everything_posted() -> Iterator[tuple[str, list[bytes]]]:
    """Take every request's body on a port of its own, as a collector of traces would; yield its URL and the bodies."""
    taken: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_said: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/traces", taken
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
