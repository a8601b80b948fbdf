"""Measures search on labelled questions: its own order, and beside it each of the ways that it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import Field

from schemas.base import Frozen
from schemas.endpoints import Endpoint
from schemas.registry import Searchable
from workers.retrieval.bm25 import Bm25
from workers.retrieval.corpus import Corpus
from workers.retrieval.embedder import Embedder, open_embedder
from workers.retrieval.figures import Answered, Figures, figures, judge
from workers.retrieval.index import Hit, Query, VectorIndex
from workers.retrieval.lexical import content_words, pieces, stem
from workers.retrieval.mirror import MirroredIndex
from workers.retrieval.qdrant_edge import EdgeIndex
from workers.retrieval.questions import Case, read_cases, read_examples, read_registry
from workers.retrieval.ranking import Ranked, fuse, fuse_by_ranks
from workers.retrieval.recipe import matched_texts, vectorize
from workers.retrieval.search import LONGEST_QUESTION_CHARS
from workers.retrieval.sparse import sparse_vector
from workers.runtime.settings import RetrievalSettings, RoutingSettings

_TENANT = "evaluation"
_PAGE = 64

Way = str
"""A way to order endpoints: `hybrid` is the product's; the others show what each side gives alone."""

WAYS: tuple[Way, ...] = ("words", "n-grams", "dense", "rrf", "hybrid")


class Report(Frozen):
    """All questions, and those of each language. JSON has the figures alone."""

    model: str = Field(exclude=True)
    endpoints: int = Field(exclude=True)
    overall: Figures
    languages: dict[str, Figures]


class Comparison(Frozen):
    """The same questions, answered each way; `hybrid + examples` too where there are example questions."""

    ways: dict[Way, Report]


@dataclass(frozen=True, kw_only=True)
class Material:
    """What is measured. `description_field` names the only description to index; `whole` sets candidates aside."""

    registry: Path
    cases: Path
    examples: Path | None = None
    description_field: str | None = None
    whole: bool = False

    def endpoints(self, *, with_examples: bool = True) -> list[Endpoint]:
        """Read the registry. Raises ValueError, KeyError for files of another form."""
        examples = read_examples(self.examples) if self.examples and with_examples else None
        read = read_registry(self.registry, examples=examples, description_field=self.description_field)
        return [one.to_endpoint(_TENANT) for one in read]

    def questions(self) -> list[Case]:
        """Read the cases; among all endpoints, what should find none of a few candidates may find another: left out."""
        cases = read_cases(self.cases)
        if not self.whole:
            return cases
        return [replace(case, candidates=frozenset()) for case in cases if case.expected or not case.candidates]


@dataclass(kw_only=True)
class Trial:
    """Endpoints in an index of their own. Touches no Redis."""

    embedder: Embedder
    index: VectorIndex
    corpus: Corpus
    words: Bm25 = field(default_factory=Bm25)
    letters: Bm25 = field(default_factory=Bm25)

    async def fill(self, endpoints: Sequence[Endpoint]) -> None:
        """Index the endpoints."""
        await self.index.open()
        for at in range(0, len(endpoints), _PAGE):
            made = await vectorize(endpoints[at : at + _PAGE], self.embedder)
            await self.index.apply(made, ())
            for one in made:
                self._count(one)

    def _count(self, one: Searchable) -> None:
        self.corpus.put(one)
        text = " ".join(text for text, _ in matched_texts(one.endpoint))
        self.words.put(one.endpoint.endpoint_id, _words(text))
        self.letters.put(one.endpoint.endpoint_id, _letters(text))

    async def answer(self, case: Case, ways: Sequence[Way]) -> dict[Way, Answered]:
        """Ask one question every way."""
        text = case.question[:LONGEST_QUESTION_CHARS]
        (raw,) = await self.embedder.embed_queries([text])
        dense = self.embedder.card.centre_query(raw)
        query = Query(
            tenant=_TENANT,
            dense=dense,
            lexical=self.corpus.features.query_vector(text),
            sparse=sparse_vector(text),
            among=case.candidates,
        )
        hits = self.corpus.weighed(await self.index.find(query), text)
        common = self.corpus.common_likeness(dense, _TENANT)
        return {way: judge(case, self._order(way, text, case, hits, common), RoutingSettings()) for way in ways}

    def _order(self, way: Way, text: str, case: Case, hits: list[Hit], common: float) -> tuple[Ranked, ...]:
        card = self.embedder.card
        if way == "words":
            return _by_share(self.words.scores(_words(text)), case.candidates)
        if way == "n-grams":
            return _by_share(self.letters.scores(_letters(text)), case.candidates)
        if way == "dense":
            alone = [replace(hit, lexical=0.0) for hit in hits]
            return fuse(alone, card, common=common)
        return (fuse_by_ranks if way == "rrf" else fuse)(hits, card, common=common)


def _words(text: str) -> list[str]:
    return [stem(word) for word in content_words(text)]


def _letters(text: str) -> list[str]:
    return [piece for word in content_words(text) for piece in sorted(pieces(word))]


def _by_share(scores: Mapping[str, float], among: frozenset[str]) -> tuple[Ranked, ...]:
    """Order by score, of the candidates alone where there are some. The scale is BM25's own, so nothing is refused."""
    ranked = (
        Ranked(endpoint_id=one, fused=score, score=score)
        for one, score in scores.items()
        if score > 0 and (not among or one in among)
    )
    return tuple(sorted(ranked, key=lambda one: (-one.fused, one.endpoint_id)))


async def evaluate(material: Material, *, embedder: Embedder | None = None) -> Report:
    """Ask every question and report. The embedder is the settings' unless one is given (then it stays open)."""
    found = await _measured(material, ("hybrid",), embedder)
    return found["hybrid"]


async def compare(material: Material, *, embedder: Embedder | None = None) -> Comparison:
    """Ask every question every way, without the example questions; then as the product does, with them."""
    plain = replace(material, examples=None)
    ways = await _measured(plain, WAYS, embedder)
    if material.examples:
        ways["hybrid + examples"] = await evaluate(material, embedder=embedder)
    return Comparison(ways=ways)


async def _measured(material: Material, ways: Sequence[Way], given: Embedder | None) -> dict[Way, Report]:
    endpoints, cases = material.endpoints(), material.questions()
    embedder = given or open_embedder(RetrievalSettings())
    trial = Trial(
        embedder=embedder,
        index=MirroredIndex(EdgeIndex(embedder.card, has_words=False), embedder.card),
        corpus=Corpus(embedder.card),
    )
    try:
        await trial.fill(endpoints)
        answers = [await trial.answer(case, ways) for case in cases]
    finally:
        await trial.index.close()
        if given is None:
            await embedder.close()
    return {way: _report(embedder, len(endpoints), [answer[way] for answer in answers]) for way in ways}


def _report(embedder: Embedder, endpoints: int, answers: Sequence[Answered]) -> Report:
    languages = sorted({answer.case.language for answer in answers})
    return Report(
        model=embedder.card.tag,
        endpoints=endpoints,
        overall=figures(answers),
        languages={one: figures([a for a in answers if a.case.language == one]) for one in languages},
    )
