"""What language models were asked in a turn, and what it cost."""

from __future__ import annotations

from typing import Literal

from schemas.base import Frozen

Judgement = Literal[
    "endpoint_disambiguation",
    "intent_decomposition",
    "service_intent",
    "parameter_extraction",
    "clarifying_question",
    "api_answer",
    "combined_answer",
    "follow_up",
    "endpoint_enrichment",
]
"""What a model may be asked: each name is that of its DSPy signature, in snake case."""

Ending = Literal[
    "answered", "unreadable", "refused", "rate_limited", "server_error", "unreachable", "timed_out", "broken"
]
"""How one request to a model ended; all but the first leave the judgement to the rules or to the second model."""


class ModelUse(Frozen):
    """One request to a model. `is_estimated`: the server gave no token counts, so they were counted from the text."""

    judgement: str
    model: str
    ending: Ending
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    latency_ms: float = 0.0
    is_estimated: bool = False


class JudgementCosts(Frozen):
    """The requests of one judgement, summed."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    latency_ms: float = 0.0


class TurnCosts(Frozen):
    """What a turn asked of models so far, by judgement; empty when it asked nothing."""

    judgements: dict[str, JudgementCosts] = {}

    @property
    def calls(self) -> int:
        """How many requests were sent, repeated ones included."""
        return sum(one.calls for one in self.judgements.values())

    @property
    def tokens(self) -> int:
        """Tokens sent and received."""
        return sum(one.prompt_tokens + one.completion_tokens for one in self.judgements.values())

    @property
    def cost_usd(self) -> float:
        """Dollars spent."""
        return sum(one.cost_usd for one in self.judgements.values())


class UsageRow(Frozen):
    """One line of the day's report: a tenant's requests to one model for one judgement."""

    tenant: str
    judgement: str
    model: str
    costs: JudgementCosts
