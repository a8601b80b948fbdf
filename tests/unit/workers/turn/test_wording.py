"""What stands behind an answer: the parts of the message that are put off."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from schemas.calls import FailureReason
from schemas.endpoints import LANGUAGES, Language
from tests.unit.workers.formatting.saying import a_call, brought, failed
from workers.messages.catalog import text
from workers.turn.wording import Told, Wording, given_up, put_off

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


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


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_result_cannot_tell_is_said_to_be_so_above_all_of_it(language: Language) -> None:
    call = a_call(titles={"en": "things"})
    told = Told(
        query="things", question="which of those is the best?", language=language, unmatched=(), reasons={}, now=NOW,
        results=[(call, brought([{"name": "one"}, {"name": "two"}]))],
    )  # fmt: skip
    said = Wording().word(told).text
    whole = Wording().word(replace(told, question="")).text

    assert said == f"{text('narrowing.untold', language)}\n\n{whole}"
    failure = replace(told, results=[(call, failed(FailureReason.TIMED_OUT))])
    assert text("narrowing.untold", language) not in Wording().word(failure).text
