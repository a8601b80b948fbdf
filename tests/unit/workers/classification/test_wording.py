from __future__ import annotations

import tomllib
from importlib import resources
from string import Formatter

import pytest

from tests.unit.workers.classification.twins import HOLIDAYS, endpoint
from workers.classification.smalltalk import Talk
from workers.classification.wording import listed, title

FILES = {
    language: tomllib.loads(
        (resources.files("workers.messages") / f"{language}.classification.toml").read_text(encoding="utf-8")
    )
    for language in ("en", "et", "ru")
}
SPOKEN = ("context", "choice", "ood", "listing")


def placeholders(sentences: str | list[str]) -> set[str | None]:
    all_of_them = [sentences] if isinstance(sentences, str) else sentences
    return {field for sentence in all_of_them for _, field, _, _ in Formatter().parse(sentence) if field}


@pytest.mark.parametrize("language", ["et", "ru"])
def test_the_languages_have_the_same_keys(language: str) -> None:
    assert {s: set(keys) for s, keys in FILES[language].items()} == {s: set(keys) for s, keys in FILES["en"].items()}


@pytest.mark.parametrize("language", ["et", "ru"])
@pytest.mark.parametrize("section", SPOKEN)
def test_the_languages_have_the_same_placeholders(language: str, section: str) -> None:
    english = {key: placeholders(value) for key, value in FILES["en"][section].items()}

    assert {key: placeholders(value) for key, value in FILES[language][section].items()} == english


@pytest.mark.parametrize("language", ["en", "et", "ru"])
def test_every_kind_of_small_talk_can_be_heard(language: str) -> None:
    assert {str(kind) for kind in Talk} - {"unclear"} <= set(FILES[language]["hear"])


def test_an_endpoint_is_named_by_its_title_else_by_its_name() -> None:
    assert title(HOLIDAYS, "et") == "riigipühad"
    assert title(endpoint("vehicle_tax_info", {"en": "vehicle tax"}), "ru") == "vehicle tax"
    assert title(endpoint("parking_fine"), "en") == "parking fine"


@pytest.mark.parametrize(
    ("items", "expected"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_items_are_listed_as_people_list_them(items: list[str], expected: str) -> None:
    assert listed(items, "en") == expected
