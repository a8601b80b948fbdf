"""The language model through DSPy, against a scripted server: every fault is a ModelFailed, never another error."""

from __future__ import annotations

import pytest

from tests.integration.llm.scripted import scripted_model
from workers.errors import ModelFailed
from workers.llm.model import LanguageModel
from workers.runtime.settings import LlmSettings

dspy = pytest.importorskip("dspy")


class Pick(dspy.Signature):  # type: ignore[misc, name-defined]
    """Pick the best word."""

    words: str = dspy.InputField()
    best: str = dspy.OutputField()


def reply(value: str) -> str:
    return f"[[ ## best ## ]]\n{value}\n\n[[ ## completed ## ]]"


async def open_model(base_url: str, *, key: str = "key-1", timeout_s: float = 5.0) -> LanguageModel:
    return await LanguageModel.open(
        LlmSettings.model_validate(
            {"engine": "auto", "model": "openai/any", "api_base": base_url, "api_key": key, "timeout_s": timeout_s}
        )
    )


async def test_a_typed_answer_comes_back() -> None:
    with scripted_model(reply("tax")) as script:
        model = await open_model(script.base_url)

        assert (await model.ask(Pick, words="tax, tram")).best == "tax"
    assert script.requests[0]["temperature"] == 0.0


@pytest.mark.parametrize("fault", [500, 429, 401, 400], ids=str)
async def test_a_refusing_server_is_a_model_failure(fault: int) -> None:
    with scripted_model(fault) as script:
        model = await open_model(script.base_url)

        with pytest.raises(ModelFailed):
            await model.ask(Pick, words="x")


async def test_unreadable_output_is_a_model_failure() -> None:
    with scripted_model("no idea", "still no idea") as script:
        model = await open_model(script.base_url)

        with pytest.raises(ModelFailed):
            await model.ask(Pick, words="x")


async def test_a_server_that_is_not_there_is_a_model_failure() -> None:
    model = await open_model("http://127.0.0.1:9/v1")

    with pytest.raises(ModelFailed):
        await model.ask(Pick, words="x")


async def test_two_servers_with_the_same_question_never_share_an_answer() -> None:
    with scripted_model(reply("ours")) as ours, scripted_model(reply("theirs")) as theirs:
        first, second = await open_model(ours.base_url, key="a"), await open_model(theirs.base_url, key="b")

        assert (await first.ask(Pick, words="same")).best == "ours"
        assert (await second.ask(Pick, words="same")).best == "theirs"


async def test_nothing_a_user_said_stays_in_the_process() -> None:
    from dspy.clients.base_lm import GLOBAL_HISTORY

    with scripted_model(*[reply("x")] * 20) as script:
        model = await open_model(script.base_url)
        for number in range(20):
            await model.ask(Pick, words=f"secret {number}")

    assert GLOBAL_HISTORY == []
