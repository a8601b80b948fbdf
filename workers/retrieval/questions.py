"""Reads labelled questions: a registry file, a cases file, example questions.

A registry is a list of endpoints in the door's form (`id`, `name`, `description`, `params` …). A case is a JSON line
with `id`, `lang`, `scope` (`all`, or `candidates` with the ids to choose from) and `turns`; the first turn's `user`
and `expect.endpoints` are used. Cases that expect several endpoints at once are left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.registration import EndpointRegistration

_NUMBERS = frozenset({"integer", "number", "float"})
_READ = frozenset({"id", "name", "aliases"})


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question; `expected` is empty when nothing may be called, `candidates` when the whole registry is asked."""

    language: str
    question: str
    expected: frozenset[str]
    candidates: frozenset[str]


def read_cases(path: Path) -> list[Case]:
    """Read the first turns of a cases file."""
    cases = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        case = json.loads(line)
        expected = frozenset(case["turns"][0]["expect"]["endpoints"])
        if len(expected) > 1:
            continue
        chosen = case.get("candidates", ()) if case.get("scope") == "candidates" else ()
        cases.append(
            Case(
                language=case.get("lang", "other"),
                question=case["turns"][0]["user"],
                expected=expected,
                candidates=frozenset(chosen),
            )
        )
    return cases


def read_registry(
    path: Path, *, examples: dict[str, list[str]] | None = None, description_field: str | None = None
) -> list[EndpointRegistration]:
    """Read a registry; with `description_field` that text alone describes, and translations are left aside."""
    return [
        EndpointRegistration.model_validate(_as_registration(entry, examples or {}, description_field))
        for entry in json.loads(path.read_text(encoding="utf-8"))
    ]


def _as_registration(
    entry: dict[str, Any], examples: dict[str, list[str]], description_field: str | None
) -> dict[str, Any]:
    """Keep what search reads; URLs and methods of research sets are often such as the door would refuse."""
    told = {key: value for key, value in entry.items() if key in _READ or key.startswith(("description", "title"))}
    if description_field:
        text = entry.get(description_field) or entry["description"]
        told = {key: value for key, value in told.items() if not key.startswith("description")} | {"description": text}
    params = {param["name"]: _typed(param) for param in entry.get("params", ())}
    return {
        **told,
        "url": "https://evaluation.invalid/",
        "params": list(params.values()),
        "examples": {"en": examples.get(entry["id"], [])},
    }


def _typed(param: dict[str, Any]) -> dict[str, Any]:
    """Keep what search reads of a parameter (of types only numbers: those in the wild include "any")."""
    kind = param.get("type")
    return {
        "name": param["name"],
        "description": param.get("description") or "",
        "type": kind if kind in _NUMBERS else "string",
        "required": bool(param.get("required")),
        "default": param.get("default"),
        "enum": [str(option) for option in param.get("enum") or ()],
    }


def read_examples(path: Path) -> dict[str, list[str]]:
    """Read example questions: a mapping from endpoint id to texts, or a list of [text, id] pairs or of objects."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(stored, dict) and all(isinstance(texts, list) for texts in stored.values()):
        return {name: [text for text in texts if isinstance(text, str)] for name, texts in stored.items()}
    found: dict[str, list[str]] = {}
    for one in stored:
        text, name = (one["text"], one["intent"]) if isinstance(one, dict) else (one[0], one[1])
        found.setdefault(name, []).append(text)
    return found
