"""The flow: what may happen in which phase, and what each phase asks next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from schemas.calls import ApiCall
from schemas.commands import Command, Stage
from schemas.endpoints import Endpoint
from schemas.failures import Failure, FailureCode
from schemas.ids import chat_key, new_turn_id
from schemas.routing import Decision, Layer
from schemas.turns import Phase, Turn, TurnRequest
from workers.turn.machine import Answered, Asked, Broke, Gathered, Happened, Planned, Routed, advance, next_command

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
ENDPOINT = Endpoint(endpoint_id="e1", name="get_tax", description="Tax", url="https://example.org/tax")
TO_ENDPOINT = Decision(layer=Layer.SERVICE, language="et", rule="high", endpoints=(ENDPOINT,))
WITH_REPLY = Decision(layer=Layer.CONTEXT, language="en", rule="greeting", reply="Hello!")
CALLS = tuple(ApiCall(call_id=f"t:{i}", index=i, endpoint=ENDPOINT) for i in range(2))
FAILURE = Failure(code=FailureCode.INTERNAL, error_id="ERR-1")


def a_turn(phase: Phase = Phase.ACCEPTED) -> Turn:
    request = TurnRequest(
        turn_id=new_turn_id(chat_key("default", "c")),
        tenant="default",
        chat_id="c",
        message="hi",
        accepted_at=NOON,
        deadline_at=NOON + timedelta(seconds=60),
    )
    return Turn(request=request, phase=phase)


@pytest.mark.parametrize(
    ("phase", "happened", "then"),
    [
        (Phase.CLASSIFYING, Routed(TO_ENDPOINT), Phase.EXTRACTING),
        (Phase.CLASSIFYING, Routed(WITH_REPLY), Phase.FORMATTING),
        (Phase.EXTRACTING, Planned(CALLS, at=NOON), Phase.CALLING),
        (Phase.EXTRACTING, Asked("Which year?"), Phase.WAITING_FOR_USER),
        (Phase.EXTRACTING, Answered("Cancelled."), Phase.DONE),
        (Phase.CALLING, Gathered(), Phase.FORMATTING),
        (Phase.FORMATTING, Answered("It is 5 euros."), Phase.DONE),
        (Phase.CALLING, Broke(FAILURE), Phase.FAILED),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, Phase) else str(value),
)
def test_a_turn_moves_along_its_flow(phase: Phase, happened: Happened, then: Phase) -> None:
    assert advance(a_turn(phase), happened).phase is then


@pytest.mark.parametrize("phase", [p for p in Phase if not p.is_moving])
@pytest.mark.parametrize("happened", [Routed(TO_ENDPOINT), Gathered(), Answered("x"), Broke(FAILURE)])
def test_nothing_happens_to_a_turn_that_has_ended(phase: Phase, happened: Happened) -> None:
    with pytest.raises(ValueError, match=str(phase)):
        advance(a_turn(phase), happened)


def test_an_answer_cannot_come_while_calls_are_out() -> None:
    with pytest.raises(ValueError, match="calling"):
        advance(a_turn(Phase.CALLING), Answered("too early"))


@pytest.mark.parametrize(
    ("phase", "stage"),
    [
        (Phase.ACCEPTED, Stage.CLASSIFICATION),
        (Phase.CLASSIFYING, Stage.CLASSIFICATION),
        (Phase.EXTRACTING, Stage.EXTRACTION),
        (Phase.FORMATTING, Stage.FORMATTING),
    ],
)
def test_a_moving_turn_asks_for_its_stage(phase: Phase, stage: Stage) -> None:
    turn = a_turn(phase)

    assert next_command(turn) == Command(stage=stage, turn_id=turn.turn_id)


def test_several_calls_ask_for_a_fan_out() -> None:
    turn = advance(a_turn(Phase.EXTRACTING), Planned(CALLS, at=NOON))

    assert next_command(turn) == Command(stage=Stage.CALLING, turn_id=turn.turn_id, fan_out=2)


@pytest.mark.parametrize("phase", [p for p in Phase if not p.is_moving])
def test_an_ended_turn_asks_for_nothing(phase: Phase) -> None:
    assert next_command(a_turn(phase)) is None
