"""The scripted dialogues of the acceptance tests, measured slot by slot in this process."""

from __future__ import annotations

import asyncio

import pytest

from ops.evaluation.running import Evaluated, evaluate
from tests.acceptance.labelled import HELD_ON, write_scripts

MOST_FALSE_FILLS = 0.005
LEAST_DIALOGUES, LEAST_SLOTS = 60, 200


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    registry, cases = write_scripts(tmp_path_factory.mktemp("scripts"))
    return asyncio.run(evaluate(registry, cases, today=HELD_ON.date()))


def test_nothing_is_filled_that_the_person_did_not_give(done: Evaluated) -> None:
    found = done.report.overall

    assert found.dialogues >= LEAST_DIALOGUES
    assert found.filled >= LEAST_SLOTS
    assert found.false_fills is not None
    assert found.false_fills <= MOST_FALSE_FILLS
    assert found.wrong_values == 0


def test_nothing_is_asked_for_that_was_given(done: Evaluated) -> None:
    assert done.report.overall.over_asking == 0
    assert done.report.overall.ask_recall == 1


def test_every_call_of_every_script_is_right_in_each_language(done: Evaluated) -> None:
    assert {name: found.call_match for name, found in done.report.languages.items()} == {"en": 1, "et": 1, "ru": 1}
    assert done.report.overall.dialogues_right == 1
