"""Names and versions of programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.llm.programs import judgement_of, load_program, program_path

dspy = pytest.importorskip("dspy")


class ApiAnswer(dspy.Signature):  # type: ignore[misc, name-defined]
    """Say it."""

    data: str = dspy.InputField()
    answer: str = dspy.OutputField()


def test_a_judgement_is_called_as_its_signature() -> None:
    assert judgement_of(ApiAnswer) == "api_answer"


def test_a_compiled_version_brings_its_instructions(tmp_path: Path) -> None:
    compiled = dspy.Predict(ApiAnswer.with_instructions("Answer in verse."))
    path = program_path(tmp_path, "api_answer", "v2")
    path.parent.mkdir()
    compiled.save(str(path))

    program = load_program(ApiAnswer, folder=tmp_path, version="v2")

    assert program.signature.instructions == "Answer in verse."


def test_an_unknown_version_names_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "api_answer").mkdir()
    (tmp_path / "api_answer" / "v1.json").write_text("{}")

    with pytest.raises(ValueError, match=r"'v9' of api_answer.*it holds: v1"):
        load_program(ApiAnswer, folder=tmp_path, version="v9")


@pytest.mark.parametrize("version", ["../v1", "", "a/b", ".hidden"])
def test_a_version_is_a_plain_name(tmp_path: Path, version: str) -> None:
    with pytest.raises(ValueError, match="is no version"):
        program_path(tmp_path, "api_answer", version)
