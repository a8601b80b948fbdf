"""The embedded stack, whole: it starts, answers, survives the death of its parts, keeps its data, and stops."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from ops.local.process import PartState
from ops.local.stack import Stack
from ops.local.supervisor import StackFailed
from tests.integration.ops.conftest import Cli

pytestmark = pytest.mark.stack


def eventually(holds: Callable[[], bool], *, within_s: float = 30.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


def _is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def _names(url: str) -> set[str]:
    page = httpx.get(f"{url}/api-tools", trust_env=False).json()
    return {one["name"] for one in page["items"]}


def test_the_whole_system_runs_answers_recovers_and_keeps_what_it_knows(tmp_path: Path, cli: Cli) -> None:
    folder = tmp_path / "data"
    with Stack(data_dir=folder) as stack:
        assert [p.part.name for p in stack.processes] == ["redis", "demo-api", "worker", "beat", "shim"]
        stack.index_demo()
        known = _names(stack.url)
        assert len(known) >= 12

        asked = cli("ask", "What is the weather in Tartu?", "--json", SIGNALBOX_DATA_DIR=str(folder))
        assert asked.returncode == 0, asked.stderr
        answer = json.loads(asked.stdout)
        assert "Tartu" in answer["content"]
        shown = cli("turn", "show", answer["turnId"], "--json", SIGNALBOX_DATA_DIR=str(folder))
        assert json.loads(shown.stdout)["turn"]["phase"] == "done"

        with pytest.raises(StackFailed, match="another signalbox runs"):
            Stack(data_dir=folder).start()

        for name in ("worker", "shim", "beat"):
            killed = stack.kill(name, signal.SIGKILL)
            eventually(lambda name=name, killed=killed: stack.process(name).pid != killed)
            eventually(lambda name=name: stack.process(name).state is PartState.RUNNING)
        doctor = cli("doctor", "--json", SIGNALBOX_DATA_DIR=str(folder))
        assert doctor.returncode == 0, doctor.stdout
        pids = [process.pid for process in stack.processes]

    assert all(map(_is_gone, pids))
    with Stack(data_dir=folder, workers=2) as again:
        assert _names(again.url) == known
        assert {"worker-1", "worker-2"} <= {process.part.name for process in again.processes}
