"""Starts parts tier by tier, restarts what dies, stops in reverse order.

One thread does it all, from the first start to the last stop: the kernel ends a child when the *thread* that made it
ends (prctl(2)), so that thread must outlive every child.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import structlog

from ops.local.process import Part, PartProcess, PartState

log = structlog.get_logger(__name__)

_LOOK_EVERY_S = 0.05
_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 10.0
_SETTLED_AFTER_S = 5.0
_PROBES_WITHIN_PATIENCE = 6


class StackFailed(Exception):
    """The stack could not start; the text names the part, the reason, and the last lines of its log."""


def pause_before_restart(restarts_in_a_row: int) -> float:
    """Return the seconds to wait: 0.2, doubled at each failure in a row, at most 10."""
    return min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2.0**restarts_in_a_row)


def _answers(part: Part) -> bool:
    """Ask whether the part answers. A probe that breaks tells nothing of it: then it has not answered."""
    try:
        return part.is_ready()
    except Exception:
        log.exception("probe_failed", part=part.name)
        return False


class Supervisor:
    """Keeps the parts of one stack alive. Parts of a tier start together, once the tier before is ready."""

    def __init__(self, tiers: Sequence[Sequence[Part]], folder: Path) -> None:
        self._tiers = [[PartProcess(part, folder) for part in tier] for tier in tiers]
        self.processes = {process.part.name: process for tier in self._tiers for process in tier}
        self._thread = threading.Thread(target=self._run, name="signalbox-supervisor", daemon=True)
        self._started = threading.Event()
        self._stopping = threading.Event()
        self._failure: StackFailed | None = None
        self._due: dict[str, float] = {}
        self._in_a_row: dict[str, int] = {}

    def start(self) -> None:
        """Return when every part answers. Raises StackFailed, with everything stopped again."""
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure

    def stop(self) -> None:
        """Stop every part, last tier first; returns when all are gone. May be called twice."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            for tier in self._tiers:
                self._start_tier(tier)
        except StackFailed as failure:
            self._failure = failure
            self._stopping.set()
        else:
            self._started.set()
        while not self._stopping.wait(_LOOK_EVERY_S):
            for process in self.processes.values():
                self._look_after(process)
        for tier in reversed(self._tiers):
            self._stop_tier(tier)
        self._started.set()

    def _start_tier(self, tier: list[PartProcess]) -> None:
        for process in tier:
            process.start()
        waiting = list(tier)
        while waiting and not self._stopping.is_set():
            waiting = [process for process in waiting if not self._has_become_ready(process)]
            time.sleep(_LOOK_EVERY_S if waiting else 0.0)

    def _has_become_ready(self, process: PartProcess) -> bool:
        part = process.part
        if not process.is_alive:
            reason = f"{part.name} ended with code {process.exit_code} while starting"
        elif _answers(part):
            process.state, process.answered_at = PartState.RUNNING, time.monotonic()
            return True
        elif time.monotonic() - process.started_at > part.ready_within_s:
            reason = f"{part.name} did not answer within {part.ready_within_s:.0f} s"
        else:
            return False
        raise StackFailed(f"{reason}; the end of {process.log}:\n{process.tail()}")

    def _look_after(self, process: PartProcess) -> None:
        name = process.part.name
        if process.is_alive:
            self._feel_the_pulse(process)
            return
        if process.state is not PartState.RESTARTING:
            self._plan_restart(process)
        elif time.monotonic() >= self._due[name]:
            process.restarts += 1
            process.start()

    def _feel_the_pulse(self, process: PartProcess) -> None:
        """Note that a part answers; kill one that runs but answers nothing for too long.

        A process may be there and deaf: a worker that lost its broker and does not notice is the known case.
        """
        now, part = time.monotonic(), process.part
        if process.state is PartState.RUNNING and now - process.probed_at < part.silent_for_s / _PROBES_WITHIN_PATIENCE:
            return
        process.probed_at = now
        if _answers(part):
            process.state, process.answered_at = PartState.RUNNING, now
        elif now - max(process.answered_at, process.started_at) > self._patience_s(process):
            log.warning("part_silent", part=part.name)
            process.send(signal.SIGKILL)

    @staticmethod
    def _patience_s(process: PartProcess) -> float:
        is_starting = process.state is PartState.STARTING
        return process.part.ready_within_s if is_starting else process.part.silent_for_s

    def _plan_restart(self, process: PartProcess) -> None:
        name = process.part.name
        has_settled = time.monotonic() - process.started_at > _SETTLED_AFTER_S
        in_a_row = 0 if has_settled else self._in_a_row.get(name, 0)
        self._due[name] = time.monotonic() + pause_before_restart(in_a_row)
        self._in_a_row[name] = in_a_row + 1
        process.state = PartState.RESTARTING
        log.warning("part_died", part=name, exit_code=process.exit_code, restarts=process.restarts)

    @staticmethod
    def _stop_tier(tier: list[PartProcess]) -> None:
        asked_at = time.monotonic()
        for process in tier:
            process.send(signal.SIGTERM)
        for process in tier:
            process.wait(process.part.stop_within_s - (time.monotonic() - asked_at))
