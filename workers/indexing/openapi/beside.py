"""Gathers the files that a document refers to. What can't be had is left out: its references are told as broken."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from workers.indexing.openapi.document import LARGEST_BYTES, DocumentRefused, external_files, parse_text

Load = Callable[[str], Awaitable[str | None]]
"""Path from the main document's folder → the text; None when there is none, or it is not for us."""

_MOST_FILES = 100
_REFERS_OUT = re.compile(r"""\$ref["']?\s*:\s*["']?[^#"'\s]""")


async def texts_beside(text: str, load: Load) -> dict[str, str]:
    """Return the texts of the files that the document refers to, and of those that they refer to, by their path.

    At most a hundred files, and together no more bytes than one document may have.
    """
    found: dict[str, str] = {}
    waiting = [("", text)]
    left = LARGEST_BYTES
    while waiting:
        file, told = waiting.pop()
        for path in sorted(_referred(told, file) - found.keys() - {""}):
            loaded = await load(path) if len(found) < _MOST_FILES else None
            if loaded is None or len(loaded) > left:
                continue
            left -= len(loaded)
            found[path] = loaded
            waiting.append((path, loaded))
    return found


def _referred(text: str, file: str) -> set[str]:
    if not _REFERS_OUT.search(text):
        return set()
    try:
        return external_files(parse_text(text), file)
    except DocumentRefused:
        return set()


def from_folder(folder: Path) -> Load:
    """Read files in the folder and below it; what lies elsewhere on the machine is none of the document's business."""
    home = folder.resolve()

    async def load(path: str) -> str | None:
        file = (home / path).resolve()
        if not file.is_relative_to(home):
            return None
        try:
            return file.read_text(encoding="utf-8-sig") if file.stat().st_size <= LARGEST_BYTES else None
        except (OSError, UnicodeDecodeError):
            return None

    return load
