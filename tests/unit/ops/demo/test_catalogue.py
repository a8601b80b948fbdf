"""The demo catalogue: complete in three languages, and in step with the API and the templates' filters."""

from __future__ import annotations

import uuid
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ops.demo.api import create_app
from schemas.endpoints import LANGUAGES, Endpoint
from workers.formatting.filters import FILTERS
from workers.formatting.templates import Field, Node, Optional, parse
from workers.indexing.catalogue import load
from workers.runtime.settings import LocalSettings

CATALOGUE = Path(__file__).parents[4] / "ops" / "demo" / "catalogue.yaml"
ENDPOINTS, PROBLEMS = load(CATALOGUE)
each_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)


def fields(nodes: tuple[Node, ...]) -> list[Field]:
    found = []
    for node in nodes:
        if isinstance(node, Optional):
            found += fields(node.nodes)
        elif isinstance(node, Field):
            found.append(node)
    return found


def test_the_catalogue_is_registered_without_a_fault() -> None:
    assert PROBLEMS == []
    assert len(ENDPOINTS) == 14
    assert all(uuid.UUID(endpoint.endpoint_id) for endpoint in ENDPOINTS)


def test_every_route_of_the_api_is_described_and_nothing_else() -> None:
    served = {
        (path, method)
        for route in create_app().routes
        if (path := getattr(route, "path", "")) not in ("/healthz", "/log")
        for method in getattr(route, "methods", ()) or ()
        if method != "HEAD"
    }

    assert {(urlsplit(endpoint.url).path, endpoint.method) for endpoint in ENDPOINTS} == served


@each_endpoint
def test_an_endpoint_stands_at_the_demo_apis_usual_address(endpoint: Endpoint) -> None:
    usual = LocalSettings.model_fields["demo_port"].default

    assert endpoint.url.startswith(f"http://127.0.0.1:{usual}/")


@each_endpoint
def test_an_endpoint_speaks_three_languages(endpoint: Endpoint) -> None:
    assert set(endpoint.titles) == set(LANGUAGES)
    assert set(endpoint.descriptions) == {"et", "ru"}
    assert all(3 <= len(endpoint.examples[language]) <= 8 for language in LANGUAGES)
    assert set(endpoint.rendering.answer) == set(LANGUAGES)
    for param in endpoint.params:
        assert set(param.labels) == set(LANGUAGES), param.name
        assert param.description, param.name
        assert param.placement, param.name


@each_endpoint
def test_lists_have_rows_in_each_language(endpoint: Endpoint) -> None:
    rendering = endpoint.rendering

    assert set(rendering.row) == (set(LANGUAGES) if rendering.items is not None else set())


@each_endpoint
def test_templates_use_filters_that_exist(endpoint: Endpoint) -> None:
    rendering = endpoint.rendering
    templates = [*rendering.answer.values(), *rendering.row.values(), *rendering.empty.values()]

    found = [f for t in templates for s in parse(t) for clause in s.clauses for f in fields(clause)]

    assert {step.name for field in found for step in field.filters} <= set(FILTERS)
    assert found


@each_endpoint
def test_a_translated_template_asks_for_the_same_values(endpoint: Endpoint) -> None:
    for texts in (endpoint.rendering.answer, endpoint.rendering.row, endpoint.rendering.empty):
        paths = {
            language: {f.path for s in parse(template) for clause in s.clauses for f in fields(clause)}
            for language, template in texts.items()
        }
        assert paths.get("et") == paths.get("ru") or endpoint.name == "get_school_holidays"
