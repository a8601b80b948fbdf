"""The model's key is revoked in the middle of the run: every scripted dialogue still goes as its script says.

Before that the model answers, and a turn that it had a word in is held to the script in its questions and calls alone,
not in its wording. From then on every turn is held to all of it, as it is without a model.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ops.evaluation.calls import DEMO_DIALOGUES, read_conversations
from schemas.events import AnswerCompleted, SlotAsked
from tests.acceptance.script import Expected, Heard, Play, read_script
from tests.acceptance.town_api import TownApi
from tests.integration.llm.scripted import Reply, Request, Script, marked, scripted_model
from tests.integration.llm.sensible import SensibleModel
from tests.integration.turn.house import Answered, House, open_house
from workers.runtime.telemetry import MODEL_FALLBACKS

pytest.importorskip("dspy")

FILES = sorted((Path(__file__).parents[2] / "acceptance" / "dialogues").glob("*/*.yaml"))
REVOKED = 401
# The model works for so many of the dialogues; in the middle of the next one it is over.
WORKING = len(FILES) // 4


@dataclass
class Revocable:
    """A sensible model until its key is revoked."""

    model: SensibleModel = field(default_factory=SensibleModel)
    is_revoked: bool = False
    answered: int = 0
    refused: int = 0

    def __call__(self, request: Request) -> str | int | Reply:
        if self.is_revoked:
            self.refused += 1
            return REVOKED
        self.answered += 1
        # A person who is asked the very same thing again thinks that nobody listens; the play checks it.
        asked = marked(question=f"Could you tell me what is missing, please, this time the {self.answered}th?")
        self.model.replies["clarifying_question"] = asked
        return self.model(request)


@dataclass
class PlayedHere(Play):
    """A dialogue held with a house in this process. `revokes_at`: the turn (from 0) before which the key is revoked."""

    house: House
    model: Revocable
    revokes_at: int | None = None
    turns: int = 0
    by_model: bool = False

    def _say(self, expected: Expected) -> Heard:
        if self.turns == self.revokes_at:
            self.model.is_revoked = True
        self.turns += 1
        before = self.model.answered
        answered = self.house.say(expected.user, chat=self.chat_id, seeds=expected.seeds)
        self.by_model = self.model.answered > before
        return _heard(answered)

    def _faults(self, expected: Expected, heard: Heard, seen: list[Any]) -> list[str]:
        if self.by_model:
            expected = expected.model_copy(update={"says": [], "never_says": []})
        return super()._faults(expected, heard, seen)


def _heard(answered: Answered) -> Heard:
    end, turn = answered.end, answered.turn
    buttons = end.choices if isinstance(end, AnswerCompleted | SlotAsked) else ()
    return Heard(
        text=answered.text,
        turn_id=turn.turn_id,
        missing=list(end.missing) if isinstance(end, SlotAsked) else None,
        buttons=[choice.model_dump() for choice in buttons],
        state={
            "layer": str(turn.decision.layer) if turn.decision else "",
            "language": turn.language,
            "phase": str(turn.phase),
        },
    )


@pytest.fixture(scope="module")
def revocable() -> Revocable:
    return Revocable()


@pytest.fixture(scope="module")
def script(revocable: Revocable) -> Iterator[Script]:
    with scripted_model(otherwise=revocable) as running:
        yield running


@pytest.fixture(params=["auto", "dspy"])
def house(
    request: pytest.FixtureRequest,
    loop: asyncio.AbstractEventLoop,
    redis_with_endpoints: str,
    script: Script,
    revocable: Revocable,
) -> Iterator[House]:
    """A house that asks when the rules are unsure, and one that asks first; no rest hides a refused request."""
    revocable.is_revoked, revocable.answered, revocable.refused = False, 0, 0
    asking: dict[str, Any] = {"engine": request.param, "api_base": script.base_url, "rest_after_failures": 1_000_000}
    with open_house(loop, redis_with_endpoints, keeps_responses=False, turn_calls=100, **asking) as running:
        yield running


def left_to_rules() -> float:
    samples = [sample for metric in MODEL_FALLBACKS.collect() for sample in metric.samples]
    counted = [sample for sample in samples if sample.name.endswith("_total")]
    return sum(sample.value for sample in counted if sample.labels["reason"] == "unanswered")


def test_every_scripted_dialogue_goes_on(house: House, revocable: Revocable, api: TownApi) -> None:
    faults: list[str] = []
    before = left_to_rules()
    for number, file in enumerate(FILES):
        play = PlayedHere(
            url="",
            chat_id=f"script-{uuid.uuid4()}",
            api=api,
            script=read_script(file, now=datetime.now(UTC)),
            house=house,
            model=revocable,
            revokes_at=1 if number == WORKING else None,
        )
        try:
            play.hold()
        except AssertionError as error:
            faults.append(f"{file.parent.name}/{file.name}: {error}")

    assert faults == []
    assert revocable.is_revoked
    assert revocable.answered > 0
    assert 0 < revocable.refused == left_to_rules() - before


def noticed(answered: Answered) -> tuple[object, ...]:
    """What a person would notice. Refusals and small talk are worded in one of several ways, as it falls."""
    end, turn = answered.end, answered.turn
    calls = [(call.endpoint.name, dict(call.arguments)) for call in turn.calls]
    is_told = calls or (isinstance(end, SlotAsked) and end.missing)
    rule = turn.decision.rule if turn.decision else ""
    return (end.type, rule, turn.language, calls, answered.text if is_told else "")


def test_every_demo_conversation_comes_to_what_the_rules_make_of_it(
    house: House, rules: House, revocable: Revocable
) -> None:
    """The key is revoked before the last turn of the first conversation that has two; nothing differs from there on."""
    differing: list[object] = []
    for one in read_conversations(DEMO_DIALOGUES):
        chat = f"demo-{uuid.uuid4()}"
        for at, said in enumerate(one.turns):
            revocable.is_revoked = revocable.is_revoked or at > 0
            before = revocable.answered
            ours, theirs = house.say(said, chat=chat), rules.say(said, chat=f"rules-{chat}")
            if revocable.answered == before and noticed(ours) != noticed(theirs):
                differing.append((said, noticed(ours), noticed(theirs)))

    assert differing == []
    assert revocable.is_revoked
