"""What search is asked from outside a turn, and what it answers: the found endpoints, and why."""

from __future__ import annotations

from typing import Literal

from pydantic import AliasChoices, Field

from schemas.base import DoorModel, Frozen
from schemas.endpoints import Language
from schemas.routing import Confidence, Layer


class SearchRequest(DoorModel):
    """Body of POST /rag-search/api-tools/search and /explain. `environment` and unknown fields change nothing."""

    query: str = Field(min_length=1, max_length=10_000, validation_alias=AliasChoices("query", "text", "message"))
    top_k: int = Field(default=5, ge=1, le=50, validation_alias=AliasChoices("top_k", "topK", "limit"))


class SearchResult(Frozen):
    """One match. `cosine_score` is on the product's scale and decides; `rrf_score` is what orders."""

    endpoint_id: str
    name: str
    description: str
    cosine_score: float
    rrf_score: float
    confidence: Confidence
    llm_validated: bool = False


class SearchResults(Frozen):
    """Answer of POST /rag-search/api-tools/search, best first; snake_case on the wire, as its callers expect."""

    results: tuple[SearchResult, ...]


class Weighed(Frozen):
    """One endpoint that was looked at. `dense` is the model's cosine, `lexical` the share of the words it covers.

    `lacking` counts the numbers that it needs and the text does not say; they lower both scores a little.

    `fused` orders, `score` decides: `band` is "high", "medium" or None when it is no match.
    """

    endpoint_id: str
    name: str
    dense: float
    lexical: float
    lacking: int = 0
    fused: float
    score: float
    band: Confidence | None


class Limits(Frozen):
    """On the product's scale: the least score of a match, of a clear one, and the least lead of a clear one."""

    match: float
    clear: float
    lead: float


class Cost(Frozen):
    """What routing this text costs. `model_calls` is what a language model would have been asked, were it there."""

    search_ms: float
    decide_ms: float
    model_calls: int


class Explanation(Frozen):
    """Why a text is routed as it is.

    `parts` are the requests that it was read as, when it holds several; `later` those beyond what is done at once.
    """

    query: str
    language: Language
    layer: Layer
    rule: str
    chosen: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    candidates: tuple[Weighed, ...] = ()
    limits: Limits
    model: str
    cost: Cost


class Question(Frozen):
    """A question to search on its way from the door to a worker."""

    kind: Literal["search", "explain"]
    tenant: str
    query: str
    top_k: int
