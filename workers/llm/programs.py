"""Programs: a signature to ask, either as it is written or as an optimiser compiled it, by version."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import dspy

_VERSION = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")


def judgement_of(signature: type[dspy.Signature]) -> str:
    """Return the name under which a signature's models, versions and costs are kept: its own, in snake case."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", signature.__name__).lower()


def program_path(folder: Path, judgement: str, version: str) -> Path:
    """Return where a compiled program lies. Raises ValueError for a version that is no plain name."""
    if not _VERSION.fullmatch(version):
        raise ValueError(f"{version!r} is no version: use letters, digits, dots, dashes and underscores")
    return folder / judgement / f"{version}.json"


def compiled(folder: Path, judgement: str, version: str) -> Path:
    """Return the file of a compiled program. Raises ValueError, naming the known versions, when there is none."""
    path = program_path(folder, judgement, version)
    if not path.is_file():
        known = ", ".join(sorted(found.stem for found in path.parent.glob("*.json"))) or "none"
        raise ValueError(
            f"LLM_PROGRAMS names version {version!r} of {judgement}, which {path.parent} does not hold"
            f" (it holds: {known}). Compile it with `signalbox optimize`, or drop it from LLM_PROGRAMS."
        )
    return path


def load_program(signature: type[dspy.Signature], *, folder: Path, version: str | None) -> dspy.Predict:
    """Return the program for a signature. Raises ValueError, naming the known versions, when `version` is none."""
    import dspy

    predict: Any = dspy.Predict(signature)
    if version is not None:
        predict.load(str(compiled(folder, judgement_of(signature), version)))
    program: dspy.Predict = predict
    return program
