from __future__ import annotations

from typing import Any

import pytest

from schemas.endpoints import Endpoint
from workers.indexing.enrich import description_language, enrich


def endpoint(**fields: Any) -> Endpoint:
    return Endpoint.model_validate(
        {"endpoint_id": "a", "name": "get_vehicle_tax", "description": "Tax of a car.", "url": "https://x.ee/"} | fields
    )


@pytest.mark.parametrize(
    ("description", "language"),
    [
        ("Fetch national holidays for a specific country", "en"),
        ("Too riiklikud pühad konkreetse riigi kohta", "et"),
        ("Arvuta sõiduki maks", "et"),
        ("Праздничные дни страны (ISO)", "ru"),
        ("", "en"),
    ],
)
def test_the_language_of_a_description(description: str, language: str) -> None:
    assert description_language(description) == language


def test_the_context_speaks_the_descriptions_language() -> None:
    english = enrich(endpoint())
    estonian = enrich(endpoint(description="Arvuta mootorsõiduki maks registrinumbri järgi"))
    russian = enrich(endpoint(description="Рассчитать налог на автомобиль"))

    assert "car" in english.enriched_context
    assert "sõiduk" in estonian.enriched_context
    assert "налог" in russian.enriched_context


def test_params_options_titles_and_examples_are_told() -> None:
    context = enrich(
        endpoint(
            titles={"en": "Vehicle tax"},
            aliases={"en": ("road tax",)},
            examples={"en": ("How much is my car tax?",)},
            params=[
                {"name": "regNr", "required": True, "labels": {"en": "registration number"}},
                {"name": "fuelKind", "type": "enum", "enum": [{"value": "D", "labels": {"en": "diesel"}}, "E"]},
            ],
        )
    ).enriched_context

    for said in ("Vehicle tax", "road tax", "How much is my car tax?", "registration number", "fuel kind", "diesel, E"):
        assert said in context


def test_a_given_context_is_kept() -> None:
    assert enrich(endpoint(enriched_context="ours")).enriched_context == "ours"


def test_enriching_again_gives_the_same() -> None:
    assert enrich(endpoint()) == enrich(endpoint())


def test_an_endpoint_with_nothing_to_add_gets_no_context() -> None:
    assert enrich(endpoint(name="frobnicate")).enriched_context == ""
