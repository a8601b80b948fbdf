"""A Redis that a test may stop, freeze and start again."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import redis

from tests.conftest import free_port, server_binary


class OwnRedis:
    """A Redis that a test may stop, freeze and start again; it keeps its data."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._command = [server_binary(), "--port", str(self.port), "--dir", str(folder), "--appendonly", "yes"]
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        with redis.Redis.from_url(self.url) as client:
            while not _answers(client):
                assert time.monotonic() < deadline
                time.sleep(0.02)

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        self.process.wait(timeout=10)


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
