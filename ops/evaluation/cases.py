"""The form of labelled dialogues: a registry file, and a cases file of one JSON case a line.

A case has `id`, `lang`, `task`, `scope` (`all`, or `candidates` with the ids that are registered for it) and `turns`.
A turn has `user`, perhaps `system_before` (what another system said just before), `context`, `new_endpoints`
(registered from then on), and `expect`: `endpoints` (none: nothing may be called), `calls` (every parameter with its
accepted values; `optional_params` may be left out), `ask` (parameters to be asked for, or true), `kind` (question,
tool_call, continuation_prompt, fallback), `carry` (values known from an earlier request).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from schemas.base import Frozen, JsonValue
from schemas.endpoints import Endpoint
from schemas.registration import EndpointRegistration

_KEPT = frozenset({"id", "name", "aliases", "titles", "examples", "descriptions"})
_TYPES = frozenset(
    {"string", "date", "datetime", "integer", "number", "boolean", "array", "object", "enum", "float", "int", "bool"}
)
_URL = "https://evaluation.invalid/"
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})


class ExpectedCall(Frozen):
    """A right call: every parameter with its accepted values. `optional_params` may be left out."""

    endpoint: str
    params: dict[str, list[Any]] = Field(default_factory=dict)
    optional_params: frozenset[str] = frozenset()


class Expectation(Frozen):
    """What is right at one turn."""

    endpoints: tuple[str, ...] = ()
    calls: tuple[ExpectedCall, ...] = ()
    ask: tuple[str, ...] | bool = ()
    kind: str = ""
    carry: dict[str, Any] = Field(default_factory=dict)
    primary: tuple[str, ...] = ()
    new_intent: bool = False
    switch: str = ""
    relevance_only: bool = False


class CaseTurn(Frozen):
    """One message of the person."""

    user: str
    system_before: str = ""
    context: str = ""
    new_endpoints: tuple[str, ...] = ()
    expect: Expectation = Expectation()


class DialogueCase(Frozen):
    """One dialogue."""

    id: str
    lang: str = "other"
    task: str = "all"
    scope: str = "all"
    candidates: tuple[str, ...] = ()
    turns: tuple[CaseTurn, ...]

    @property
    def is_led_elsewhere(self) -> bool:
        """Whether another system asked the questions: its words come with the case, and values are the person's own."""
        return any(turn.system_before for turn in self.turns)


class PredictedCall(Frozen):
    """What is known for one endpoint after a turn."""

    endpoint: str
    params: dict[str, JsonValue] = Field(default_factory=dict)


class Prediction(Frozen):
    """What came of one turn. `kind`: question, tool_call, continuation_prompt, choice, reply or fallback."""

    id: str
    turn: int
    endpoints: tuple[str, ...] = ()
    ranked: tuple[str, ...] = ()
    calls: tuple[PredictedCall, ...] = ()
    ask: tuple[str, ...] = ()
    kind: str = "fallback"
    elapsed_ms: float = 0.0


@dataclass(frozen=True, kw_only=True)
class LabelledSet:
    """Endpoints by id, and the dialogues about them."""

    endpoints: Mapping[str, Endpoint]
    cases: tuple[DialogueCase, ...]


def read_set(registry: Path, cases: Path, *, tenant: str, limit: int | None = None) -> LabelledSet:
    """Read both files. Raises ValueError (pydantic's among them), naming the line that is not of the form."""
    endpoints = {}
    for entry in json.loads(registry.read_text(encoding="utf-8")):
        endpoint = EndpointRegistration.model_validate(_as_registration(entry)).to_endpoint(tenant)
        endpoints[endpoint.endpoint_id] = endpoint
    lines = [line for line in cases.read_text(encoding="utf-8").splitlines() if line.strip()]
    return LabelledSet(endpoints=endpoints, cases=tuple(map(_case, lines[:limit])))


def _case(line: str) -> DialogueCase:
    raw = json.loads(line)
    known = {key: value for key, value in raw.items() if key in DialogueCase.model_fields and value is not None}
    known["turns"] = [_turn(turn) for turn in raw["turns"]]
    return DialogueCase.model_validate(known)


def _turn(raw: Mapping[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in raw.items() if key in CaseTurn.model_fields and value is not None}
    expect = {key: value for key, value in raw["expect"].items() if key in Expectation.model_fields}
    expect["calls"] = [
        {key: value for key, value in call.items() if key in ExpectedCall.model_fields}
        for call in expect.get("calls", ())
    ]
    if isinstance(expect.get("primary"), str):
        expect["primary"] = [expect["primary"]]
    return {**known, "expect": expect}


def _as_registration(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Keep what routing and collecting read; URLs and methods of research sets are often such as the door refuses."""
    told = {key: value for key, value in entry.items() if key in _KEPT or re.match(r"description|title", key)}
    if entry.get("method") in _METHODS:
        told["method"] = entry["method"]
    if isinstance(entry.get("service"), str):
        told["service_id"] = entry["service"]
    return {**told, "url": _URL, "params": [_known(param) for param in entry.get("params", ())]}


def _known(param: Any) -> Any:
    """Read a type that the house does not know ("any") as text, in nested parameters too."""
    if not isinstance(param, dict):
        return param
    kind = param.get("type")
    known = {**param, "type": kind if kind in _TYPES else "string"}
    if isinstance(known.get("items"), dict):
        known["items"] = _known(known["items"])
    properties = known.get("properties")
    if isinstance(properties, dict):
        known["properties"] = {name: _known(one) for name, one in properties.items()}
    elif isinstance(properties, list):
        known["properties"] = [_known(one) for one in properties]
    return known


def write_predictions(path: Path, predictions: Mapping[tuple[str, int], Prediction]) -> None:
    """Write one JSON line a turn."""
    lines = (json.dumps(one.model_dump(mode="json"), ensure_ascii=False) for one in predictions.values())
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
