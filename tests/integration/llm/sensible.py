"""A scripted model that does what a sensible one would, judgement by judgement; tests change single replies."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.integration.llm.scripted import Line, Reply, Request, marked

JUDGED_BY = {
    "best_endpoint_id": "endpoint_disambiguation",
    "sub_queries": "intent_decomposition",
    "found": "parameter_extraction",
    "question": "clarifying_question",
    "formatted_answer": "api_answer",
    "unified_answer": "combined_answer",
    "verdict": "follow_up",
    "matched_service_id": "service_intent",
    "context": "endpoint_enrichment",
}


def judgement_in(request: Request) -> str:
    """Tell by the output field that the prompt asks for which judgement this is."""
    prompt = str(request["messages"][0]["content"])
    outputs = prompt.partition("Your output fields are:")[2].partition("All interactions")[0]
    return next((name for field_name, name in JUDGED_BY.items() if f"`{field_name}`" in outputs), "unknown")


def input_in(request: Request, field_name: str) -> str:
    """Return an input field of the request's last message."""
    said = str(request["messages"][-1]["content"])
    found = re.search(rf"\[\[ ## {field_name} ## \]\]\n(.*?)(?=\n\n\[\[ ## |\n\nRespond with)", said, re.DOTALL)
    return found.group(1) if found else ""


@dataclass
class SensibleModel:
    """Answers by judgement; `replies` replaces what it says for one."""

    replies: dict[str, Line] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> str | int | Reply:
        judgement = judgement_in(request)
        self.asked.append(judgement)
        line = self.replies.get(judgement, _USUAL.get(judgement, 500))
        return line(request) if callable(line) else line


def _enriched(request: Request) -> str:
    """Say what the description says: that is in its language."""
    return marked(context=input_in(request, "description"))


_USUAL: dict[str, Line | Callable[[Request], str]] = {
    "endpoint_disambiguation": marked(best_endpoint_id="none"),
    "intent_decomposition": marked(mode="single", sub_queries="[]"),
    "parameter_extraction": marked(found="{}"),
    "service_intent": marked(matched_service_id="none", confidence="0.3", entities="{}"),
    "follow_up": marked(verdict="new_intent", changed="{}"),
    "clarifying_question": marked(question="Could you tell me the missing part, please?"),
    "api_answer": marked(formatted_answer="Here is what the service says about it."),
    "endpoint_enrichment": _enriched,
    "combined_answer": marked(unified_answer="Here is what both services say about it."),
}
