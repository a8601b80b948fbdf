"""Asks a model for values that the rules missed, and for the wording of a question; the rules have the last word."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from schemas.base import JsonValue
from schemas.conversations import Collecting, Utterance
from schemas.endpoints import Language, ParamSpec
from workers.errors import ModelFailed
from workers.extraction.carrying import Earlier
from workers.extraction.grounding import Speech, grounded
from workers.extraction.loop import Asked, Outcome, collect
from workers.extraction.said import Found
from workers.extraction.slots import known_values
from workers.extraction.unsure import may_hold_more
from workers.guarding.guard import Guard, passes
from workers.guarding.output import NoRawData, NoSecrets, RightLanguage
from workers.guarding.sources import Sources
from workers.llm.fallbacks import left_to_rules
from workers.llm.model import LanguageModel

LANGUAGE_NAMES: Mapping[Language, str] = {"en": "English", "et": "Estonian", "ru": "Russian"}
_UTTERANCES = 6
_UTTERANCE_CHARS = 500
_MESSAGE_CHARS = 2_000
_DESCRIPTION_CHARS = 300
_OPTIONS = 30
_LONGEST_QUESTION = 600


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A message and what surrounds it. `hints` are words for parameters that a model read in it already.

    `before` is what of the chat it may point back at.
    """

    message: str
    said: Sequence[Utterance] = ()
    language: Language
    now: datetime
    hints: Mapping[str, str] = field(default_factory=dict)
    before: Earlier = field(default_factory=Earlier)


@dataclass(frozen=True, kw_only=True)
class Filler:
    """The model's part in a collection. `auto` asks it when the rules may have missed something, `dspy` always.

    `guards` check the questions that it words.
    """

    model: LanguageModel
    engine: Literal["auto", "dspy"]
    guards: tuple[Guard, ...] = (NoRawData(), NoSecrets(), RightLanguage())

    async def improve(self, outcome: Outcome, collecting: Collecting, spoken: Spoken) -> Outcome:
        """Return the outcome with what the model found in the message beside the rules, or the same one.

        `collecting` is the collection before the message. A model that fails, or finds nothing that the person said,
        changes nothing; where the hints leave nothing to ask, none is asked.
        """
        if not isinstance(outcome, Asked):
            return outcome
        earlier = tuple(one.text for one in spoken.said if one.role == "user")[-_UTTERANCES:]
        speech = Speech(message=spoken.message, earlier=earlier, language=spoken.language, now=spoken.now)
        hinted = {name: {"value": words, "words": words} for name, words in spoken.hints.items()}
        known = [grounded(hinted, progress, speech) for progress in outcome.collecting.endpoints]
        if any(known):
            outcome = _collected(collecting, speech, known, spoken.before)
        if not isinstance(outcome, Asked) or not self._is_wanted(outcome, collecting, speech):
            return outcome
        proposed = await self._proposed(outcome.collecting, speech, spoken.said)
        found = [grounded(proposed, progress, speech) for progress in outcome.collecting.endpoints]
        if not any(found):
            if proposed:
                left_to_rules("parameter_extraction", "ungrounded")
            return outcome
        both = [{**hint, **read} for hint, read in zip(known, found, strict=True)]
        return _collected(collecting, speech, both, spoken.before)

    def _is_wanted(self, outcome: Asked, collecting: Collecting, speech: Speech) -> bool:
        if self.engine == "dspy":
            return True
        return may_hold_more(outcome, collecting, speech.message, language=speech.language, now=speech.now)

    async def _proposed(
        self, collecting: Collecting, speech: Speech, said: Sequence[Utterance]
    ) -> Mapping[str, object]:
        """Ask once for what is unknown at any endpoint."""
        from workers.extraction.signatures import ParameterExtraction

        unknown = {
            spec.name: spec
            for progress in collecting.endpoints
            for spec in progress.endpoint.params
            if spec.name not in progress.values
        }
        try:
            answer = await self.model.ask(
                ParameterExtraction,
                message=speech.message[:_MESSAGE_CHARS],
                earlier=_json([{one.role: one.text[:_UTTERANCE_CHARS]} for one in said[-_UTTERANCES:]]),
                parameters=_json([_described(spec) for spec in unknown.values()]),
                today=speech.now.strftime("%Y-%m-%d, %A, %Z"),
            )
        except ModelFailed:
            return {}
        return answer.found if isinstance(answer.found, Mapping) else {}

    async def worded(self, asked: Asked, *, language: Language) -> Asked:
        """Return the question in the model's words (`dspy` only), if they pass the guards; otherwise as it was."""
        from workers.extraction.signatures import ClarifyingQuestion

        if self.engine != "dspy" or asked.choices or asked.collecting.awaiting_continuation:
            return asked
        specs = {spec.name: spec for one in asked.collecting.endpoints for spec in one.endpoint.params}
        known = {param.name: value for param, value in known_values(asked.collecting)}
        missing: list[JsonValue] = [_described(specs[name]) for name in asked.missing if name in specs]
        try:
            answer = await self.model.ask(
                ClarifyingQuestion,
                original_question=asked.collecting.original_query[:_UTTERANCE_CHARS],
                missing=_json(missing),
                known=_json(known),
                previous_question=asked.collecting.last_question,
                response_language=LANGUAGE_NAMES[language],
            )
        except ModelFailed:
            return asked
        question = str(answer.question).strip()
        is_fit = 0 < len(question) <= _LONGEST_QUESTION and "?" in question
        sources = Sources((missing, known, asked.collecting.original_query, asked.question))
        if not is_fit or not passes(self.guards, question, language, sources=sources):
            left_to_rules("clarifying_question", "guard" if is_fit else "unfit")
            return asked
        collecting = asked.collecting.model_copy(update={"last_question": question})
        return Asked(collecting=collecting, question=question, missing=asked.missing)


def _collected(collecting: Collecting, speech: Speech, proposed: Sequence[Found], earlier: Earlier) -> Outcome:
    return collect(
        collecting, speech.message, language=speech.language, now=speech.now, proposed=proposed, earlier=earlier
    )  # fmt: skip


def _described(spec: ParamSpec) -> dict[str, JsonValue]:
    told: dict[str, JsonValue] = {
        "name": spec.name,
        "type": spec.type,
        "description": spec.description[:_DESCRIPTION_CHARS],
    }
    if spec.format:
        told["format"] = spec.format
    if spec.enum:
        told["options"] = [option.value for option in spec.enum[:_OPTIONS]]
    if spec.example is not None:
        told["example"] = spec.example
    return told


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
