"""Reads a catalogue of endpoints from YAML or JSON. One bad entry never stops the rest."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from schemas.endpoints import Endpoint
from schemas.registration import EndpointRegistration

_LONGEST_NAME = 80
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one where it is built


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A fault: the entry's place (from 0; None for the whole file), its name when it has one, where, and what."""

    entry: int | None
    name: str
    path: str
    message: str


def load(source: Path | str, *, tenant: str = "default") -> tuple[list[Endpoint], list[Problem]]:
    """Read the file (a Path, or a one-line text that names one), or the text itself.

    The document is a list of registrations, or a mapping with the list under `endpoints` (or `response`, as Ruuter
    answers). JSON is YAML. An unreadable file raises OSError; anything else that is wrong becomes a Problem.
    """
    try:
        text = _text(source)
    except UnicodeDecodeError as error:
        return [], [Problem(entry=None, name="", path="", message=f"not readable as UTF-8: {error}")]
    return read_catalogue(text, tenant=tenant)


def read_catalogue(text: str, *, tenant: str = "default") -> tuple[list[Endpoint], list[Problem]]:
    """Read the text of a catalogue, as `load` does."""
    try:
        document = document_of(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return [], [Problem(entry=None, name="", path="", message=f"not readable as YAML or JSON: {error}")]
    entries = document
    if isinstance(document, dict):
        entries = document.get("endpoints", document.get("response"))
    if not isinstance(entries, list):
        return [], [Problem(entry=None, name="", path="endpoints", message="a list of endpoints is expected")]
    return _read(entries, tenant)


def document_of(text: str) -> Any:
    """Read JSON by its own parser, far faster than YAML's; the rest, and what that one refuses, as YAML.

    Raises ValueError, yaml.YAMLError or RecursionError.
    """
    if text.lstrip("\ufeff \t\r\n")[:1] in ("[", "{"):
        try:
            return json.loads(text.lstrip("\ufeff"))
        except ValueError:
            pass  # YAML's flow style begins like JSON too
    return yaml.load(text, _Loader)  # noqa: S506 - a safe loader


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
