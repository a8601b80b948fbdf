"""The note that a running stack leaves in its data folder, so that commands find it, and the lock on that folder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from schemas.base import Frozen


class RunningStack(Frozen):
    """Where the parts of the stack that owns the folder listen."""

    pid: int
    url: str
    redis_url: str
    demo_url: str


class FolderTaken(Exception):
    """Another stack runs on the data folder."""


def _note(data_dir: Path) -> Path:
    return data_dir / "stack.json"


def lock_folder(data_dir: Path) -> IO[str]:
    """Own the folder until the returned file is closed (the kernel lets go when we die). Raises FolderTaken."""
    data_dir.mkdir(parents=True, exist_ok=True)
    lock = (data_dir / "lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise FolderTaken(
            f"another signalbox runs on {data_dir}; stop it, or set SIGNALBOX_DATA_DIR to a folder of its own"
        ) from error
    return lock


def is_owned(data_dir: Path) -> bool:
    """Whether a living stack owns the folder."""
    try:
        lock_folder(data_dir).close()
    except FolderTaken:
        return True
    return False


def write_note(data_dir: Path, running: RunningStack) -> None:
    """Say where the stack listens; readers see the old note or the new one, never half of it."""
    fresh = data_dir / f"stack.json.{os.getpid()}"
    fresh.write_text(running.model_dump_json(), encoding="utf-8")
    fresh.replace(_note(data_dir))


def read_note(data_dir: Path) -> RunningStack | None:
    """Return where the folder's stack listens, or None when no living stack owns the folder."""
    if not _note(data_dir).exists() or not is_owned(data_dir):
        return None
    try:
        return RunningStack.model_validate_json(_note(data_dir).read_text(encoding="utf-8"))
    except ValidationError:
        return None
