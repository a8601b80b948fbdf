"""Says more of an endpoint than its description does: by a language model where one is configured, else by rules.

A model's words are kept as long as the endpoint stays as it is: asking twice would cost twice and never give the same
vectors. The rules are asked anew each time; they are cheap, and may have learned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

import structlog

from schemas.endpoints import Endpoint, Language
from schemas.registry import EnrichedBy, Searchable
from workers.errors import ModelFailed
from workers.indexing.enrich import LONGEST_CONTEXT, description_language, enrich
from workers.llm.fallbacks import left_to_rules
from workers.llm.model import LanguageModel
from workers.llm.scope import asking_for
from workers.retrieval.embed_text import params_summary
from workers.runtime.telemetry import ENDPOINTS_ENRICHED

log = structlog.get_logger(__name__)

_LANGUAGES: dict[Language, str] = {"en": "English", "et": "Estonian", "ru": "Russian"}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
# Descriptions are operators' texts, of any length; the model needs their beginning only.
_DESCRIPTION_CHARS = 4_000
_PARAMS_CHARS = 4_000


@dataclass(frozen=True)
class Enricher:
    """One per process. Without a model, the rules speak."""

    model: LanguageModel | None = None

    async def enrich(self, endpoint: Endpoint, stored: Searchable | None) -> tuple[Endpoint, EnrichedBy]:
        """Fill `enriched_context` and tell who did; a context that its owner gave is kept. Never raises."""
        if endpoint.enriched_context:
            return endpoint, "owner"
        if self.model is None:
            return enrich(endpoint), "rules"
        if stored is not None and stored.enriched_by == "model" and _bare(stored.endpoint) == _bare(endpoint):
            return endpoint.model_copy(update={"enriched_context": stored.endpoint.enriched_context}), "model"
        context = await self._ask(self.model, endpoint)
        ENDPOINTS_ENRICHED.labels("model" if context else "rules").inc()
        if not context:
            return enrich(endpoint), "rules"
        return endpoint.model_copy(update={"enriched_context": context}), "model"

    async def _ask(self, model: LanguageModel, endpoint: Endpoint) -> str:
        """Return the model's context; empty when it failed, or answered in another language than it was asked to."""
        from workers.indexing.signatures import EndpointEnrichment

        language = description_language(endpoint.description)
        try:
            with asking_for(endpoint.tenant):
                answer = await model.ask(
                    EndpointEnrichment,
                    name=endpoint.name,
                    description=endpoint.description[:_DESCRIPTION_CHARS],
                    method=endpoint.method,
                    url=_without_query(endpoint.url),
                    params=params_summary(endpoint)[:_PARAMS_CHARS],
                    language=_LANGUAGES[language],
                )
        except ModelFailed as error:
            log.warning("endpoint_not_enriched_by_model", endpoint=endpoint.endpoint_id, error=str(error))
            return ""
        context = _CONTROL.sub(" ", str(answer.context)).strip()[:LONGEST_CONTEXT]
        if not context or description_language(context) != language:
            reason = "other_language" if context else "empty"
            left_to_rules("endpoint_enrichment", reason)
            return ""
        return context


def _bare(endpoint: Endpoint) -> Endpoint:
    """The endpoint as its owner described it."""
    return endpoint.model_copy(update={"enriched_context": "", "version": 0})


def _without_query(url: str) -> str:
    """A query may carry a key, and a model needs none of it."""
    parts = urlsplit(url)
    return parts._replace(query="", fragment="").geturl()
