"""Asks a language model what a message is to the call before it, where the rules are not sure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from workers.caching.contexts import EndpointView, FollowUp, LastCall, Verdict
from workers.errors import ModelFailed
from workers.llm.fallbacks import left_to_rules
from workers.llm.model import LanguageModel
from workers.messages.hearing import is_said

SURE_ENOUGH = 0.75
"""From here on the rules' word stands unasked."""

_LIKELY = 0.7
_FINAL = frozenset({"not_comparable", "asks_for_an_action"})
_VERDICTS: Mapping[str, Verdict] = {
    "response_question": "response_question",
    "param_update": "param_update",
    "new_intent": "new_intent",
}
_ANSWER_CHARS, _DESCRIPTION_CHARS, _QUERY_CHARS, _LONGEST_VALUE = 1_500, 200, 500, 200


def asked_of(text: str, last: LastCall, view: EndpointView, answer: str) -> dict[str, str]:
    """Return the input fields of the question."""
    schema = [
        {"name": param.name, "type": param.type, "description": param.description[:_DESCRIPTION_CHARS]}
        for param in view.params
    ]
    return {
        "user_query": text,
        "previous_query": last.query[:_QUERY_CHARS],
        "previous_params": json.dumps(last.arguments, ensure_ascii=False),
        "params_schema": json.dumps(schema, ensure_ascii=False),
        "previous_answer": answer[:_ANSWER_CHARS],
    }


@dataclass(frozen=True)
class FollowUpDetector:
    """The model's say in what follows up. It adds no parameter and no words that the person did not use."""

    model: LanguageModel

    async def detect(
        self, text: str, last: LastCall, view: EndpointView, *, answer: str, by_rules: FollowUp
    ) -> FollowUp:
        """Return the rules' judgement where it is sure, or the model fails or says nothing of use; else the model's."""
        from workers.caching.signatures import FollowUp as Asked

        if by_rules.confidence >= SURE_ENOUGH or by_rules.reason in _FINAL:
            return by_rules
        try:
            said = await self.model.ask(Asked, **asked_of(text, last, view, answer))
        except ModelFailed:
            return by_rules
        verdict = _VERDICTS.get(str(said.verdict).strip().strip("\"'`.").lower())
        follow = _checked(verdict, said.changed, text, last, view)
        if follow is None:
            left_to_rules("follow_up", "ungrounded" if verdict else "invented")
        return follow or by_rules


def _checked(
    verdict: Verdict | None, changed: object, text: str, last: LastCall, view: EndpointView
) -> FollowUp | None:
    """Keep of the model's word what the call and the message bear out; None when that is nothing."""
    if verdict == "new_intent":
        return FollowUp(verdict="new_intent", reason="model")
    if verdict == "response_question":
        is_kept = bool(last.result) and last.version == view.version
        return FollowUp(verdict=verdict, confidence=_LIKELY, reason="model") if is_kept else None
    told = changed if verdict == "param_update" and isinstance(changed, Mapping) else {}
    names = {param.name for param in view.params}
    kept = {str(name): words for name, words in told.items() if name in names and _is_of_the_message(words, text)}
    return FollowUp(verdict="param_update", changed=kept, confidence=_LIKELY, reason="model") if kept else None


def _is_of_the_message(words: object, text: str) -> bool:
    return isinstance(words, str) and len(words) <= _LONGEST_VALUE and is_said(words, text)
