"""A request is made again while there is time; where the first model fails, the second has time of its own.

Neither goes past the turn's deadline.
"""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from tests.integration.llm.scripted import Line, Reply, marked, scripted_model
from tests.integration.llm.test_faults import FILLED, Fill, Say, open_model, streamed
from workers.errors import ModelFailed
from workers.llm.scope import asking_for
from workers.runtime.clock import utc_now


async def test_the_second_model_answers_when_the_first_does_not() -> None:
    with scripted_model(otherwise=401) as first, scripted_model(marked(found=FILLED)) as second:
        model = await open_model(
            first, second_model="openai/other", second_api_base=second.base_url, second_api_key="key-2"
        )

        assert (await model.ask(Fill, message="in Tartu")).found == {"city": "Tartu"}
    assert second.headers[0]["authorization"] == "Bearer key-2"
    assert second.requests[0]["model"] == "other"


@pytest.mark.parametrize(
    "fault", [Reply(delay_s=1.0, content=marked(found=FILLED, sentence="late")), Reply(dies_after=0), 500, "no idea"]
)
async def test_the_second_model_has_a_time_of_its_own(fault: Line) -> None:
    answer = Reply(content=marked(found=FILLED, sentence="It is 5 €."), delay_s=0.15)
    with scripted_model(otherwise=fault) as first, scripted_model(otherwise=answer) as second:
        model = await open_model(
            first, timeout_s=0.4, retries=0, second_model="openai/other", second_api_base=second.base_url
        )

        assert (await model.ask(Fill, message="in Tartu")).found == {"city": "Tartu"}
        if fault != "no idea":  # prose is an answer where a sentence is asked for
            assert "".join(await streamed(model)) == "It is 5 €."


@pytest.mark.parametrize("fault", [429, 503, Reply(dies_after=0), Reply(status=429, retry_after="1")], ids=str)
async def test_a_stream_that_did_not_begin_is_asked_for_again(fault: Line) -> None:
    with scripted_model(fault, marked(sentence="It is 5 €.")) as script:
        model = await open_model(script)
        started = time.monotonic()

        assert "".join(await streamed(model)) == "It is 5 €."
    assert len(script.requests) == 2
    if isinstance(fault, Reply) and fault.retry_after:
        assert time.monotonic() - started >= 1.0


async def test_a_stream_that_broke_off_is_not_begun_again() -> None:
    broken = Reply(content=marked(sentence="one two three four five six"), dies_after=8)
    with scripted_model(broken, otherwise=marked(sentence="anew")) as script:
        model = await open_model(script)
        said: list[str] = []

        async def listen() -> None:
            async for piece in model.stream(Say, "sentence", data="{}"):
                said.append(piece)  # noqa: PERF401 - what came before the break counts

        with pytest.raises(ModelFailed, match="broken"):
            await listen()

    assert said
    assert "anew" not in "".join(said)
    assert len(script.requests) == 1


async def test_the_deadline_of_the_turn_bounds_all_models_together() -> None:
    late = Reply(delay_s=3.0, content=marked(found=FILLED))
    with scripted_model(otherwise=late) as first, scripted_model(otherwise=late) as second:
        model = await open_model(first, timeout_s=30.0, second_model="openai/other", second_api_base=second.base_url)
        started = time.monotonic()
        with asking_for("a", deadline_at=utc_now() + timedelta(seconds=1.5)), pytest.raises(ModelFailed):
            await model.ask(Fill, message="in Tartu")
        assert time.monotonic() - started < 1.5

        with (
            asking_for("a", deadline_at=utc_now() + timedelta(seconds=0.5)),
            pytest.raises(ModelFailed, match="no_time"),
        ):
            await model.ask(Fill, message="in Tartu")
