"""Two thousand requests leave nothing behind: no history, no trace, no connection, no memory."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc

import pytest

from tests.integration.llm.scripted import marked, scripted_model
from workers.errors import ModelFailed
from workers.llm.model import LanguageModel
from workers.runtime.settings import LlmSettings

dspy = pytest.importorskip("dspy")

_ROUNDS = 10
_AT_ONCE = 20
_PER_ROUND = 200


class Pick(dspy.Signature):  # type: ignore[misc, name-defined]
    """Pick the best word."""

    words: str = dspy.InputField()
    best: str = dspy.OutputField()


async def _ask_many(model: LanguageModel, number: int) -> None:
    for start in range(0, number, _AT_ONCE):
        asked = (model.ask(Pick, words=f"{start} {i} {'tax tram ' * 50}") for i in range(min(_AT_ONCE, number - start)))
        for outcome in await asyncio.gather(*asked, return_exceptions=True):
            assert not isinstance(outcome, BaseException) or isinstance(outcome, ModelFailed), outcome


async def test_two_thousand_requests_leave_no_memory_behind() -> None:
    with scripted_model(otherwise=marked(best="tax " * 200)) as script:
        settings = LlmSettings.model_validate(
            {"engine": "auto", "model": "openai/any", "api_base": script.base_url, "api_key": "k", "timeout_s": 60}
        )
        model = await LanguageModel.open(settings)
        await _ask_many(model, _PER_ROUND)  # what is made once is made now
        script.requests.clear()
        gc.collect()
        tracemalloc.start()
        held = []
        for _ in range(_ROUNDS):
            await _ask_many(model, _PER_ROUND)
            assert len(script.requests) == _PER_ROUND
            for kept in (script.requests, script.headers, script.paths, script.sent_at):
                kept.clear()
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        lm = model._backends["first"]._lm
        await model.close()

    assert lm.history == []
    # A request holds about 2 kB; ten rounds that kept theirs would hold 4 MB more at the end than at the beginning.
    assert held[-1] - held[0] < 200_000, held
