from __future__ import annotations

from pathlib import Path

import pytest

from ops.local import server


def test_without_a_server_on_path_the_wheel_carries_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    found = server.find_server()

    assert found == server.carried_server()
    assert found.is_file()


def test_the_embedded_server_keeps_every_write_and_stays_on_loopback() -> None:
    command = server.server_command(Path("/bin/redis"), port=6390, folder=Path("/data"))
    pairs = dict(zip(command[1::2], command[2::2], strict=True))

    assert pairs == {
        "--port": "6390",
        "--bind": "127.0.0.1",
        "--protected-mode": "yes",
        "--daemonize": "no",
        "--dir": "/data",
        "--appendonly": "yes",
        "--appendfsync": "everysec",
        "--save": "",
        "--maxmemory-policy": "noeviction",
    }
