from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ops.evaluation.cases import (
    DialogueCase,
    ExpectedCall,
    LabelledSet,
    PredictedCall,
    Prediction,
    read_set,
    write_predictions,
)
from ops.evaluation.comparing import is_right_call, is_same
from ops.evaluation.scoring import figures, report
from tests.unit.ops.evaluation.labelled import perfect, write_set


@pytest.fixture
def labelled(tmp_path: Path) -> LabelledSet:
    return read_set(*write_set(tmp_path), tenant="evaluation")


def test_perfect_predictions_score_one(labelled: LabelledSet) -> None:
    found = figures(labelled.cases, perfect(labelled.cases), endpoints=labelled.endpoints)

    assert (found.endpoint_top1, found.endpoint_set, found.joint_goal, found.call_match) == (1, 1, 1, 1)
    assert (found.slot_precision, found.slot_recall, found.slot_f1) == (1, 1, 1)
    assert (found.ask_recall, found.rejected, found.turns_right, found.dialogues_right) == (1, 1, 1, 1)
    assert (found.false_fills, found.wrong_values, found.over_asking) == (0, 0, 0)


def test_no_predictions_score_nothing(labelled: LabelledSet) -> None:
    found = figures(labelled.cases, {}, endpoints=labelled.endpoints)

    assert (found.endpoint_top1, found.joint_goal, found.call_match, found.slot_f1) == (0, 0, 0, 0)
    assert (found.ask_recall, found.turns_right, found.dialogues_right) == (0, 0, 0)
    assert found.rejected == 1
    assert found.false_fills is None


def test_a_value_that_nobody_gave_is_told_from_a_wrong_one(labelled: LabelledSet) -> None:
    said = perfect(labelled.cases)
    call = PredictedCall(endpoint="area", params={"base": 10, "height": 7, "style": {"color": "red"}, "unit": "cm"})
    said["candidates", 0] = said["candidates", 0].model_copy(update={"calls": (call,)})

    found = figures(labelled.cases, said, endpoints=labelled.endpoints)

    assert found.false_fills == pytest.approx(1 / found.filled, abs=1e-4)
    assert found.wrong_values == pytest.approx(1 / found.filled, abs=1e-4)
    assert found.call_match is not None
    assert found.call_match < 1


def test_asking_for_what_was_given_is_over_asking(labelled: LabelledSet) -> None:
    said = perfect(labelled.cases)
    said["two-turns", 0] = said["two-turns", 0].model_copy(update={"ask": ("countryIsoCode", "validFrom", "validTo")})

    found = figures(labelled.cases, said, endpoints=labelled.endpoints)

    assert found.over_asking == pytest.approx(1 / 3, abs=1e-4)
    assert found.ask_recall == 1


def test_a_question_for_what_the_person_has_given_is_not_owed() -> None:
    case = DialogueCase.model_validate(
        {"id": "c", "turns": [{"user": "this year", "expect": {"kind": "question"}}, {"user": "x", "expect": {}}]}
    )
    called = Prediction(id="c", turn=0, endpoints=("a",), kind="tool_call")

    assert figures([case], {("c", 0): called}, endpoints={}).dialogues_right == 1
    assert figures([case], {}, endpoints={}).dialogues_right == 0


def test_each_language_and_each_task_is_counted(labelled: LabelledSet) -> None:
    found = report(labelled.cases, perfect(labelled.cases), endpoints=labelled.endpoints, model="m")

    assert {name: group.dialogues for name, group in found.languages.items()} == {"en": 4, "et": 1, "ru": 1}
    assert {name: group.turns for name, group in found.tasks.items()} == {"dialogue": 4, "choice": 4}


def test_predictions_are_written_a_line_a_turn(labelled: LabelledSet, tmp_path: Path) -> None:
    said = perfect(labelled.cases)
    write_predictions(tmp_path / "predictions.jsonl", said)

    lines = (tmp_path / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    assert [Prediction.model_validate_json(line) for line in lines] == list(said.values())


@pytest.mark.parametrize(
    ("value", "accepted", "is_right"),
    [
        (10, "10.0", True),
        ("New-York", "new york", True),
        (True, "true", True),
        (1, True, False),
        ([1, 2], [1, 2], True),
        ([2, 1], [1, 2], False),
        ({"a": 1}, {"a": [1, 2], "b": [""]}, True),
        ({"a": 1, "c": 1}, {"a": [1]}, False),
        ({}, {"a": [1]}, False),
        ({"a": [1, 2]}, {"a": [1, 2]}, True),
        ("half past nine", "half past none", False),
    ],
)
def test_values_are_compared_as_the_sets_own_scorer_does(value: Any, accepted: Any, is_right: bool) -> None:  # noqa: FBT001
    assert is_same(value, accepted, loosely=False) is is_right


def test_words_that_are_nine_tenths_alike_pass_loosely() -> None:
    assert is_same("half past nine", "half past none", loosely=True)
    assert not is_same("nine", "ten", loosely=True)


def test_a_call_is_right_with_its_optional_values_or_without() -> None:
    right = ExpectedCall(endpoint="e", params={"a": [1], "b": ["x"]}, optional_params=frozenset({"b", "c"}))

    for params in ({"a": 1}, {"a": 1, "b": "x"}, {"a": 1, "c": 5}):
        assert is_right_call(PredictedCall(endpoint="e", params=params), right, loosely=False)
    for params in ({}, {"a": 2}, {"a": 1, "b": "y"}, {"a": 1, "d": 1}):
        assert not is_right_call(PredictedCall(endpoint="e", params=params), right, loosely=False)


@pytest.mark.parametrize(("value", "false_fills"), [(10, 0), (11, 0.5)])
def test_a_label_of_an_earlier_schema_gives_its_value_under_the_new_name(
    labelled: LabelledSet, value: int, false_fills: float
) -> None:
    case = DialogueCase.model_validate(
        {
            "id": "old",
            "turns": [
                {
                    "user": "base 10, height 7",
                    "expect": {
                        "endpoints": ["area"],
                        "kind": "tool_call",
                        "calls": [{"endpoint": "area", "params": {"baseLength": [10], "height": [7]}}],
                    },
                }
            ],
        }
    )
    call = PredictedCall(endpoint="area", params={"base": value, "height": 7})
    said = {("old", 0): Prediction(id="old", turn=0, endpoints=("area",), calls=(call,), kind="question")}

    found = figures([case], said, endpoints=labelled.endpoints)

    assert found.false_fills == false_fills
