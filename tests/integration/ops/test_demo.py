"""`signalbox demo`, as `make demo` runs it, told as JSON; and a chat by lines with the stack that it plays on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from ops.cli.main import app
from ops.local.stack import Stack
from tests.integration.ops.conftest import Cli
from workers.runtime.settings import inherited_environment


@pytest.mark.stack
def test_the_demo_plays_its_four_conversations_to_their_ends(cli: Cli) -> None:
    played = cli("demo", "--json")

    assert played.returncode == 0, played.stderr
    told = json.loads(played.stdout)["conversations"]
    answers = [[turn["answer"] for turn in one["turns"]] for one in told]
    assert all(one["endedWell"] for one in told)
    assert [len(turns) for turns in answers[:2]] == [1, 2]
    assert "24 February 2026" in answers[0][-1]
    assert "123ABC" in answers[1][-1]
    assert "€" in answers[1][-1]
    assert "Pikk" in answers[2][-1]
    assert "123ABC" in answers[2][-1]
    assert [len(turns) for turns in answers[3:]] == [1]


@pytest.mark.stack
def test_a_chat_in_json_answers_each_line_with_a_line(tmp_path: Path, repository: Path) -> None:
    with Stack(data_dir=tmp_path / "data") as stack:
        stack.index_demo()
        spoken = subprocess.run(
            [sys.executable, "-m", "ops.cli.main", "chat", "--json", "--url", stack.url],
            input="Palju on minu auto automaks 2026. aastal?\n\n123ABC\nexit\nnever said\n",
            cwd=repository,
            env=inherited_environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )

    answers = [json.loads(line) for line in spoken.stdout.splitlines()]
    assert [one["chatId"] == answers[0]["chatId"] for one in answers] == [True, True]
    assert "123ABC" in answers[1]["content"]


def test_every_command_speaks_json() -> None:
    def leaves(command: object, name: str) -> dict[str, object]:
        inner = getattr(command, "commands", None)
        if inner is None:
            return {name: command}
        return {path: leaf for sub, one in inner.items() for path, leaf in leaves(one, f"{name} {sub}").items()}

    silent = [
        name
        for name, command in leaves(typer.main.get_command(app), "signalbox").items()
        if not any("--json" in option.opts for option in command.params)  # type: ignore[attr-defined]
    ]

    assert silent == []
