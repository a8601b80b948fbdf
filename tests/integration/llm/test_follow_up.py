"""A model judges what follows up only where the rules are not sure, and only what message and call bear out counts."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import redis.asyncio as aioredis

from tests.integration.caching.chats import World
from tests.integration.llm.scripted import Line, Script, marked, scripted_model
from tests.unit.workers.caching.followups import last_call, view_of
from workers.caching.contexts import FollowUp
from workers.caching.detector import FollowUpDetector
from workers.llm.model import LanguageModel
from workers.runtime.settings import LlmSettings

pytest.importorskip("dspy")

UNEXPLAINED = FollowUp(verdict="new_intent", reason="unexplained")
ESTONIA = "What are public holidays in Estonia in 2026?"


@asynccontextmanager
async def detecting(*lines: Line) -> AsyncIterator[tuple[FollowUpDetector, Script]]:
    with scripted_model(*lines) as script:
        settings = LlmSettings.model_validate(
            {"engine": "auto", "model": "openai/any", "api_base": script.base_url, "api_key": "k", "retries": 0}
        )
        model = await LanguageModel.open(settings)
        yield FollowUpDetector(model), script
        await model.close()


def says(verdict: str, **changed: object) -> str:
    return marked(verdict=verdict, changed=json.dumps(changed, ensure_ascii=False))


async def judged(
    line: Line, text: str, *, by_rules: FollowUp = UNEXPLAINED, result: str = "stored"
) -> tuple[FollowUp, Script]:
    async with detecting(line) as (detector, script):
        last, view = last_call("holidays", "en", result=result), view_of("holidays")
        return await detector.detect(text, last, view, answer="12 holidays", by_rules=by_rules), script


async def test_its_word_counts_where_the_rules_have_none() -> None:
    told, script = await judged(says("param_update", countryIsoCode="the Finns"), "and what do the Finns have?")
    assert (told.verdict, told.changed) == ("param_update", {"countryIsoCode": "the Finns"})
    asked = str(script.requests[0])
    assert "12 holidays" in asked
    assert "countryIsoCode" in asked
    assert (await judged(says("response_question"), "any in the warm months?"))[0].verdict == "response_question"
    guess = FollowUp(verdict="param_update", changed={"validFrom": "May"}, confidence=0.6)
    assert (await judged(says("new_intent"), "May I?", by_rules=guess))[0].verdict == "new_intent"


@pytest.mark.parametrize(
    "line",
    [
        says("param_update", admin="Finland", url="Finland"),
        says("param_update", countryIsoCode="Norway"),
        says("param_update", countryIsoCode="inland"),
        says("param_update", countryIsoCode={"$gt": ""}),
        says("param_update"),
        says("certainly"),
        "no form at all",
        503,
    ],
    ids=[
        "no parameter",
        "not said",
        "a piece of a word",
        "nested",
        "nothing changed",
        "no verdict",
        "unreadable",
        "away",
    ],
)
async def test_what_it_makes_up_leaves_the_rules_word(line: Line) -> None:
    assert (await judged(line, "and what about Finland then dear?"))[0] == UNEXPLAINED


async def test_it_answers_nothing_from_a_result_that_is_not_kept() -> None:
    assert (await judged(says("response_question"), "any in the warm months?", result=""))[0] == UNEXPLAINED


@pytest.mark.parametrize(
    "by_rules",
    [
        FollowUp(verdict="param_update", changed={"countryIsoCode": "Latvia"}, confidence=0.9),
        FollowUp(verdict="response_question", confidence=0.75),
        FollowUp(verdict="new_intent", reason="asks_for_an_action"),
        FollowUp(verdict="new_intent", reason="not_comparable"),
    ],
)
async def test_where_the_rules_are_sure_it_is_not_asked(by_rules: FollowUp) -> None:
    told, script = await judged(says("new_intent"), "and Latvia?", by_rules=by_rules)
    assert told == by_rules
    assert script.requests == []


async def test_a_chat_asks_it_only_about_what_nothing_else_explains(clean_redis: aioredis.Redis) -> None:
    unclear = "and whatever the Finns do over there in Finland?"
    async with detecting(says("param_update", countryIsoCode="Finland")) as (detector, script):
        world = await World(clean_redis, detector=detector).register()
        await world.say(ESTONIA)
        await world.say("Same for Latvia?")
        await world.say("Which of those is on a Monday?")
        world.shelf.sure["weather in Tartu tomorrow"] = "get_weather"
        assert script.requests == []
        said = await world.say(unclear)
        assert said.called == [("get_public_holidays", "FI")]
        (call,) = said.calls
        assert call.arguments["validFrom"] == "2026-01-01"
        assert len(script.requests) == 1
        await world.say("weather in Tartu tomorrow")
        assert len(script.requests) == 1


async def test_a_value_that_the_schema_does_not_take_is_never_sent(clean_redis: aioredis.Redis) -> None:
    async with detecting(says("param_update", countryIsoCode="Narnia")) as (detector, _):
        world = await World(clean_redis, detector=detector).register()
        await world.say(ESTONIA)
        assert (await world.say("and whatever they do over there in Narnia?")).called == []


async def test_without_the_model_the_turn_goes_its_usual_way(clean_redis: aioredis.Redis) -> None:
    async with detecting(503) as (detector, script):
        world = await World(clean_redis, detector=detector).register()
        await world.say(ESTONIA)
        said = await world.say("and whatever the Finns do over there in Finland?")
        assert (said.called, said.rule.startswith("follow_up:param")) == ([], False)
        assert len(script.requests) == 1
