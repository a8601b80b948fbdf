"""Follow-ups before and beside retrieval: which of the two a message goes by."""

from __future__ import annotations

import pytest
import redis.asyncio as aioredis

from schemas.endpoints import EnumOption, ParamSpec
from schemas.ids import chat_key
from schemas.registry import Registered
from tests.integration.caching.chats import World
from workers.runtime.clock import utc_now

TARTU = "weather in Tartu on 5 December 2026"
LIKELY = "what will it be like in Narva?"


@pytest.fixture
async def world(clean_redis: aioredis.Redis) -> World:
    return await World(clean_redis).register()


@pytest.mark.parametrize(
    ("ask", "follow", "country"),
    [
        ("What are public holidays in Estonia in 2026?", "and in Latvia?", "LV"),
        ("Millised on riigipühad Eestis 2026. aastal?", "ja Lätis?", "LV"),
        ("Какие государственные праздники в Эстонии в 2026 году?", "а в Латвии?", "LV"),
    ],
)
async def test_a_sure_follow_up_never_reaches_retrieval(world: World, ask: str, follow: str, country: str) -> None:
    await world.say(ask)
    world.shelf.searched.clear()
    assert (await world.say(follow)).called == [("get_public_holidays", country)]
    assert world.shelf.searched == []


@pytest.mark.parametrize(
    ("ask", "back", "day"),
    [
        ("trains from Tartu to Valga on 5 December 2026", "and back?", "2026-12-05"),
        ("rongid Tartust Valka 5. detsembril 2026", "ja tagasi 6. detsembril 2026?", "2026-12-06"),
        ("поезда из Тарту в Валгу 5 декабря 2026", "а обратно?", "2026-12-05"),
    ],
)
async def test_the_way_back_is_the_same_call_between_swapped_ends(world: World, ask: str, back: str, day: str) -> None:
    await world.say(ask)
    (call,) = (await world.say(back)).calls
    assert call.arguments == {"from": "Valga", "to": "Tartu", "date": day}


async def test_a_likely_one_stands_when_retrieval_finds_nothing(world: World) -> None:
    await world.say(TARTU)
    (call,) = (await world.say(LIKELY)).calls
    assert call.arguments == {"city": "Narva", "date": "2026-12-05"}
    assert LIKELY in world.shelf.searched


async def test_a_likely_one_gives_way_when_retrieval_is_sure_of_another_endpoint(world: World) -> None:
    world.shelf.sure[LIKELY] = "find_pharmacies"
    await world.say(TARTU)
    said = await world.say(LIKELY)
    assert (said.called, said.rule.startswith("follow_up")) == ([("find_pharmacies", "Narva")], False)


RAIN = "will it rain there?"


async def test_a_guess_about_one_word_stands_only_where_retrieval_finds_nothing(world: World) -> None:
    await world.say("pharmacies in Tartu")
    said = await world.say(RAIN)
    assert (said.rule, said.calls) == ("follow_up:response_question", ())
    assert said.text.startswith("I can't tell that from the result.")
    world.shelf.likely[RAIN] = "get_weather"
    assert not (await world.say(RAIN)).rule.startswith("follow_up:response")


async def test_retrieval_may_name_the_endpoint_of_an_older_call(world: World) -> None:
    await world.say(TARTU)
    await world.say("pharmacies in Tartu")
    (call,) = (await world.say("and the weather in Narva?")).calls
    assert (call.endpoint.name, call.arguments) == ("get_weather", {"city": "Narva", "date": "2026-12-05"})


async def test_a_question_that_says_all_it_needs_is_not_coloured_by_an_older_call(world: World) -> None:
    await world.say(TARTU)
    await world.say("pharmacies in Tartu")
    said = await world.say("weather in Narva")
    (call,) = said.calls
    assert not said.rule.startswith("follow_up")
    assert call.arguments.get("date") != "2026-12-05"


async def test_two_requests_at_once_are_no_follow_up(world: World) -> None:
    await world.say(TARTU)
    said = await world.say("weather in Narva on 6 December 2026 and public holidays in Latvia in 2026")
    assert said.called == [("get_weather", "Narva"), ("get_public_holidays", "LV")]


async def test_a_question_whose_result_is_gone_asks_the_api_again(world: World) -> None:
    await world.say("What are public holidays in Estonia in 2026?")
    last = await world.cache.last_calls.load(chat_key("default", "chat"))
    await world.cache.forget([call.last.result for call in last.calls])
    which = await world.say("which of those are in June?")
    assert which.called == [("get_public_holidays", "EE")]
    assert "Midsummer Day" in which.text


async def test_an_endpoint_that_is_gone_is_not_followed_up(world: World) -> None:
    await world.say("What are public holidays in Estonia in 2026?")
    endpoint = world.shelf.endpoints.pop("get_public_holidays")
    await world.registry.delete(endpoint.endpoint_id)
    assert (await world.say("Same for Latvia?")).called == []


async def test_what_is_missing_after_a_follow_up_is_asked_for_and_the_rest_is_kept(world: World) -> None:
    await world.say("What are public holidays in Estonia in 2026?")
    old = world.shelf.endpoints["get_public_holidays"]
    kind = ParamSpec(
        name="kind", type="enum", required=True, enum=(EnumOption(value="bank"), EnumOption(value="local"))
    )
    grown = old.model_copy(update={"params": (*old.params, kind)})
    world.shelf.endpoints[old.name] = (
        await world.registry.put(Registered(endpoint=grown, updated_at=utc_now()))
    ).endpoint
    asked = await world.say("Same for Latvia?")
    assert asked.called == []
    assert "kind" in asked.text
    (call,) = (await world.say("local")).calls
    assert call.arguments == {
        "countryIsoCode": "LV", "validFrom": "2026-01-01", "validTo": "2026-12-31", "kind": "local",
    }  # fmt: skip
