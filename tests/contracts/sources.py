"""The project's own files, as the contract tests read them."""

from __future__ import annotations

import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGES = ("schemas", "workers", "tasks", "api_shim", "ops")


def tracked(*patterns: str) -> list[Path]:
    """Return the files that are part of the project, new ones included, ignored ones not."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
        text=True,
    )
    return sorted(REPOSITORY / line for line in listing.stdout.splitlines() if (REPOSITORY / line).is_file())


def label(file: Path) -> str:
    """Name a file in a test's id."""
    return str(file.relative_to(REPOSITORY))
