"""A small labelled set of three languages, written for these tests, and perfect and empty predictions for any set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ops.evaluation.cases import DialogueCase, PredictedCall, Prediction

REGISTRY: list[dict[str, Any]] = [
    {
        "id": "holidays",
        "name": "get_public_holidays",
        "description": "Public holidays of a country between two dates",
        "description_et": "Riigi riigipühad kahe kuupäeva vahel",
        "description_ru": "Государственные праздники страны между двумя датами",
        "url": "not a url",
        "method": "ASK",
        "params": [
            {"name": "countryIsoCode", "type": "string", "required": True, "description": "ISO country code (EE, LV)"},
            {"name": "validFrom", "type": "string", "required": True, "description": "First day (YYYY-MM-DD)"},
            {"name": "validTo", "type": "string", "required": True, "description": "Last day (YYYY-MM-DD)"},
        ],
    },
    {
        "id": "area",
        "name": "triangle.area",
        "description": "Area of a triangle by base and height",
        "params": [
            {"name": "base", "type": "number", "required": True, "description": "The base"},
            {"name": "height", "type": "integer", "required": True, "description": "The height"},
            {"name": "unit", "type": "any", "required": False, "description": "The unit, cm by default"},
            {
                "name": "style",
                "type": "object",
                "required": False,
                "description": "How to draw it",
                "properties": {"color": {"type": "string"}},
            },
        ],
    },
]


def _expects(endpoint: str, params: dict[str, list[Any]], **more: Any) -> dict[str, Any]:
    call = {"endpoint": endpoint, "params": params, **({"optional_params": ["unit"]} if "unit" in params else {})}
    return {"endpoints": [endpoint], "calls": [call], **more}


_MAY = {"validFrom": ["2026-05-01"], "validTo": ["2026-05-31"]}
CASES: list[dict[str, Any]] = [
    {
        "id": "two-turns",
        "lang": "en",
        "task": "dialogue",
        "scope": "all",
        "turns": [
            {
                "user": "What are the public holidays in Estonia?",
                "expect": _expects(
                    "holidays", {"countryIsoCode": ["EE", "EST"]}, ask=["validFrom", "validTo"], kind="question"
                ),
            },
            {
                "user": "from 1 May 2026 to 31 May 2026",
                "expect": _expects("holidays", {"countryIsoCode": ["EE"], **_MAY}, kind="tool_call"),
            },
        ],
    },
    {
        "id": "one-turn",
        "lang": "et",
        "task": "dialogue",
        "scope": "all",
        "turns": [
            {
                "user": "Millised on riigipühad Eestis 1.–31. mai 2026?",
                "expect": _expects("holidays", {"countryIsoCode": ["EE"], **_MAY}),
            }
        ],
    },
    {
        "id": "russian",
        "lang": "ru",
        "task": "dialogue",
        "scope": "all",
        "turns": [
            {
                "user": "Какие государственные праздники в Эстонии с 1 по 31 мая 2026?",
                "expect": _expects("holidays", {"countryIsoCode": ["EE"], **_MAY}),
            }
        ],
    },
    {
        "id": "candidates",
        "lang": "en",
        "task": "choice",
        "scope": "candidates",
        "candidates": ["area"],
        "turns": [
            {
                "user": "What is the area of a triangle with base 10 and height 5?",
                "expect": _expects("area", {"base": [10], "height": [5], "unit": ["cm"]}),
            }
        ],
    },
    {
        "id": "nothing-fits",
        "lang": "en",
        "task": "choice",
        "scope": "candidates",
        "candidates": ["area"],
        "turns": [{"user": "Who wrote Hamlet?", "expect": {"endpoints": [], "none": True, "calls": []}}],
    },
    {
        "id": "registered-later",
        "lang": "en",
        "task": "choice",
        "scope": "candidates",
        "candidates": ["area"],
        "turns": [
            {"user": "Which public holidays are there in Estonia?", "expect": {"endpoints": [], "calls": []}},
            {
                "user": "Which public holidays are there in Estonia in May 2026?",
                "new_endpoints": ["holidays"],
                "expect": _expects("holidays", {"countryIsoCode": ["EE"], **_MAY}),
            },
        ],
    },
]


def write_set(folder: Path) -> tuple[Path, Path]:
    """Write the set as a registry file and a cases file."""
    registry, cases = folder / "registry.json", folder / "cases.jsonl"
    registry.write_text(json.dumps(REGISTRY), encoding="utf-8")
    cases.write_text("".join(json.dumps(case) + "\n" for case in CASES), encoding="utf-8")
    return registry, cases


def perfect(cases: Sequence[DialogueCase]) -> dict[tuple[str, int], Prediction]:
    """Predict exactly what is expected, each value by its first accepted form."""
    found = {}
    for case in cases:
        for at, turn in enumerate(case.turns):
            expect = turn.expect
            found[case.id, at] = Prediction(
                id=case.id,
                turn=at,
                endpoints=expect.endpoints,
                calls=tuple(
                    PredictedCall(
                        endpoint=call.endpoint,
                        params={name: _first(accepted) for name, accepted in call.params.items()},
                    )
                    for call in expect.calls
                ),
                ask=expect.ask if isinstance(expect.ask, tuple) else ("anything",),
                kind=expect.kind or "tool_call",
            )
    return found


def _first(accepted: Any) -> Any:
    return _plain(next((one for one in accepted if one != ""), ""))


def _plain(value: Any) -> Any:
    """Of an object, take the first accepted form of each property; one that may be absent is left out."""
    if isinstance(value, dict):
        options = {name: one if isinstance(one, list) else [one] for name, one in value.items()}
        return {name: _first(one) for name, one in options.items() if one[:1] != [""]}
    return [_plain(one) for one in value] if isinstance(value, list) else value
