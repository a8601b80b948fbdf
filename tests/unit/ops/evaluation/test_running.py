"""The whole command on a small set, with the shipped model."""

from __future__ import annotations

import asyncio
import json
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ops.cli.main import app
from ops.evaluation.running import Evaluated, evaluate
from tests.unit.ops.evaluation.labelled import write_set

MAY = date(2026, 5, 12)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_set(tmp_path_factory.mktemp("set"))


@pytest.fixture(scope="module")
def done(files: tuple[Path, Path]) -> Evaluated:
    return asyncio.run(evaluate(*files, today=MAY))


def test_the_rules_play_a_small_set_of_three_languages(done: Evaluated) -> None:
    assert done.report.overall.joint_goal == 1
    assert done.report.overall.rejected == 1
    assert done.report.overall.dialogues_right == 1
    assert done.report.overall.ask_recall == 1
    assert done.report.overall.false_fills == 0
    assert set(done.report.languages) == {"en", "et", "ru"}


def test_every_turn_has_a_prediction(done: Evaluated) -> None:
    assert list(done.predictions) == [
        ("two-turns", 0),
        ("two-turns", 1),
        ("one-turn", 0),
        ("russian", 0),
        ("candidates", 0),
        ("nothing-fits", 0),
        ("registered-later", 0),
        ("registered-later", 1),
    ]
    assert done.predictions["two-turns", 0].ask == ("validFrom", "validTo")


def test_the_command_prints_json_and_writes_predictions(files: tuple[Path, Path], tmp_path: Path) -> None:
    registry, cases = files
    out = tmp_path / "predictions.jsonl"

    ran = CliRunner().invoke(
        app,
        [
            *("eval", "dialogues", "--registry", str(registry), "--cases", str(cases)),
            *("--today", "2026-05-12", "--limit", "2", "--predictions", str(out), "--json"),
        ],
    )

    assert ran.exit_code == 0, ran.output
    assert json.loads(ran.stdout)["overall"]["turns"] == 3
    assert [json.loads(line)["turn"] for line in out.read_text(encoding="utf-8").splitlines()] == [0, 1, 0]


def test_files_of_another_form_are_refused_with_a_remedy(files: tuple[Path, Path], tmp_path: Path) -> None:
    registry, _ = files
    broken = tmp_path / "cases.jsonl"
    broken.write_text('{"id": "a"}\n', encoding="utf-8")

    ran = CliRunner().invoke(app, ["eval", "dialogues", "--registry", str(registry), "--cases", str(broken)])

    assert ran.exit_code != 0
    assert "ops/evaluation/cases.py" in ran.output
