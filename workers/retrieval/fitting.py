"""Fits what a model's scores mean to a registry's own example questions and to questions that nothing here answers.

Each example is asked while it is left out of its endpoint: a question that an endpoint was made from proves nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schemas.base import Frozen
from schemas.endpoints import Endpoint
from schemas.registry import Searchable
from workers.retrieval.background import background_texts
from workers.retrieval.calibration import Curve, ModelCard, Vector
from workers.retrieval.corpus import Corpus
from workers.retrieval.embedder import Embedder
from workers.retrieval.index import Query
from workers.retrieval.qdrant_edge import EdgeIndex
from workers.retrieval.ranking import Ranked, fuse
from workers.retrieval.recipe import vectorize
from workers.retrieval.wanting import LACKING

FEWEST = 20
"""With fewer questions on either side a curve would be chance."""

_PRECISION_OF_CLEAR = 0.95
_LEAST_RISE = 0.05
_MATCH, _CLEAR = 0.40, 0.60


class TooFewQuestions(ValueError):
    """There are not enough examples or foreign questions to fit anything; the message says how many."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One question with the best endpoint's evidence. `is_right` is False for a question that nothing answers."""

    evidence: float
    is_inside: bool
    is_right: bool


class Point(Frozen):
    """What answering from this evidence on gives. `score` is its place on the product's scale by the fitted curve.

    Shares: `precision` of the answers that are right, `recall` of the inside questions that are answered rightly,
    `outside_answered` of the foreign ones.
    """

    evidence: float
    score: float
    precision: float
    recall: float
    outside_answered: float


class Fit(Frozen):
    """A fitted curve with what it was fitted on."""

    model: str
    inside: int
    outside: int
    curve: Curve
    points: tuple[Point, ...]


def fit(asked: Sequence[Asked], card: ModelCard, *, steps: int = 20) -> Fit:
    """Put the least match where inside and outside part best, the clear match where 19 of 20 answers are right. Pure.

    The parting is the evidence of greatest (inside accepted - outside accepted), Youden's J, 1950. Raises
    TooFewQuestions.
    """
    inside = [one for one in asked if one.is_inside]
    outside = [one for one in asked if not one.is_inside]
    if len(inside) < FEWEST or len(outside) < FEWEST:
        raise TooFewQuestions(
            f"{len(inside)} examples and {len(outside)} foreign questions; {FEWEST} of each are needed"
        )
    places = sorted({one.evidence for one in asked})
    match = max(places, key=lambda at: _share(inside, at) - _share(outside, at))
    sure = [at for at in places if at >= match and _precision(asked, at) >= _PRECISION_OF_CLEAR]
    clear = max(sure[0] if sure else places[-1], match + _LEAST_RISE)
    curve = ((match - 0.5, 0.0), (match, _MATCH), (clear, _CLEAR), (clear + 0.7, 1.0))
    fitted = tuple((round(at, 4), to) for at, to in curve)
    low, high = places[0], places[-1]
    grid = [low + (high - low) * step / (steps - 1) for step in range(steps)]
    points = tuple(_point(asked, at, fitted) for at in grid)
    return Fit(model=card.tag, inside=len(inside), outside=len(outside), curve=fitted, points=points)


def _point(asked: Sequence[Asked], at: float, curve: Curve) -> Point:
    inside = [one for one in asked if one.is_inside]
    right = sum(one.is_right and one.evidence >= at for one in inside)
    return Point(
        evidence=round(at, 4),
        score=round(_scaled(at, curve), 4),
        precision=round(_precision(asked, at), 4),
        recall=round(right / len(inside), 4),
        outside_answered=round(_share([one for one in asked if not one.is_inside], at), 4),
    )


def _scaled(at: float, curve: Curve) -> float:
    places, scores = zip(*curve, strict=True)
    return float(np.interp(at, places, scores))


def _share(asked: Sequence[Asked], at: float) -> float:
    return sum(one.evidence >= at for one in asked) / len(asked)


def _precision(asked: Sequence[Asked], at: float) -> float:
    answered = [one for one in asked if one.evidence >= at]
    return sum(one.is_right for one in answered) / len(answered) if answered else 1.0


def everyday_questions() -> list[str]:
    """Return the shipped questions of everyday life in three languages, which no product answers."""
    return [text for texts in background_texts().values() for text in texts["asked"]]


class _Remembering:
    """Embeds each passage once: leaving out one example after the other asks for the same texts again and again."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._passages: dict[str, Vector] = {}
        self.card = embedder.card

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        return await self._embedder.embed_queries(texts)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        new = [text for text in dict.fromkeys(texts) if text not in self._passages]
        made = await self._embedder.embed_passages(new) if new else []
        self._passages.update(zip(new, made, strict=True))
        return [self._passages[text] for text in texts]

    async def close(self) -> None:
        await self._embedder.close()


class Bench:
    """Asks questions of some endpoints in an index of its own. Open it, ask, close it; the embedder stays open."""

    def __init__(self, endpoints: Sequence[Endpoint], embedder: Embedder) -> None:
        self._endpoints = endpoints
        self._embedder = _Remembering(embedder)
        self._index = EdgeIndex(embedder.card)
        self._corpus = Corpus(embedder.card)

    async def ask_all(self, foreign: Sequence[str]) -> list[Asked]:
        """Ask every example, left out of its endpoint, and every foreign question."""
        await self._index.open()
        try:
            whole = await vectorize(self._endpoints, self._embedder)
            await self._put(*whole)
            asked = [await self._foreign(text) for text in foreign]
            for one in whole:
                asked += await self._examples(one)
            return asked
        finally:
            await self._index.close()

    async def _examples(self, whole: Searchable) -> list[Asked]:
        endpoint = whole.endpoint
        asked = []
        for language, examples in endpoint.examples.items():
            for example in examples:
                rest = tuple(other for other in examples if other != example)
                without = endpoint.model_copy(update={"examples": {**endpoint.examples, language: rest}})
                await self._put(*await vectorize([without], self._embedder))
                evidence, found = await self._best(example, endpoint.tenant)
                asked.append(Asked(evidence=evidence, is_inside=True, is_right=found == endpoint.endpoint_id))
        if asked:
            await self._put(whole)
        return asked

    async def _foreign(self, text: str) -> Asked:
        evidence, _ = await self._best(text, self._endpoints[0].tenant)
        return Asked(evidence=evidence, is_inside=False, is_right=False)

    async def _put(self, *searchable: Searchable) -> None:
        await self._index.apply(searchable, ())
        for one in searchable:
            self._corpus.put(one)

    async def _best(self, text: str, tenant: str) -> tuple[float, str]:
        """Return the greatest evidence and the endpoint that comes first."""
        card = self._embedder.card
        (raw,) = await self._embedder.embed_queries([text])
        dense = card.centre_query(raw)
        common = self._corpus.common_likeness(dense, tenant)
        query = Query(tenant=tenant, dense=dense, lexical=self._corpus.features.query_vector(text))
        ranked = fuse(self._corpus.weighed(await self._index.find(query), text), card, common=common)
        found = ranked[0].endpoint_id if ranked else ""
        return max((_evidence(one, card, common) for one in ranked), default=-1.0), found


def _evidence(one: Ranked, card: ModelCard, common: float) -> float:
    return one.dense - LACKING * one.lacking - common + card.evidence_weight * one.lexical
