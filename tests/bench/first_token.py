"""How long a model's word takes to a reader of the stream, and whether many streams keep their order.

    python -m tests.bench.first_token [--turns 60] [--streams 100]

A whole system with a scripted model. Both clocks are this machine's monotonic one: the moment at which the model's
server has written its first word, and the moment at which the reader has that word in a frame.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import httpx

from ops.local.options import StackOptions
from ops.local.stack import Stack
from tests.acceptance.stack_tools import index_demo_catalogue
from tests.conftest import free_port
from tests.integration.llm.scripted import Reply, Request, Script, scripted_model
from tests.integration.llm.sensible import input_in, judgement_in

LIMIT_MS = 10.0
_ANSWER = "The tax of this vehicle has been worked out for the year and is shown here in full"
_QUESTION = "Calculate the vehicle tax for registration number 123ABC for 2026"
_PAUSE_S = 0.05


@dataclass(frozen=True)
class Heard:
    """One stream: its text, and when the first of it came (monotonic)."""

    text: str
    first_at: float


def _model(request: Request) -> Reply:
    if judgement_in(request) != "api_answer" or not input_in(request, "user_query"):
        # Nothing that can be read: the rules decide. A model that fails would be given a rest, and write no answer.
        return Reply(pieces=["I don't know"])
    opening = "[[ ## formatted_answer ## ]]\n"
    words = re.findall(r" ?\S+", _ANSWER)  # as models cut them: the space goes before
    pieces = [opening, *words, "\n\n[[ ## completed ## ]]"]
    return Reply(pieces=pieces, pause_s=_PAUSE_S)


async def _hear(client: httpx.AsyncClient, url: str) -> Heard:
    body = {"chatId": f"bench-{uuid.uuid4()}", "message": _QUESTION}
    text, first_at = "", 0.0
    async with client.stream("POST", f"{url}/orchestrate/stream", json=body) as response:
        async for line in response.aiter_lines():
            if not line.startswith("data:"):
                continue
            content = json.loads(line[5:])["payload"]["content"]
            if content == "END":
                break
            first_at = first_at or time.monotonic()
            text += content
    return Heard(text, first_at)


async def _one_by_one(url: str, script: Script, turns: int) -> list[float]:
    """Return, for each turn, the milliseconds between the model's first word and the reader's."""
    waits = []
    async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
        for _ in range(turns):
            script.sent_at.clear()
            heard = await _hear(client, url)
            assert heard.text == _ANSWER, heard.text
            # The first piece is the field's mark; the second is the first word.
            waits.append((heard.first_at - script.sent_at[1]) * 1000)
    return waits


async def _at_once(url: str, streams: int) -> int:
    """Return how many of the streams kept their words in order."""
    limits = httpx.Limits(max_connections=streams)
    async with httpx.AsyncClient(trust_env=False, timeout=120, limits=limits) as client:
        heard = await asyncio.gather(*(_hear(client, url) for _ in range(streams)))
    return sum(one.text == _ANSWER for one in heard)


def measure(turns: int, streams: int) -> tuple[list[float], int]:
    """Run both against one system."""
    with scripted_model(otherwise=_model) as script, tempfile.TemporaryDirectory(prefix="signalbox-bench-") as folder:
        options = StackOptions(
            data_dir=Path(folder),
            shim_port=free_port(),
            demo_port=free_port(),
            environment={
                "CALLING_ALLOWED_HOSTS": "127.0.0.1",
                "SHIM_INDEX_WAIT_S": "60",
                "TURN_DEADLINE_S": "60",
                "LLM_ENGINE": "dspy",
                "LLM_TIMEOUT_S": "30",
                "LLM_API_BASE": script.base_url,
                "LLM_API_KEY": "scripted-key",
            },
        )
        with Stack(options) as stack:
            index_demo_catalogue(stack)
            asyncio.run(_one_by_one(stack.url, script, 3))
            return asyncio.run(_one_by_one(stack.url, script, turns)), asyncio.run(_at_once(stack.url, streams))


def main() -> int:
    """Print both figures; 0 when the first is within its limit and no stream lost its order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--streams", type=int, default=100)
    asked = parser.parse_args()
    waits, in_order = measure(asked.turns, asked.streams)
    p50 = statistics.median(waits)
    p95 = statistics.quantiles(waits, n=20)[-1]
    print(f"first word, model to reader: {p50:.1f} ms p50, {p95:.1f} ms p95 of {len(waits)} turns (limit {LIMIT_MS})")
    print(f"{in_order} of {asked.streams} streams at once kept their words in order")
    return 0 if p50 <= LIMIT_MS and in_order == asked.streams else 1


if __name__ == "__main__":
    sys.exit(main())
