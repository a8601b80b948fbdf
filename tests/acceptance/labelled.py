"""The scripted dialogues in the form that `signalbox eval dialogues` reads.

    python -m tests.acceptance.labelled FOLDER
    signalbox eval dialogues --registry FOLDER/registry.json --cases FOLDER/cases.jsonl --today 2026-05-12

A script says which calls go out and which parameters a question names. From that follows what must be known at each
question: every parameter that it does not name, as the next call has it, or as the turn's `knows` says where the
person puts it right later. Anything else that is filled is a value that nobody gave.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime, time
from pathlib import Path
from typing import Any

from ops.local.catalogue import DEMO_CATALOGUE, read_catalogue
from schemas.endpoints import Endpoint
from schemas.registration import EndpointRegistration
from tests.acceptance.script import TALLINN, Expected, Script, read_script
from tests.acceptance.town_api import TOWN_CATALOGUE

SCRIPTS = Path(__file__).parent / "dialogues"
HELD_ON = datetime.combine(datetime(2026, 5, 12, tzinfo=TALLINN), time(12), tzinfo=TALLINN)

Call = tuple[str, Mapping[str, Any]]


def write_scripts(folder: Path) -> tuple[Path, Path]:
    """Write all scripts as a registry file and a cases file; their days are those of `HELD_ON`."""
    entries = [entry for file in (DEMO_CATALOGUE, TOWN_CATALOGUE) for entry in read_catalogue(file)]
    endpoints = {str(entry["name"]): EndpointRegistration.model_validate(entry).to_endpoint("t") for entry in entries}
    scripts = {f"{file.parent.name}/{file.stem}": read_script(file, now=HELD_ON) for file in _files()}
    # What comes beside a message has no place in a case; those scripts are held over HTTP alone.
    in_words = {name: script for name, script in scripts.items() if not any(turn.seeds for turn in script.turns)}
    cases = [_case(name, script, endpoints) for name, script in in_words.items()]
    registry, lines = folder / "registry.json", folder / "cases.jsonl"
    registry.write_text(json.dumps([{**entry, "id": entry["name"]} for entry in entries]), encoding="utf-8")
    lines.write_text("".join(f"{json.dumps(case, ensure_ascii=False)}\n" for case in cases), encoding="utf-8")
    return registry, lines


def _files() -> list[Path]:
    return sorted(SCRIPTS.glob("*/*.yaml"))


def _case(name: str, script: Script, endpoints: Mapping[str, Endpoint]) -> dict[str, Any]:
    turns = [
        {"user": turn.user, "expect": _expected(turn, script.turns[at + 1 :], endpoints)}
        for at, turn in enumerate(script.turns)
    ]
    return {"id": name, "lang": script.language, "task": "scripts", "scope": "all", "turns": turns}


def _expected(turn: Expected, later: Sequence[Expected], endpoints: Mapping[str, Endpoint]) -> dict[str, Any]:
    if turn.calls:
        calls = [_call(endpoints[name], values) for one in turn.calls for name, values in one.items()]
        return {"endpoints": [one["endpoint"] for one in calls], "calls": calls, "kind": "tool_call"}
    if turn.refused:
        return {"endpoints": [], "calls": [], "kind": "fallback"}
    if not turn.asks:
        return {"endpoints": [], "calls": []}
    known = [_known(endpoints[name], values, turn) for name, values in _asked_for(turn, later, endpoints)]
    return {"endpoints": [one["endpoint"] for one in known], "calls": known, "ask": turn.asks}


def _asked_for(turn: Expected, later: Sequence[Expected], endpoints: Mapping[str, Endpoint]) -> list[Call]:
    """Name the endpoints that a question is for, with their next call's values: those that take all it names."""
    coming = next((one.calls for one in later if one.calls and _take(one.calls, turn, endpoints)), [])
    if coming:
        return [(name, values) for one in coming for name, values in one.items()]
    taking = [name for name, one in endpoints.items() if {*turn.asks, *turn.knows} <= _names(one)]
    return [(name, {}) for name in taking] if len(taking) == 1 else []


def _take(calls: Sequence[Mapping[str, Any]], turn: Expected, endpoints: Mapping[str, Endpoint]) -> bool:
    taken = {param for one in calls for name in one for param in _names(endpoints[name])}
    return set(turn.asks or ()) <= taken


def _names(endpoint: Endpoint) -> set[str]:
    return {param.name for param in endpoint.params}


def _call(endpoint: Endpoint, values: Mapping[str, Any]) -> dict[str, Any]:
    defaults = [param.name for param in endpoint.params if param.default is not None]
    params = {name: [value] for name, value in values.items()}
    return {"endpoint": endpoint.name, "params": params, "optional_params": defaults}


def _known(endpoint: Endpoint, values: Mapping[str, Any], turn: Expected) -> dict[str, Any]:
    known = {name: value for name, value in {**values, **turn.knows}.items() if name in _names(endpoint)}
    params = {name: [value] for name, value in known.items() if name not in (turn.asks or ())}
    optional = [param.name for param in endpoint.params if not param.required and param.name not in turn.knows]
    return {"endpoint": endpoint.name, "params": params, "optional_params": optional}


if __name__ == "__main__":
    write_scripts(Path(sys.argv[1]))
