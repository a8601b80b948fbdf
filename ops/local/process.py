"""One part of the stack: what it is, and its process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

_LAUNCHER = Path(__file__).with_name("launch.py")
_LOG_KEPT_BYTES = 5 * 1024 * 1024


class PartState(StrEnum):
    """How a part is doing."""

    STARTING = "starting"
    RUNNING = "running"
    RESTARTING = "restarting"
    STOPPED = "stopped"


@dataclass(frozen=True, kw_only=True)
class Part:
    """What to run, and how to see that it works. `where` is shown to people; `orphan_signal` ends it without us.

    A part that ran and then answers nothing for `silent_for_s` is killed (and started again).
    """

    name: str
    command: tuple[str, ...]
    where: str
    is_ready: Callable[[], bool]
    environment: Mapping[str, str] = field(default_factory=dict)
    ready_within_s: float = 60.0
    silent_for_s: float = 60.0
    stop_within_s: float = 10.0
    orphan_signal: signal.Signals = signal.SIGKILL


class PartProcess:
    """The process of a part, its log file, and how often it was started again."""

    def __init__(self, part: Part, folder: Path) -> None:
        self.part = part
        self.log = folder / f"{part.name}.log"
        self.state = PartState.STOPPED
        self.restarts = 0
        self.started_at = 0.0
        self.answered_at = 0.0
        self.probed_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The process id, 0 before the first start."""
        return self._process.pid if self._process else 0

    @property
    def is_alive(self) -> bool:
        """Whether the process runs (not whether it works)."""
        return self._process is not None and self._process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """What the process ended with; negative for a signal."""
        return self._process.poll() if self._process else None

    def start(self) -> None:
        """Start it in a session of its own: Ctrl-C in a terminal reaches the supervisor only."""
        self._rotate_log()
        launcher = (sys.executable, "-I", "-S", str(_LAUNCHER), str(os.getpid()), str(int(self.part.orphan_signal)))
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*launcher, *self.part.command],
                env=dict(self.part.environment),
                cwd=self.log.parent,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.started_at = time.monotonic()
        self.state = PartState.STARTING

    def send(self, wanted: signal.Signals) -> None:
        """Send a signal; a process that is gone already is left alone."""
        if self._process is not None:
            self._process.send_signal(wanted)

    def wait(self, within_s: float) -> None:
        """Wait for the end; when it does not come in time, kill the whole session."""
        if self._process is None:
            return
        try:
            self._process.wait(timeout=max(0.0, within_s))
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self.state = PartState.STOPPED

    def tail(self, lines: int = 12) -> str:
        """Return the last lines of its log."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])

    def _rotate_log(self) -> None:
        if self.log.exists() and self.log.stat().st_size > _LOG_KEPT_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
