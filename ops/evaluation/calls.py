"""Holds conversations with a running system and counts what its turns asked of language models.

The counts to compare with are those of the system whose conversations these are, guardrails included: 4-6 requests for
a call in one turn, 6-10 in two, 5-9 for several calls at once, 2 for a greeting (read from its code).
"""

from __future__ import annotations

import statistics
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import yaml
from pydantic import TypeAdapter

from schemas.base import Frozen
from schemas.endpoints import Language

DEMO_DIALOGUES = Path(__file__).parents[1] / "demo" / "dialogues.yaml"


class Conversation(Frozen):
    """What a person says, turn by turn."""

    kind: str
    language: Language
    turns: tuple[str, ...]


class CountedConversation(Frozen):
    """What became of it: requests per turn, and how each turn ended (an outcome of the meta object)."""

    kind: str
    language: Language
    turns: tuple[str, ...]
    requests: tuple[int, ...]
    outcomes: tuple[str, ...]
    tokens: int
    usd: float

    @property
    def total(self) -> int:
        """Requests of the whole conversation."""
        return sum(self.requests)


class KindCounts(Frozen):
    """Conversations of one kind: how many, their requests on average, and the most of any."""

    conversations: int
    requests_mean: float
    requests_most: int


class CallsReport(Frozen):
    """All of them, by kind, and the turns without any request as a share of all turns."""

    conversations: tuple[CountedConversation, ...]
    kinds: dict[str, KindCounts]
    requests_mean: float
    turns_without: float
    tokens: int
    usd: float
    failed: int


class Door(Protocol):
    """What is asked of the HTTP door."""

    def request(self, method: str, path: str, **sent: Any) -> Any:
        """Send a request; return the JSON of its answer."""
        ...


def read_conversations(file: Path) -> tuple[Conversation, ...]:
    """Read a YAML list of {kind, language, turns}. Raises ValueError for what is none."""
    found = yaml.safe_load(file.read_text(encoding="utf-8"))
    return TypeAdapter(tuple[Conversation, ...]).validate_python(found)


def hold(door: Door, conversations: Sequence[Conversation]) -> Iterator[CountedConversation]:
    """Hold each in a chat of its own and yield what it asked of models."""
    for one in conversations:
        chat_id = f"calls-{uuid.uuid4()}"
        asked = [{"chatId": chat_id, "message": said} for said in one.turns]
        metas = [door.request("POST", "/orchestrate", params={"meta": "true"}, json=body)["meta"] for body in asked]
        costs = [meta.get("costs") or {} for meta in metas]
        yield CountedConversation(
            **one.model_dump(),
            requests=tuple(int(cost.get("calls", 0)) for cost in costs),
            outcomes=tuple(str(meta["outcome"]) for meta in metas),
            tokens=sum(int(cost.get("tokens", 0)) for cost in costs),
            usd=sum(float(cost.get("usd", 0.0)) for cost in costs),
        )


def report_on(counted: Sequence[CountedConversation]) -> CallsReport:
    """Sum them up. Raises ValueError when there are none."""
    if not counted:
        raise ValueError("there are no conversations to count")
    kinds: dict[str, list[int]] = defaultdict(list)
    for one in counted:
        kinds[one.kind].append(one.total)
    turns = [requests for one in counted for requests in one.requests]
    return CallsReport(
        conversations=tuple(counted),
        kinds={
            kind: KindCounts(
                conversations=len(totals), requests_mean=round(statistics.fmean(totals), 2), requests_most=max(totals)
            )
            for kind, totals in kinds.items()
        },
        requests_mean=round(statistics.fmean(one.total for one in counted), 2),
        turns_without=round(turns.count(0) / len(turns), 3),
        tokens=sum(one.tokens for one in counted),
        usd=round(sum(one.usd for one in counted), 6),
        failed=sum(outcome == "failed" for one in counted for outcome in one.outcomes),
    )
