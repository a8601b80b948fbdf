"""What a person reads: every demo endpoint, asked over HTTP, answered in three languages.

`golden.yaml` holds the questions and the answers as they were read and approved. A change of wording changes it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import yaml

from schemas.calls import ApiCall, CallFailed, CallOutcome, CallSucceeded, FailureReason
from schemas.endpoints import LANGUAGES, Language
from workers.formatting.formatter import answer
from workers.formatting.tokens import tokens
from workers.indexing.catalogue import load

Outcomes = Callable[[ApiCall], CallOutcome]

HERE = Path(__file__).parent
ENDPOINTS = {endpoint.name: endpoint for endpoint in load(HERE.parents[2] / "ops" / "demo" / "catalogue.yaml")[0]}
GOLDEN: list[dict[str, Any]] = yaml.safe_load((HERE / "golden.yaml").read_text(encoding="utf-8"))


def fetch(demo_url: str, call: ApiCall) -> CallOutcome:
    url = demo_url + urlsplit(call.endpoint.url).path
    sent: dict[str, Any] = {"params": call.arguments} if call.endpoint.method == "GET" else {"json": call.arguments}
    response = httpx.request(call.endpoint.method, url, trust_env=False, **sent)
    if response.is_success:
        return CallSucceeded(call_id=call.call_id, status=response.status_code, body=response.json())
    return CallFailed(
        call_id=call.call_id,
        reason=FailureReason.CLIENT_ERROR,
        status=response.status_code,
        body=response.json(),
    )


@pytest.fixture(scope="module")
def outcomes(demo_url: str) -> Outcomes:
    """Each question is asked once, however often it is answered: a renewal changes what the next one finds."""
    asked: dict[str, CallOutcome] = {}

    def outcome_of(call: ApiCall) -> CallOutcome:
        key = f"{call.endpoint.name} {call.arguments}"
        if key not in asked:
            asked[key] = fetch(demo_url, call)
        return asked[key]

    return outcome_of


def call_of(case: dict[str, Any]) -> ApiCall:
    return ApiCall(call_id="c1", index=0, endpoint=ENDPOINTS[case["endpoint"]], arguments=case["arguments"])


def test_every_endpoint_has_a_golden_answer() -> None:
    assert {case["endpoint"] for case in GOLDEN} == set(ENDPOINTS)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"{case['endpoint']}-{case['shows']}")
def test_an_endpoint_is_answered_as_approved(outcomes: Outcomes, case: dict[str, Any], language: Language) -> None:
    call = call_of(case)

    said = answer(case["shows"], [(call, outcomes(call))], language=language)

    assert said.replace("\u00a0", " ") == case[language].strip()
    assert "".join(tokens(said)) == said


def test_an_address_and_a_vehicle_tax_are_answered_together(outcomes: Outcomes) -> None:
    cases = [
        next(case for case in GOLDEN if case["endpoint"] == name) for name in ("search_address", "get_vehicle_tax_info")
    ]
    results = [(call_of(case), outcomes(call_of(case))) for case in cases]

    said = answer("find an address and my vehicle tax", results, language="en").replace("\u00a0", " ")

    assert said == "\n\n".join(case["en"].strip() for case in cases)
