"""What stands behind an answer: the parts of the message that are put off."""

from __future__ import annotations

import pytest

from schemas.endpoints import Language
from workers.messages.catalog import text
from workers.turn.wording import given_up, put_off


@pytest.mark.parametrize("language", ["en", "et", "ru"])
def test_what_is_put_off_is_named_with_how_many_are_done_at_once(language: Language) -> None:
    said = put_off(["show the weather", " ", "my tax"], language, most=3)

    assert said.startswith("\n\n")
    assert "show the weather" in said
    assert "my tax" in said
    assert "3" in said
    assert said.strip() != text("formatting.unmatched", language, parts="show the weather")


def test_nothing_put_off_says_nothing() -> None:
    assert put_off([], "en", most=3) == put_off([" "], "en", most=3) == ""


@pytest.mark.parametrize("language", ["en", "et", "ru"])
def test_what_was_given_up_for_lack_of_values_is_not_told_as_not_found(language: Language) -> None:
    said = given_up(["vehicle tax"], language)

    assert "vehicle tax" in said
    assert said.strip() != text("formatting.unmatched", language, parts="vehicle tax")
    assert given_up([], language) == ""
