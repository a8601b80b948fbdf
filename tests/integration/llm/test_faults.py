"""Every fault that servers of models have, against asking and against streaming, over a real connection."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

import pytest
import redis.asyncio as aioredis

from schemas.usage import TurnCosts
from tests.integration.llm.scripted import Line, Reply, Script, marked, scripted_model
from workers.errors import ModelFailed
from workers.llm.ledger import Ledger
from workers.llm.model import LanguageModel
from workers.llm.scope import asking_for
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.settings import LlmSettings

dspy = pytest.importorskip("dspy")

TURN = "a.chat-1.turn-1"


class Fill(dspy.Signature):  # type: ignore[misc, name-defined]
    """Fill the values."""

    message: str = dspy.InputField()
    found: dict[str, str] = dspy.OutputField()


class Say(dspy.Signature):  # type: ignore[misc, name-defined]
    """Say it."""

    data: str = dspy.InputField()
    sentence: str = dspy.OutputField()


async def open_model(script: Script, *, ledger: Ledger | None = None, **settings: object) -> LanguageModel:
    given = {"engine": "dspy", "model": "openai/any", "api_base": script.base_url, "api_key": "key-1", **settings}
    return await LanguageModel.open(LlmSettings.model_validate(given), ledger=ledger)


async def streamed(model: LanguageModel) -> list[str]:
    return [piece async for piece in model.stream(Say, "sentence", data="{}")]


FILLED = '{"city": "Tartu"}'
READABLE: Mapping[str, Line] = {
    "the asked form": marked(found=FILLED),
    "no end mark": f"[[ ## found ## ]]\n{FILLED}",
    "fenced JSON": f"```json\n{FILLED}\n```",
    "JSON in prose": f"Of course! Here are the values: {FILLED} Anything else?",
    "the whole object": f'{{"found": {FILLED}}}',
    "broken JSON": marked(found="{'city': 'Tartu',}"),
    "JSON cut off": '[[ ## found ## ]]\n{"city": "Tartu"',
    "one 429 first": 429,
    "one 503 first": 503,
    "one cut connection first": Reply(dies_after=0),
}


@pytest.mark.parametrize("name", READABLE)
async def test_an_answer_in_another_form_is_read(name: str) -> None:
    with scripted_model(READABLE[name], otherwise=marked(found=FILLED)) as script:
        model = await open_model(script)

        assert (await model.ask(Fill, message="in Tartu")).found == {"city": "Tartu"}


UNREADABLE: Mapping[str, Line] = {
    "prose": "I cannot help with that.",
    "nothing": "",
    "another type": marked(found='["Tartu"]'),
    "no completion": Reply(raw=b"<html>It works!</html>"),
    "half a body": Reply(raw=b'{"id": "c", "choices": [{"mess'),
    "401": 401,
    "400": 400,
    "500 always": 500,
    "429 for longer than the turn has": Reply(status=429, retry_after="600"),
    "a connection cut": Reply(dies_after=0),
    "silence": Reply(delay_s=3.0, content=marked(found=FILLED)),
}


@pytest.mark.parametrize("name", UNREADABLE)
async def test_what_cannot_be_read_is_a_model_failure_in_time(name: str) -> None:
    with scripted_model(otherwise=UNREADABLE[name]) as script:
        model = await open_model(script, timeout_s=1.0)
        started = time.monotonic()

        with pytest.raises(ModelFailed):
            await model.ask(Fill, message="in Tartu")
    assert time.monotonic() - started < 2.5


async def test_a_server_that_enforces_schemas_is_sent_one() -> None:
    with scripted_model(f'{{"found": {FILLED}}}', '{"sentence": "It is 5 €."}', FILLED, 500) as script:
        model = await open_model(script, form="json_schema", retries=0)

        assert (await model.ask(Fill, message="in Tartu")).found == {"city": "Tartu"}
        assert await streamed(model) == ["It is 5 €."]
        assert (await model.ask(Fill, message="in Tartu")).found == {"city": "Tartu"}
        with pytest.raises(ModelFailed):
            await model.ask(Fill, message="in Tartu")
    assert len(script.requests) == 4, "an answer that cannot be read is not asked for again in another form"
    sent = script.requests[0]["response_format"]["json_schema"]["schema"]
    assert sent["required"] == ["found"]
    assert sent["properties"]["found"]["type"] == "object"


async def test_retry_after_is_kept_to() -> None:
    with scripted_model(Reply(status=429, retry_after="1"), marked(found=FILLED)) as script:
        model = await open_model(script)
        started = time.monotonic()

        await model.ask(Fill, message="in Tartu")
    assert time.monotonic() - started >= 1.0


async def test_a_judgement_may_have_a_model_of_its_own() -> None:
    class FollowUp(dspy.Signature):  # type: ignore[misc, name-defined]
        """Say it."""

        data: str = dspy.InputField()
        sentence: str = dspy.OutputField()

    with scripted_model(otherwise=marked(sentence="yes", found=FILLED)) as script:
        model = await open_model(script, models={"follow_up": "openai/small"})
        await model.ask(FollowUp, data="x")
        await model.ask(Fill, message="x")
    assert [request["model"] for request in script.requests] == ["small", "any"]


async def test_a_model_that_fails_again_and_again_is_left_alone_for_a_while() -> None:
    with scripted_model(otherwise=401) as script:
        model = await open_model(script, rest_after_failures=3, rest_s=0.3)
        for _ in range(10):
            with pytest.raises(ModelFailed):
                await model.ask(Fill, message="x")
        assert len(script.requests) == 3

        await asyncio.sleep(0.35)
        with pytest.raises(ModelFailed):
            await model.ask(Fill, message="x")
        with pytest.raises(ModelFailed):
            await model.ask(Fill, message="x")
    assert len(script.requests) == 4


STREAMS: Mapping[str, Reply] = {
    "words": Reply(content=marked(sentence="It is 5 € in Tartu.")),
    "one character a piece": Reply(pieces=list(marked(sentence="It is 5 € in Tartu."))),
    "everything in one piece": Reply(pieces=[marked(sentence="It is 5 € in Tartu.")]),
    "no end mark": Reply(content="[[ ## sentence ## ]]\nIt is 5 € in Tartu."),
    "no mark at all": Reply(content="It is 5 € in Tartu."),
    "JSON": Reply(content='{"sentence": "It is 5 € in Tartu."}'),
    "fenced JSON": Reply(content='```json\n{"sentence": "It is 5 € in Tartu."}\n```'),
    "no usage": Reply(content=marked(sentence="It is 5 € in Tartu."), counts=False),
    "a preamble": Reply(content="Sure, here it is!\n" + marked(sentence="It is 5 € in Tartu.")),
}


@pytest.mark.parametrize("name", STREAMS)
async def test_a_stream_gives_the_text_and_nothing_around_it(name: str) -> None:
    with scripted_model(STREAMS[name]) as script:
        model = await open_model(script)

        assert "".join(await streamed(model)).strip() == "It is 5 € in Tartu."


async def test_pieces_leave_as_they_come_and_not_at_the_end() -> None:
    with scripted_model(Reply(content=marked(sentence="one two three four five"), pause_s=0.1)) as script:
        model = await open_model(script)
        await streamed(model)  # opens the connection
        script.lines.append(Reply(content=marked(sentence="one two three four five"), pause_s=0.1))
        script.sent_at.clear()
        arrived = [time.monotonic() async for _ in model.stream(Say, "sentence", data="{}")]
    # Five pieces make the mark; the sixth is the first word.
    assert len(arrived) >= 5
    assert arrived[0] - script.sent_at[5] < 0.09


BROKEN: Mapping[str, Reply] = {
    "a connection cut in the middle": Reply(content=marked(sentence="one two three four five six"), dies_after=6),
    "cut off by the token limit": Reply(content="[[ ## sentence ## ]]\none two three", finish="length"),
    "a stall in the middle": Reply(content=marked(sentence="one two three"), pause_s=1.5),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_stream_that_breaks_off_is_a_model_failure(name: str) -> None:
    with scripted_model(otherwise=BROKEN[name]) as script:
        model = await open_model(script, timeout_s=1.0)

        with pytest.raises(ModelFailed):
            await streamed(model)


async def test_a_stream_closed_early_leaves_no_task_behind() -> None:
    before = len(asyncio.all_tasks())
    with scripted_model(Reply(content=marked(sentence="one two three four five"), pause_s=0.2)) as script:
        model = await open_model(script)
        stream = model.stream(Say, "sentence", data="{}")
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
        await asyncio.sleep(0.1)
        assert len(asyncio.all_tasks()) == before


async def test_a_hundred_streams_at_once_do_not_mix() -> None:
    def own_words(request: dict[str, object]) -> Reply:
        number = str(request["messages"]).rpartition("number ")[2].split()[0].strip("'\"\\n}],")
        return Reply(content=marked(sentence=" ".join([number] * 20)))

    with scripted_model(otherwise=own_words) as script:  # type: ignore[arg-type]
        model = await open_model(script, timeout_s=60.0)

        async def one(number: int) -> str:
            return "".join([p async for p in model.stream(Say, "sentence", data=f"number {number} ")])

        said = await asyncio.gather(*(one(number) for number in range(100)))
    assert [text.split() for text in said] == [[str(number)] * 20 for number in range(100)]


async def test_a_turn_is_billed_for_every_request_and_stopped_at_its_budget(clean_redis: aioredis.Redis) -> None:
    ledger = Ledger(clean_redis, Keys("t"))
    with scripted_model(503, otherwise=marked(found=FILLED)) as script:
        model = await open_model(script, ledger=ledger, model="openai/gpt-4.1-mini", turn_calls=3)
        with asking_for("tenant-1", turn_id=TURN):
            await model.ask(Fill, message="x")
            await model.ask(Fill, message="x")
            with pytest.raises(ModelFailed, match="budget"):
                await model.ask(Fill, message="x")

    costs: TurnCosts = await ledger.of_turn(TURN)
    assert costs.calls == 3
    assert costs.judgements["fill"].prompt_tokens == 22
    assert costs.cost_usd == pytest.approx(2 * (11 * 0.40 + 7 * 1.60) / 1e6)
    (row,) = await ledger.of_day(utc_now().date())
    assert (row.tenant, row.judgement, row.model, row.costs.calls) == ("tenant-1", "fill", "openai/gpt-4.1-mini", 3)


async def test_a_turn_is_stopped_at_its_budget_of_tokens(clean_redis: aioredis.Redis) -> None:
    with scripted_model(otherwise=marked(found=FILLED)) as script:
        model = await open_model(script, ledger=Ledger(clean_redis, Keys("t")), turn_tokens=18)
        with asking_for("tenant-1", turn_id=TURN):
            await model.ask(Fill, message="x")
            with pytest.raises(ModelFailed, match="budget"):
                await model.ask(Fill, message="x")
    assert len(script.requests) == 1


async def test_a_tenant_that_has_spent_its_day_is_answered_by_the_rules(clean_redis: aioredis.Redis) -> None:
    ledger = Ledger(clean_redis, Keys("t"))
    with scripted_model(otherwise=marked(found=FILLED)) as script:
        model = await open_model(script, ledger=ledger, model="openai/gpt-4.1-mini", tenant_daily_usd=0.00001)
        with asking_for("spender"):
            await model.ask(Fill, message="x")
            with pytest.raises(ModelFailed, match="budget"):
                await model.ask(Fill, message="x")
        with asking_for("another"):
            await model.ask(Fill, message="x")


async def test_two_servers_never_share_an_answer() -> None:
    with scripted_model(marked(sentence="from A")) as a, scripted_model(marked(sentence="from B")) as b:
        said = [
            (await (await open_model(script, api_key=key)).ask(Say, data="same")).sentence
            for script, key in ((a, "key-a"), (b, "key-b"))
        ]
    assert said == ["from A", "from B"]


async def test_an_azure_deployment_is_asked_in_azures_way() -> None:
    with scripted_model(marked(sentence="yes")) as script:
        base = script.base_url.removesuffix("/v1")
        model = await open_model(script, model="azure/house", api_base=base, api_version="2024-10-21")

        assert (await model.ask(Say, data="x")).sentence == "yes"
    assert script.paths[0].startswith("/openai/deployments/house/chat/completions")
    assert "api-version=2024-10-21" in script.paths[0]
    assert script.headers[0]["api-key"] == "key-1"
