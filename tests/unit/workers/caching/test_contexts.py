from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from schemas.endpoints import Endpoint, ParamSpec
from workers.caching.contexts import EndpointView, FollowUp, LastCall


def test_a_view_shows_what_a_judgement_needs_and_neither_address_nor_credentials() -> None:
    endpoint = Endpoint(
        endpoint_id="e1",
        name="holidays",
        description="Public holidays",
        url="https://api.example.ee/h?key=hush",
        headers={"X-Key": "hush"},
        params=(ParamSpec(name="country", enum=("EE", "LV")),),
        titles={"en": "public holidays"},
        version=4,
    )
    view = EndpointView.of(endpoint)
    assert (view.version, view.params, view.titles) == (4, endpoint.params, endpoint.titles)
    assert "hush" not in view.model_dump_json()


def test_a_last_call_survives_the_way_through_redis() -> None:
    last = LastCall(
        endpoint_id="e1",
        version=1,
        arguments={"country": "EE", "days": [1, 2]},
        language="et",
        query="Riigipühad?",
        finished_at=datetime(2026, 1, 2, tzinfo=UTC),
    )
    assert LastCall.model_validate_json(last.model_dump_json()) == last


def test_a_confidence_beyond_one_is_refused() -> None:
    with pytest.raises(ValidationError, match="confidence"):
        FollowUp(verdict="new_intent", confidence=1.5)
