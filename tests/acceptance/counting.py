"""A chat that counts the calls which each of its messages led to, by the demo API's own log."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

import httpx

from ops.local.stack import Stack
from schemas.calls import Cached
from schemas.events import AnswerCompleted, SlotAsked, TurnEvent
from tests.acceptance.client import Chat, Reply
from tests.acceptance.stack_tools import events_of


def called(stack: Stack) -> list[str]:
    return list(httpx.get(f"{stack.demo_url}/log", timeout=30, trust_env=False).json())


def arguments(line: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(line.split(" ", 1)[1]).query))


class Counted:
    """A chat, and the calls that each of its messages led to."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._chat = Chat(stack.url)

    def say(self, message: str) -> tuple[Reply, list[str]]:
        before = len(called(self._stack))
        reply = self._chat.say(message)
        return reply, called(self._stack)[before:]

    def events(self, reply: Reply) -> list[TurnEvent]:
        return events_of(self._stack, reply.turn_id)

    def marks(self, reply: Reply) -> dict[str, Cached]:
        """Return which endpoints' answers were known already; a question has none."""
        ends = [event for event in self.events(reply) if isinstance(event, AnswerCompleted | SlotAsked)]
        return {name: cached for end in ends if isinstance(end, AnswerCompleted) for name, cached in end.cached.items()}
