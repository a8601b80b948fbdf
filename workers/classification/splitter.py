"""Asks a model whether a message asks for several things, where the rules saw only one and search is unsure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schemas.endpoints import Language
from workers.classification.decomposer import Decomposition
from workers.classification.matching import Match
from workers.classification.requests import content
from workers.classification.words import split_words
from workers.errors import ModelFailed
from workers.llm.fallbacks import left_to_rules
from workers.llm.model import LanguageModel

_FEWEST_WORDS = 6
_ALIKE = 4


@dataclass(frozen=True)
class Splitter:
    """The model's say in decomposition. Conservative: any failure or doubt leaves the message whole."""

    model: LanguageModel
    engine: Literal["auto", "dspy"]

    def is_wanted(self, text: str, whole: Match, language: Language) -> bool:
        """Whether the model is worth asking: search is not sure, and the message is long enough for two requests.

        A winner that a model has already picked is not doubted again. `auto` wants two things named as well.
        """
        if len(split_words(text)) < _FEWEST_WORDS:
            return False
        best = whole.winner
        if best is not None and (best.llm_validated or best.confidence == "high"):
            return False
        return self.engine == "dspy" or len(content(split_words(text), language)) >= _FEWEST_WORDS

    async def split(self, text: str, *, most: int) -> Decomposition:
        """Return the parts, at most `most`, made of the person's own words; the message itself when in doubt."""
        from workers.classification.signatures import IntentDecomposition

        try:
            verdict = await self.model.ask(IntentDecomposition, user_query=text)
        except ModelFailed:
            return Decomposition(parts=(text,))
        parts = tuple(str(part).strip() for part in verdict.sub_queries or () if str(part).strip())[:most]
        if str(verdict.mode).strip().lower() != "parallel":
            return Decomposition(parts=(text,))
        if len(parts) <= 1 or not all(_is_said(part, text) for part in parts):
            left_to_rules("intent_decomposition", "ungrounded")
            return Decomposition(parts=(text,))
        return Decomposition(parts=parts)


def _is_said(part: str, text: str) -> bool:
    """Whether most words of a part stand in the message, in some form: a part may repeat a word, not bring one in."""
    said = {word.folded[:_ALIKE] for word in split_words(text)}
    words = [word.folded[:_ALIKE] for word in split_words(part)]
    return bool(words) and sum(word in said for word in words) * 4 >= len(words) * 3
