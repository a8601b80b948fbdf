"""The supervisor with real processes: it waits, restarts, stops, and leaves no orphan."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from ops.local import probes, server
from ops.local.ports import free_port
from ops.local.process import Part, PartState
from ops.local.supervisor import StackFailed, Supervisor
from workers.runtime.settings import inherited_environment


def eventually(holds: Callable[[], bool], *, within_s: float = 10.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    with contextlib.suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


def redis_part(folder: Path, name: str = "redis") -> Part:
    port = free_port()
    url = f"redis://127.0.0.1:{port}/0"
    return Part(
        name=name,
        command=server.server_command(server.find_server(), port=port, folder=folder),
        where=url,
        is_ready=partial(probes.redis_answers, url),
        environment=inherited_environment(),
    )


def script_part(name: str, code: str, **changes: object) -> Part:
    fields = {
        "name": name,
        "command": (sys.executable, "-c", textwrap.dedent(code)),
        "where": "",
        "is_ready": lambda: True,
        "environment": inherited_environment(),
    }
    return Part(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.fixture
def supervise(tmp_path: Path) -> Iterator[Callable[..., Supervisor]]:
    made: list[Supervisor] = []

    def start(*parts: Part) -> Supervisor:
        made.append(Supervisor([[part] for part in parts], tmp_path))
        made[-1].start()
        return made[-1]

    yield start
    for supervisor in made:
        supervisor.stop()


def test_start_returns_when_every_part_answers(supervise: Callable[..., Supervisor], tmp_path: Path) -> None:
    part = redis_part(tmp_path)

    supervisor = supervise(part)

    assert part.is_ready()
    assert supervisor.processes["redis"].state is PartState.RUNNING


def test_a_killed_part_comes_back_with_its_data(supervise: Callable[..., Supervisor], tmp_path: Path) -> None:
    import redis

    part = redis_part(tmp_path)
    process = supervise(part).processes["redis"]
    with redis.Redis.from_url(part.where) as client:
        client.set("kept", "1")
        client.execute_command("BGREWRITEAOF")
    time.sleep(1.2)  # the server syncs once a second
    first = process.pid

    process.send(signal.SIGKILL)

    eventually(lambda: process.pid != first and process.state is PartState.RUNNING)
    with redis.Redis.from_url(part.where) as client:
        assert client.get("kept") == b"1"
    assert process.restarts == 1


def test_a_part_that_ends_while_starting_fails_the_start_and_shows_its_last_words(
    supervise: Callable[..., Supervisor],
) -> None:
    broken = script_part("broken", "print('the flux is gone'); raise SystemExit(3)", is_ready=lambda: False)

    with pytest.raises(StackFailed, match=r"broken ended with code 3 while starting(?s:.*)the flux is gone"):
        supervise(broken)


def test_a_part_that_never_answers_fails_the_start_and_takes_the_others_along(
    supervise: Callable[..., Supervisor], tmp_path: Path
) -> None:
    first = redis_part(tmp_path)
    silent = script_part("silent", "import time; time.sleep(60)", is_ready=lambda: False, ready_within_s=0.3)

    with pytest.raises(StackFailed, match="silent did not answer within"):
        supervise(first, silent)

    assert not first.is_ready()


def test_parts_stop_in_reverse_order_and_a_deaf_one_is_killed(
    supervise: Callable[..., Supervisor], tmp_path: Path
) -> None:
    deaf = script_part(
        "deaf",
        f"""
        import pathlib, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        pathlib.Path({str(tmp_path / "listening")!r}).touch()
        time.sleep(60)
        """,
        is_ready=(tmp_path / "listening").exists,
        stop_within_s=0.5,
    )
    supervisor = supervise(redis_part(tmp_path), deaf)
    pids = [process.pid for process in supervisor.processes.values()]

    supervisor.stop()

    assert not any(is_running(pid) for pid in pids)
    assert [process.exit_code for process in supervisor.processes.values()] == [0, -signal.SIGKILL]


def test_no_part_outlives_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    code = f"""
        import os, sys, time
        from pathlib import Path
        from ops.local.process import Part
        from ops.local.supervisor import Supervisor
        from workers.runtime.settings import inherited_environment

        part = Part(name="sleeper", command=(sys.executable, "-c", "import time; time.sleep(120)"), where="",
                    is_ready=lambda: True, environment=inherited_environment())
        supervisor = Supervisor([[part]], Path({str(tmp_path)!r}))
        supervisor.start()
        print(supervisor.processes["sleeper"].pid, flush=True)
        time.sleep(120)
    """
    owner = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
        text=True,
    )
    assert owner.stdout is not None
    with owner.stdout:
        pid = int(owner.stdout.readline())
    assert is_running(pid)

    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()

    eventually(lambda: not is_running(pid), within_s=5.0)


def test_a_part_that_keeps_dying_is_started_ever_more_slowly(supervise: Callable[..., Supervisor]) -> None:
    process = supervise(script_part("fragile", "import time; time.sleep(0.1)")).processes["fragile"]

    time.sleep(2.5)

    assert 2 <= process.restarts <= 4


def test_a_part_that_runs_but_answers_no_more_is_started_again(
    supervise: Callable[..., Supervisor], tmp_path: Path
) -> None:
    sign = tmp_path / "answers"
    sign.touch()
    part = script_part("deaf", "import time; time.sleep(60)", is_ready=sign.exists, silent_for_s=0.6)
    process = supervise(part).processes["deaf"]
    time.sleep(1.0)
    assert process.restarts == 0

    sign.unlink()

    eventually(lambda: process.restarts > 0)
    sign.touch()
    eventually(lambda: process.state is PartState.RUNNING)


def test_a_probe_that_breaks_ends_neither_the_start_nor_the_watch(supervise: Callable[..., Supervisor]) -> None:
    answers = iter([RuntimeError("no pool"), True, *[RuntimeError("no pool")] * 3])
    asked = []

    def probe() -> bool:
        asked.append(answer := next(answers, True))
        if isinstance(answer, Exception):
            raise answer
        return bool(answer)

    running = supervise(script_part("odd", "import time; time.sleep(60)", is_ready=probe, silent_for_s=0.6))
    eventually(lambda: len(asked) > 5)
    process = running.processes["odd"]
    first = process.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)

    eventually(lambda: process.restarts == 1 and process.pid != first)
    assert isinstance(asked[0], RuntimeError)
