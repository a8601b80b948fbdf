"""`signalbox eval dialogues` prints others' figures beside ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ops.cli.evaluate import app
from tests.unit.ops.evaluation.labelled import write_set


@pytest.mark.parametrize(
    ("written", "code"),
    [('{"floor": {"slot_f1": 0.613}}', 0), ('{"floor": {"luck": 1}}', 1), ("[]", 1)],
)
def test_floors_stand_beside_our_figures(tmp_path: Path, written: str, code: int) -> None:
    registry, cases = write_set(tmp_path)
    beside = tmp_path / "beside.json"
    beside.write_text(written, encoding="utf-8")

    done = CliRunner().invoke(
        app, ["dialogues", "--registry", str(registry), "--cases", str(cases), "--beside", str(beside)]
    )

    assert bool(done.exit_code) == bool(code), done.output
    assert ("0.613" in done.output) == (code == 0)
