"""Asks a language model which of several close endpoints was meant, when one is configured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from schemas.routing import Candidate
from workers.errors import ModelFailed
from workers.llm.fallbacks import left_to_rules
from workers.llm.model import LanguageModel

# A description is the operator's text, of any length; the model needs its beginning only.
_DESCRIPTION_CHARS = 400


class NoVerdict(Enum):
    """The two ways not to pick: the model says that none fits, or it could not be asked."""

    NONE_FITS = auto()
    UNSURE = auto()


def asked_of(text: str, candidates: Sequence[Candidate]) -> dict[str, str]:
    """Return the input fields of the question."""
    listed = [
        {
            "endpoint_id": c.endpoint.endpoint_id,
            "name": c.endpoint.name,
            "description": c.endpoint.description[:_DESCRIPTION_CHARS],
            "cosine_score": round(c.cosine, 3),
        }
        for c in candidates
    ]
    return {"user_query": text, "candidates": json.dumps(listed, ensure_ascii=False)}


@dataclass(frozen=True)
class Disambiguator:
    """Picks one of the candidates. The model's word counts only when it names one of them."""

    model: LanguageModel

    async def pick(self, text: str, candidates: Sequence[Candidate]) -> Candidate | NoVerdict:
        """Return the candidate the model chose, marked as validated; never raises for a model's failure."""
        from workers.classification.signatures import EndpointDisambiguation

        try:
            verdict = await self.model.ask(EndpointDisambiguation, **asked_of(text, candidates))
        except ModelFailed:
            return NoVerdict.UNSURE
        named = str(verdict.best_endpoint_id).strip().strip("\"'`.")
        if named.lower() == "none":
            return NoVerdict.NONE_FITS
        chosen = next((c for c in candidates if c.endpoint.endpoint_id == named), None)
        if chosen is None:
            left_to_rules("endpoint_disambiguation", "invented")
            return NoVerdict.UNSURE
        return chosen.model_copy(update={"llm_validated": True})
