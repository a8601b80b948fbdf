"""Where search is in doubt a model may say which service is meant: one that was offered, in the person's own words."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest

from schemas.routing import Decision, Layer
from tests.integration.llm.scripted import Line, Reply, marked
from tests.integration.llm.test_judges_of_rooms import modelled
from tests.unit.workers.classification import twins
from tests.unit.workers.classification.twins import HOLIDAYS, SCHOOL, WEATHER, WordSearch, candidate
from tests.unit.workers.turn.test_leaning import HOLIDAYS as PUBLIC_HOLIDAYS
from tests.unit.workers.turn.test_leaning import heard
from workers.classification.api_tools import ApiTools
from workers.classification.intent_detector import IntentDetector
from workers.classification.routes import RouteFinder
from workers.extraction.filler import Filler, Spoken
from workers.extraction.loop import Asked, collect, open_collection

pytest.importorskip("dspy")

FAULTS: dict[str, Line] = {
    "500": 500,
    "429 for long": Reply(status=429, retry_after="600"),
    "401": 401,
    "connection cut": Reply(dies_after=0),
    "no completion": Reply(raw=b"<html>"),
    "half a body": Reply(raw=b'{"id": "c", "choices": [{"mess'),
    "nothing": "",
    "prose": "I think it is the second one, but who knows.",
    "other fields": marked(answer="yes"),
}


def intent(service: str, confidence: object = 0.9, entities: object = None) -> str:
    told = json.dumps(entities or {}, ensure_ascii=False)
    return marked(matched_service_id=service, confidence=str(confidence), entities=told)


DAYS_OFF = "Could somebody tell when people stay at home in Läti?"
NEAR = (candidate(SCHOOL, 0.39), candidate(HOLIDAYS, 0.37))


async def claimed(
    reply: Line, message: str = DAYS_OFF, *, search: WordSearch | None = None, engine: Literal["auto", "dspy"] = "auto"
) -> tuple[Decision | None, int]:
    if search is None:
        search = WordSearch()
        search.nearest = _nearest_of(*NEAR)  # type: ignore[method-assign]
    async with modelled(reply) as (model, script):
        settings = twins.settings()
        tools = ApiTools(
            finder=RouteFinder(search=search, settings=settings),
            detector=IntentDetector(model=model, engine=engine, settings=settings),
        )
        return await tools.claim(twins.message(message)), len(script.requests)


async def test_what_search_just_missed_the_model_may_find_with_the_words_for_its_values() -> None:
    decision, asked = await claimed(intent("holidays", entities={"country": "Läti", "month": "May", "until": "home"}))

    assert asked == 1
    assert decision is not None
    assert (decision.rule, decision.layer) == ("model_intent", Layer.SERVICE)
    assert [endpoint.endpoint_id for endpoint in decision.endpoints] == ["holidays"]
    assert decision.hints == {"country": "Läti"}, "names outside the schema are dropped"


@pytest.mark.parametrize(
    "reply",
    [
        intent("none"),
        intent("holidays", 0.69),
        intent("holidays", "very"),
        intent("holidays", 17),
        intent("weather"),
        intent("drop table"),
        *FAULTS.values(),
    ],
)
async def test_a_doubtful_or_broken_word_leaves_the_message_unclaimed(reply: Line) -> None:
    decision, asked = await claimed(reply)

    assert decision is None
    assert asked == 1


async def test_words_that_nobody_said_are_no_values() -> None:
    decision, _ = await claimed(intent("holidays", entities={"country": "Estonia"}))

    assert decision is not None
    assert decision.hints == {}


WEAK = "what is it going to be like outside"


@pytest.mark.parametrize(
    ("reply", "kept"),
    [(intent("none"), None), (intent("holidays", 0.8), "holidays"), (intent("none", 0.2), "weather")]
    + [(fault, "weather") for fault in FAULTS.values()],
)
async def test_a_weak_match_that_no_word_names_is_put_to_the_model(reply: Line, kept: str | None) -> None:
    weak = WordSearch({WEAK: (candidate(WEATHER, 0.45),)})
    weak.nearest = _nearest_of(candidate(WEATHER, 0.45), candidate(HOLIDAYS, 0.2))  # type: ignore[method-assign]

    decision, asked = await claimed(reply, WEAK, search=weak)

    assert asked == 1
    assert (decision.endpoints[0].endpoint_id if decision else None) == kept


def _nearest_of(*found: twins.Candidate) -> Any:
    async def nearest(*_: object, **__: object) -> tuple[twins.Candidate, ...]:
        return found

    return nearest


@pytest.mark.parametrize("message", ["What are the public holidays in Estonia?", "hello", "write me a poem"])
async def test_auto_asks_nothing_where_search_is_sure_or_far_off(message: str) -> None:
    _, asked = await claimed(intent("none"), message, search=WordSearch())

    assert asked == 0


async def test_where_search_is_sure_it_is_not_asked_a_second_time() -> None:
    search = WordSearch()
    search.nearest = None  # type: ignore[assignment,method-assign] # asking would fail

    decision, asked = await claimed(intent("none"), "What are the public holidays in Estonia?", search=search)

    assert (decision is not None, asked) == (True, 0)


async def test_hints_are_read_by_the_rules_and_save_a_second_request() -> None:
    message = "Could somebody tell when people stay at home in Lettland"
    collecting = open_collection([PUBLIC_HOLIDAYS], message)
    now = heard("").now
    outcome = collect(collecting, message, language="en", now=now)
    async with modelled() as (model, script):
        filler = Filler(model=model, engine="auto")
        spoken = Spoken(message=message, language="en", now=now, hints={"validFrom": "stay at home", "nothing": "home"})
        improved = await filler.improve(outcome, collecting, spoken)
        period = "from 2026-01-01 to 2026-01-31"
        hinted = Spoken(message=f"{message} {period}", language="en", now=now, hints={"countryIsoCode": "Latvia"})
        unsaid = await filler.improve(outcome, collecting, hinted)

    assert isinstance(improved, Asked)
    assert improved.collecting.endpoints[0].values == {}, "words that are no date give none"
    assert isinstance(unsaid, Asked)
    assert "countryIsoCode" not in unsaid.collecting.endpoints[0].values
    assert len(script.requests) <= 2
