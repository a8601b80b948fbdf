"""Reads the list of scheduled sources. One bad entry never stops the rest; it is told, and its endpoints stay."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from schemas.sources import Source, SourceList
from workers.runtime.clock import Clock, utc_now


def read_source_list(file: Path, clock: Clock = utc_now) -> SourceList:
    """Read the YAML or JSON file: a list of sources, or a mapping with the list under `sources`.

    Whatever is wrong becomes a fault. Paths of sources are made absolute from the file's folder.
    """
    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        return SourceList(faults=(f"{file} can't be read: {error}",), read_at=clock())
    entries = document.get("sources") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        return SourceList(faults=(f"{file}: a list is expected, at the top or under `sources`",), read_at=clock())
    sources: dict[str, Source] = {}
    faults: list[str] = []
    for place, entry in enumerate(entries, start=1):
        faults += [f"{file}: source {place}: {fault}" for fault in _take(entry, sources, folder=file.parent)]
    return SourceList(sources=tuple(sources.values()), faults=tuple(faults), read_at=clock())


def _take(entry: Any, sources: dict[str, Source], *, folder: Path) -> Iterator[str]:
    """Add a source, or yield what is wrong with it."""
    if not isinstance(entry, dict):
        yield "a mapping is expected"
        return
    try:
        source = Source.model_validate(_spelled(entry))
    except ValidationError as error:
        for fault in error.errors(include_url=False, include_input=False):
            yield f"{'.'.join(map(str, fault['loc'])) or 'it'}: {fault['msg']}"
        return
    if source.name in sources:
        yield f"name: {source.name} is taken by another source; the first is kept"
        return
    where = source.location if source.is_remote else str((folder / source.location).absolute())
    sources[source.name] = source.model_copy(update={"location": where})


def _spelled(entry: dict[Any, Any]) -> dict[str, Any]:
    """Accept `url`, `file` and `path` for `location`, and `every` for `every_s`."""
    spellings = {"url": "location", "file": "location", "path": "location", "every": "every_s"}
    return {spellings.get(str(key), str(key)): value for key, value in entry.items()}
