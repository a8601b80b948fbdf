"""Every fault of a model in every judgement, through whole turns: the turn comes to what the rules make of it.

The model is asked first for everything (`dspy`) and says nothing but in the judgement at hand. Each fault must be
counted; the right answer, also in another form, must change what comes of the turn, or nothing was tested.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, get_args

import pytest

from schemas.endpoints import Endpoint
from schemas.events import SlotAsked
from schemas.usage import Judgement
from tests.integration.llm.scripted import Line, Reply, Request, Script, scripted_model
from tests.integration.llm.sensible import judgement_in
from tests.integration.turn.house import House, open_house
from tests.integration.turn.judgements import FAULTS, FORMS, JUDGEMENTS, LATE_S, fault, in_another_form, in_form
from workers.runtime.telemetry import MODEL_FALLBACKS

pytest.importorskip("dspy")

INDEXED = (
    "get_public_holidays", "get_school_holidays", "get_vehicle_tax_info", "get_weather", "get_parliament_votings",
    "convert_currency",
)  # fmt: skip
NO_WORD = 401


@dataclass
class OneJudgement:
    """Says its line where it is asked for the judgement, and has no word in any other."""

    judgement: Judgement = "follow_up"
    line: Line = NO_WORD
    asked: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> str | int | Reply:
        self.asked.append(judgement_in(request))
        line = self.line if self.asked[-1] == self.judgement else NO_WORD
        return line(request) if callable(line) else line

    def says(self, judgement: Judgement, line: Line) -> None:
        self.judgement, self.line = judgement, line
        self.asked.clear()


@pytest.fixture(scope="module")
def model() -> OneJudgement:
    return OneJudgement()


@pytest.fixture(scope="module")
def script(model: OneJudgement) -> Iterator[Script]:
    with scripted_model(otherwise=model) as running:
        yield running


@pytest.fixture(scope="module")
def hasty_house(loop: asyncio.AbstractEventLoop, redis_with_endpoints: str, script: Script) -> Iterator[House]:
    """A house that asks the model first, and soon has waited long enough."""
    asking: dict[str, Any] = {"engine": "dspy", "api_base": script.base_url, "retries": 0, "timeout_s": 0.35}
    with open_house(loop, redis_with_endpoints, **asking, rest_after_failures=1_000_000, turn_calls=100) as running:
        yield running


@pytest.fixture(scope="module")
def patient_house(loop: asyncio.AbstractEventLoop, redis_with_endpoints: str, script: Script) -> Iterator[House]:
    """A house that waits for whatever the model says, however busy the machine is."""
    asking: dict[str, Any] = {"engine": "dspy", "api_base": script.base_url, "retries": 0, "timeout_s": 20}
    with open_house(loop, redis_with_endpoints, **asking, rest_after_failures=1_000_000, turn_calls=100) as running:
        yield running


@pytest.fixture(scope="module")
def houses(hasty_house: House, patient_house: House) -> dict[str, House]:
    return {"hasty": hasty_house, "patient": patient_house}


def outcome(house: House, judgement: Judgement, endpoint: Endpoint) -> tuple[object, ...]:
    """Return what came of the judgement's turn, or of indexing: all that a person or an API would notice."""
    if judgement == "endpoint_enrichment":
        enriched, by = house.run(house.rooms.indexer._enricher.enrich(endpoint, None))
        return (enriched.enriched_context, by)
    answered = house.talk(*JUDGEMENTS[judgement].talk)
    assert not any(mark in piece for piece in answered.streamed for mark in ("##", "[[", '{"', "98765", "sk-proj"))
    called = [(call.endpoint.name, dict(call.arguments)) for call in answered.turn.calls]
    missing, choices = getattr(answered.end, "missing", ()), getattr(answered.end, "choices", ())
    decision = answered.turn.decision
    # A choice is asked for in one of several wordings, as it falls.
    return (answered.end.type, "" if choices else answered.text, choices, called, missing, decision and decision.rule)


def left_to_rules(judgement: Judgement) -> float:
    return sum(
        sample.value
        for metric in MODEL_FALLBACKS.collect()
        for sample in metric.samples
        if sample.labels.get("judgement") == judgement and sample.name.endswith("_total")
    )


@pytest.fixture(scope="module")
def by_rules(rules: House, endpoints: dict[str, Endpoint]) -> dict[Judgement, tuple[object, ...]]:
    return {judgement: outcome(rules, judgement, endpoints["get_public_holidays"]) for judgement in JUDGEMENTS}


FAULTY = [
    *(
        pytest.param(one, fault(name, JUDGEMENTS[one].right), id=f"{one}-{name}")
        for one in JUDGEMENTS
        for name in FAULTS
    ),
    *(
        pytest.param(one, in_form(fields), id=f"{one}-useless-{number}")
        for one in JUDGEMENTS
        for number, fields in enumerate(JUDGEMENTS[one].useless)
    ),
]
"""Each fault in each judgement, and readable answers that nothing bears out."""


@pytest.mark.parametrize(("judgement", "line"), FAULTY)
def test_a_fault_leaves_the_turn_to_the_rules_and_is_counted(
    houses: dict[str, House],
    model: OneJudgement,
    by_rules: dict[Judgement, tuple[object, ...]],
    endpoints: dict[str, Endpoint],
    judgement: Judgement,
    line: Line,
) -> None:
    model.says(judgement, line)
    before = left_to_rules(judgement)

    comes_late = isinstance(line, Reply) and LATE_S in (line.delay_s, line.pause_s)
    house = houses["hasty" if comes_late else "patient"]
    came_of_it = outcome(house, judgement, endpoints["get_public_holidays"])

    assert judgement in model.asked
    assert came_of_it == by_rules[judgement]
    assert left_to_rules(judgement) == before + model.asked.count(judgement)


@pytest.mark.parametrize("judgement", JUDGEMENTS)
def test_the_right_answer_counts_in_whatever_form(
    patient_house: House,
    model: OneJudgement,
    by_rules: dict[Judgement, tuple[object, ...]],
    endpoints: dict[str, Endpoint],
    judgement: Judgement,
) -> None:
    endpoint, right = endpoints["get_public_holidays"], JUDGEMENTS[judgement].right
    before = left_to_rules(judgement)
    model.says(judgement, in_form(right))
    by_model = outcome(patient_house, judgement, endpoint)
    assert by_model != by_rules[judgement]

    for name in FORMS:
        model.says(judgement, in_another_form(name, right))
        assert outcome(patient_house, judgement, endpoint) == by_model, name
    assert left_to_rules(judgement) == before


def test_the_menu_knows_every_judgement() -> None:
    assert set(JUDGEMENTS) == set(get_args(Judgement))


def test_a_hint_fills_a_value_that_the_rules_would_have_asked_for(patient_house: House, model: OneJudgement) -> None:
    one = JUDGEMENTS["service_intent"]
    model.says("service_intent", in_form({**one.right, "entities": {}}))
    without = patient_house.talk(*one.talk)
    model.says("service_intent", in_form(one.right))
    hinted = patient_house.talk(*one.talk)

    assert isinstance(without.end, SlotAsked)
    assert isinstance(hinted.end, SlotAsked)
    assert set(without.end.missing) == {"regNr", "calculationYear"}
    assert set(hinted.end.missing) == {"calculationYear"}
    assert hinted.end.text != without.end.text
