"""Reads a catalogue of endpoints from YAML or JSON. One bad entry never stops the rest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from schemas.endpoints import Endpoint
from schemas.registration import EndpointRegistration

_LONGEST_NAME = 80


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A fault: the entry's place (from 0; None for the whole file), its name when it has one, where, and what."""

    entry: int | None
    name: str
    path: str
    message: str


def load(source: Path | str, *, tenant: str = "default") -> tuple[list[Endpoint], list[Problem]]:
    """Read the file (a Path, or a one-line text that names one), or the text itself.

    The document is a list of registrations, or a mapping with the key `endpoints`. JSON is YAML. An unreadable file
    raises OSError; anything else that is wrong becomes a Problem.
    """
    try:
        document = yaml.safe_load(_text(source))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return [], [Problem(entry=None, name="", path="", message=f"not readable as YAML or JSON: {error}")]
    entries = document.get("endpoints") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        return [], [Problem(entry=None, name="", path="endpoints", message="a list of endpoints is expected")]
    return _read(entries, tenant)


def _text(source: Path | str) -> str:
    if isinstance(source, str) and ("\n" in source or source.lstrip()[:1] in ("[", "{")):
        return source
    return Path(source).read_text(encoding="utf-8-sig")


def _read(entries: list[Any], tenant: str) -> tuple[list[Endpoint], list[Problem]]:
    endpoints: dict[str, Endpoint] = {}
    problems: list[Problem] = []
    for place, entry in enumerate(entries):
        name = str(entry.get("name", ""))[:_LONGEST_NAME] if isinstance(entry, dict) else ""
        try:
            endpoint = EndpointRegistration.model_validate(entry).to_endpoint(tenant)
        except ValidationError as error:
            problems += [
                Problem(entry=place, name=name, path=".".join(map(str, fault["loc"])), message=fault["msg"])
                for fault in error.errors(include_url=False, include_input=False)
            ]
            continue
        if endpoint.endpoint_id in endpoints:
            problems.append(Problem(entry=place, name=name, path="endpointId", message="seen twice; the first is kept"))
            continue
        endpoints[endpoint.endpoint_id] = endpoint
    return list(endpoints.values()), problems
