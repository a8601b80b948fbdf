"""What a model is shown of large results: at most 50 KB of each and 100 KB of all, cut between rows and told so."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

import pytest

from schemas.calls import ApiCall, CallOutcome, CallSucceeded
from tests.integration.llm.scripted import Script, marked
from tests.integration.llm.test_judges_of_rooms import NOW, modelled
from tests.unit.workers.formatting.saying import a_call
from workers.errors import ModelFailed
from workers.formatting.writer import Writer

pytest.importorskip("dspy")

ONE, ALL = 50 * 1024, 100 * 1024
ROWS = [{"name": f"Võru raamatukogu {number}", "books": 1_000 + number} for number in range(4_000)]


async def shown_to_model(count: int) -> str:
    """Return what stands in the prompt of so many large results."""
    results: list[tuple[ApiCall, CallOutcome]] = [
        (a_call(titles={"en": f"list {n}"}), CallSucceeded(call_id=f"c{n}", status=200, body={"rows": ROWS}))
        for n in range(count)
    ]
    script: Script
    async with modelled(marked(formatted_answer="Many.", unified_answer="Many.")) as (model, script):
        writer = Writer(model=model, engine="dspy", guards=())
        with contextlib.suppress(ModelFailed):
            async for _ in writer.write("how many?", results, language="en", now=NOW):
                pass
        messages: list[dict[str, Any]] = script.requests[0]["messages"]
    return str(messages[-1]["content"])


@pytest.mark.parametrize(("count", "most"), [(1, ONE), (2, ALL), (3, ALL)])
async def test_results_are_cut_between_rows_within_their_caps(count: int, most: int) -> None:
    prompt = await shown_to_model(count)

    bodies = re.findall(r'^\{"rows": .*$', prompt, re.MULTILINE)
    assert len(bodies) == count
    assert most * 0.6 < sum(len(body.encode()) for body in bodies) <= most
    for body in bodies:
        assert len(body.encode()) <= ONE
        kept = json.loads(body)["rows"]
        assert kept == ROWS[: len(kept)], "whole rows from the beginning, and JSON to the end"
    assert prompt.count("rows has 4000") == count, "the true length is told"
