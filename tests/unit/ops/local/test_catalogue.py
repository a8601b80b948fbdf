from __future__ import annotations

from pathlib import Path

import pytest

from ops.local.catalogue import DEMO_CATALOGUE, CatalogueUnreadable, read_catalogue


def _file(folder: Path, text: str) -> Path:
    file = folder / "catalogue.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "text", ["- name: a\n- name: b\n", "endpoints:\n- name: a\n- name: b\n", '[{"name": "a"}, {"name": "b"}]']
)
def test_a_catalogue_is_a_list_at_the_top_or_under_endpoints(tmp_path: Path, text: str) -> None:
    assert [entry["name"] for entry in read_catalogue(_file(tmp_path, text))] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name: [", "is not YAML"),
        ("", "holds no endpoints"),
        ("just text", "holds no endpoints"),
        ("endpoints: {}", "holds no endpoints"),
        ("- name: a\n- 5\n", "entry 2 is not a mapping"),
    ],
)
def test_a_file_that_is_no_catalogue_is_refused_with_the_reason(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(CatalogueUnreadable, match=why):
        read_catalogue(_file(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CatalogueUnreadable, match=r"absent\.yaml"):
        read_catalogue(tmp_path / "absent.yaml")


def test_the_demo_catalogue_follows_the_demo_api_to_its_port() -> None:
    entries = read_catalogue(DEMO_CATALOGUE, demo_url="http://127.0.0.1:40001")

    assert len(entries) >= 12
    assert all(entry["url"].startswith("http://127.0.0.1:40001/") for entry in entries)
