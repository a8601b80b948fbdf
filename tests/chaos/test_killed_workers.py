"""kill -9 of the worker at random moments of a turn: every turn ends once, and says when it recovered."""

from __future__ import annotations

import random
import statistics
import threading
import time

import pytest

from ops.local.stack import Stack
from tests.acceptance.client import Chat, Reply
from tests.acceptance.stack_tools import events_of, index_slow_endpoint

pytestmark = [pytest.mark.stack, pytest.mark.soak]

KILLS = 50
SEED = 20261201


def _ask(chat: Chat, ticket: str, into: list[Reply]) -> None:
    into.append(chat.say(f"ticket price for ticket T{ticket}"))


def _wait_for_worker(stack: Stack) -> None:
    """Let the supervisor bring the worker back, so that each kill meets a living one."""
    deadline = time.monotonic() + 60
    while stack.process("worker").state != "running" and time.monotonic() < deadline:
        time.sleep(0.1)


def test_every_turn_ends_once_whenever_its_worker_is_killed(chaos_stack: Stack, slow_api: str) -> None:
    index_slow_endpoint(chaos_stack, slow_api, delay_ms=400)
    chance = random.Random(SEED)  # noqa: S311 — a reproducible schedule, not a secret
    began = time.monotonic()
    Chat(chaos_stack.url).say("ticket price for ticket T1")
    typical_s = time.monotonic() - began
    recoveries: list[float] = []

    for number in range(KILLS):
        chat, replies = Chat(chaos_stack.url, timeout_s=180), []
        speaker = threading.Thread(target=_ask, args=(chat, str(1000 + number), replies))
        speaker.start()
        time.sleep(chance.uniform(0.0, typical_s))
        chaos_stack.kill("worker")
        killed_at = time.monotonic()
        speaker.join(timeout=150)
        recoveries.append(time.monotonic() - killed_at)

        assert replies, f"turn {number} never ended"
        reply = replies[0]
        events = events_of(chaos_stack, reply.turn_id)
        ends = [event for event in events if event.type in {"completed", "question", "failed", "cancelled"}]
        assert len(ends) == 1, f"turn {number} ended {len(ends)} times"
        assert ends[0].type == "completed", ends[0]
        assert reply.text == ends[0].text
        assert f"T{1000 + number}" in reply.text
        _wait_for_worker(chaos_stack)

    print(
        f"\n{KILLS} of {KILLS} turns ended once; recovery after kill -9: median "
        f"{statistics.median(recoveries):.2f} s, max {max(recoveries):.2f} s (a turn takes {typical_s:.2f} s)"
    )
