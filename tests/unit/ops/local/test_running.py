from __future__ import annotations

from pathlib import Path

import pytest

from ops.local.running import FolderTaken, RunningStack, lock_folder, read_note, write_note

NOTE = RunningStack(pid=1, url="http://127.0.0.1:1", redis_url="redis://127.0.0.1:2/0", demo_url="http://127.0.0.1:3")


def test_a_folder_has_one_owner_at_a_time(tmp_path: Path) -> None:
    with lock_folder(tmp_path), pytest.raises(FolderTaken, match="SIGNALBOX_DATA_DIR"):
        lock_folder(tmp_path)

    lock_folder(tmp_path).close()


def test_the_note_is_read_while_its_stack_lives(tmp_path: Path) -> None:
    with lock_folder(tmp_path):
        write_note(tmp_path, NOTE)

        assert read_note(tmp_path) == NOTE


def test_a_note_that_a_dead_stack_left_behind_is_not_believed(tmp_path: Path) -> None:
    write_note(tmp_path, NOTE)

    assert read_note(tmp_path) is None


def test_a_note_of_another_version_is_not_believed(tmp_path: Path) -> None:
    with lock_folder(tmp_path):
        (tmp_path / "stack.json").write_text('{"pid": 1}', encoding="utf-8")

        assert read_note(tmp_path) is None
