"""Guards of an operator's own, through whole turns: heard when they object, survived when they break."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from schemas.events import AnswerCompleted
from tests.integration.llm.scripted import marked, scripted_model
from tests.integration.turn.house import Answered, House, open_house
from workers.runtime.settings import GuardSettings
from workers.runtime.telemetry import GUARD_FAILURES, GUARD_OBJECTIONS

INDEXED = ("get_vehicle_tax_info", "get_weather")
OWN = "tests.integration.turn.own_guards"
BROKEN, NO_SKODA = f"{OWN}:Breaks", f"{OWN}:NoSkoda"
TAX = "Calculate the vehicle tax for registration number 123ABC for 2026"
Opened = Callable[..., AbstractContextManager[House]]


@pytest.fixture
def guarded(loop: asyncio.AbstractEventLoop, redis_with_endpoints: str) -> Opened:
    """Open a house with these guard settings, and with a model that says one thing, if it is given."""

    @contextmanager
    def opened(*, model_says: str = "", **guard: object) -> Iterator[House]:
        settings = GuardSettings.model_validate(guard)
        if not model_says:
            with open_house(loop, redis_with_endpoints, guard=settings) as house:
                yield house
            return
        pytest.importorskip("dspy")
        with (
            scripted_model(otherwise=marked(formatted_answer=model_says)) as script,
            open_house(loop, redis_with_endpoints, guard=settings, engine="dspy", api_base=script.base_url) as house,
        ):
            yield house

    return opened


def is_refused(answered: Answered) -> bool:
    return isinstance(answered.end, AnswerCompleted) and answered.end.input_guard_failed


def failures(name: str) -> float:
    return float(GUARD_FAILURES.labels(guard=name)._value.get())


@pytest.mark.parametrize(("broken", "refuses"), [("refuse", True), ("pass", False)])
def test_a_question_guard_that_breaks_does_as_the_settings_say(
    guarded: Opened, capsys: pytest.CaptureFixture[str], *, broken: str, refuses: bool
) -> None:
    before = failures("breaks")
    with guarded(questions=f"injection, {BROKEN}", broken=broken) as house:
        answered = house.talk(TAX)

    assert is_refused(answered) is refuses
    assert ("51.56" in answered.text) is not refuses
    assert failures("breaks") > before
    assert TAX not in capsys.readouterr().out, "what a guard raises may hold the person's words"


@pytest.mark.parametrize(("broken", "refuses"), [("refuse", True), ("pass", False)])
def test_an_answer_guard_that_breaks_does_as_the_settings_say(guarded: Opened, *, broken: str, refuses: bool) -> None:
    with guarded(answers=f"secrets, {BROKEN}", broken=broken) as house:
        answered = house.talk(TAX)

    assert answered.end.type == "completed"
    assert ("51.56" in answered.text) is not refuses


@pytest.mark.parametrize("broken", ["refuse", "pass"])
def test_a_guard_of_a_models_answers_that_breaks_leaves_the_wording_to_the_rules_or_to_the_model(
    guarded: Opened, *, broken: str
) -> None:
    model_says = "You pay 51.56 euros, all in all."
    with guarded(model_answers=f"numbers, {BROKEN}", broken=broken, model_says=model_says) as house:
        answered = house.talk(TAX)

    assert "51.56" in answered.text
    assert (answered.text == model_says) is (broken == "pass")


def test_a_guard_of_ones_own_that_objects_is_heard_and_counted(guarded: Opened) -> None:
    before = GUARD_OBJECTIONS.labels(guard="no_skoda", side="output")._value.get()
    with guarded(answers=NO_SKODA) as house:
        answered = house.talk(TAX)

    assert "koda" not in answered.text
    assert "51.56" not in answered.text
    assert GUARD_OBJECTIONS.labels(guard="no_skoda", side="output")._value.get() == before + 1
