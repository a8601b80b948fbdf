"""What a search costs (the embedding left out), how fast endpoints are indexed, and what 10,000 of them weigh.

Counted is all that `EndpointSearch.search` does once the question's vector is there: weighing the question's words,
finding on both sides, fusing, and reading the first five endpoints whole. 400 questions of nine words are asked in turn
and not counted, to warm up; then 400 others are timed one by one. The words are invented of eighteen syllables: their
letters repeat more than a real language's, so that a question meets seven times the postings that seal_tools' do.
Beside it stands the time of the vector engine alone, asked the same without the mirror.

`python -m tests.bench.search` prints the figures and exits with 1 when one is out of bounds. They hold on an idle
machine with two cores; beside other work read only the ratio of the two sizes.
"""

from __future__ import annotations

import asyncio
import random
import resource
import sys
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time

import numpy as np

from schemas.endpoints import Endpoint, ParamSpec
from schemas.registry import Searchable
from workers.retrieval.corpus import Corpus
from workers.retrieval.embedder import E5Embedder
from workers.retrieval.index import Query, VectorIndex
from workers.retrieval.lexical import document_vector
from workers.retrieval.mirror import MirroredIndex
from workers.retrieval.qdrant_edge import EdgeIndex
from workers.retrieval.ranking import fuse
from workers.retrieval.recipe import matched_texts, pack, vectorize
from workers.retrieval.sparse import sparse_vector
from workers.runtime.memory import give_back

SIZES = {1_000: 1.0, 10_000: 3.0}
"""Endpoints, and the median milliseconds a search may take."""

LEAST_INDEXED_PER_S = 15.0
MOST_RESIDENT_MB = 300.0

_SEARCHES = 400
_PEER_SIZE = 1_000
_INDEXED = 60
_PAGE = 200
_SYLLABLES = (
    "ka",
    "te",
    "mi",
    "so",
    "lu",
    "re",
    "va",
    "no",
    "pi",
    "du",
    "ha",
    "li",
    "mo",
    "se",
    "ra",
    "ti",
    "ko",
    "pe",
)


class Writer:
    """Makes endpoints and questions out of invented words, common and rare as in a language (Zipf)."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)  # noqa: S311 - invents words
        self._words = [self._word() for _ in range(8_000)]
        self._shares = [1 / rank for rank in range(1, len(self._words) + 1)]

    def _word(self) -> str:
        return "".join(self._random.choices(_SYLLABLES, k=self._random.randint(2, 4)))

    def words(self, count: int) -> str:
        return " ".join(self._random.choices(self._words, self._shares, k=count))

    def endpoint(self, number: int) -> Endpoint:
        names = [f"{self.words(1)}{place}" for place in range(3)]
        return Endpoint(
            endpoint_id=f"endpoint-{number}",
            name=f"get_{self.words(1)}_{self.words(1)}",
            description=self.words(12),
            url=f"https://api.example.org/{number}",
            params=tuple(ParamSpec(name=name, description=self.words(6)) for name in names),
        )


def searchable(endpoint: Endpoint, numbers: np.random.Generator, embedder: E5Embedder) -> Searchable:
    """Give an endpoint a random vector: what the engine does with it takes the same time."""
    vector = numbers.normal(size=embedder.card.dimension).astype(np.float32)
    return Searchable(
        endpoint=endpoint,
        model=embedder.card.tag,
        fingerprint="",
        dense=pack(vector / np.linalg.norm(vector)),
        sparse=sparse_vector(endpoint.description),
        lexical=document_vector(matched_texts(endpoint)),
    )


class Searched:
    """An index of some size with what a worker keeps beside it."""

    def __init__(self, embedder: E5Embedder, index: VectorIndex | None = None) -> None:
        self._embedder = embedder
        self._index = index or MirroredIndex(EdgeIndex(embedder.card, has_words=False), embedder.card)
        self._corpus = Corpus(embedder.card)
        self.processor_ms = 0.0
        """Mean processor time of a search, all threads: what stays when other work runs beside."""

    async def fill(self, writer: Writer, size: int) -> None:
        """Index invented endpoints, a page at a time, as a worker that follows the registry does."""
        numbers = np.random.default_rng(7)
        await self._index.open()
        for at in range(0, size, _PAGE):
            page = [searchable(writer.endpoint(at + n), numbers, self._embedder) for n in range(_PAGE)]
            await self._index.apply(page, ())
            for one in page:
                self._corpus.put(one)
            give_back()

    async def times_ms(self, writer: Writer) -> list[float]:
        """Time searches that `EndpointSearch` makes of a question it has embedded already."""
        numbers = np.random.default_rng(11)
        found: list[float] = []
        self.processor_ms = 0.0
        for _ in range(_SEARCHES):
            text = writer.words(9)
            vector = self._embedder.card.centre_query(numbers.normal(size=384).astype(np.float32))
            began, spent = perf_counter(), process_time()
            lexical = self._corpus.features.query_vector(text)
            found_hits = await self._index.find(Query(tenant="default", dense=vector, lexical=lexical))
            hits = self._corpus.weighed(found_hits, text)
            common = self._corpus.common_likeness(vector, "default")
            ranked = fuse(hits, self._embedder.card, common=common)
            await self._index.endpoints([one.endpoint_id for one in ranked[:5]])
            found.append((perf_counter() - began) * 1000)
            self.processor_ms += (process_time() - spent) * 1000 / _SEARCHES
        return found

    async def close(self) -> None:
        await self._index.close()


async def engine_ms(writer: Writer, embedder: E5Embedder) -> float:
    """Return the median of the same searches when the vector engine makes them: the peer of the same run."""
    alone = Searched(embedder, EdgeIndex(embedder.card))
    await alone.fill(writer, _PEER_SIZE)
    await alone.times_ms(writer)
    found = median(await alone.times_ms(writer))
    await alone.close()
    return found


async def index_cost(writer: Writer) -> tuple[float, float]:
    """Return the seconds, and the processor seconds, that an endpoint takes to be embedded and weighed.

    An invented endpoint has 151 tokens in its three texts; those of seal_tools have 104, of bfcl 128 on average. The
    texts of some fifteen endpoints are embedded together, as those of a bulk's tasks are; both cores are needed.
    """
    embedder = E5Embedder(threads=0)
    endpoints = [writer.endpoint(number) for number in range(_INDEXED)]
    began, spent = perf_counter(), process_time()
    await vectorize(endpoints, embedder)
    taken, processor = perf_counter() - began, process_time() - spent
    await embedder.close()
    return taken / _INDEXED, processor / _INDEXED


async def measure() -> bool:
    """Print every figure with its bound; return whether all are kept."""
    writer, kept = Writer(), True
    embedder = E5Embedder()
    await embedder.embed_queries(["warm"])
    for size, most_ms in SIZES.items():
        searched = Searched(embedder)
        await searched.fill(writer, size)
        await searched.times_ms(writer)
        times = await searched.times_ms(writer)
        p99 = quantiles(times, n=100)[98]
        kept &= _said(
            f"search among {size:,} endpoints, p50 (p99 {p99:.2f}, processor {searched.processor_ms:.2f})",
            median(times),
            most_ms,
            "ms",
        )
        if size == max(SIZES):
            resident = f"resident with {size:,} endpoints and the model (at the worst moment {_peak_mb():.0f})"
            kept &= _said(resident, _resident_mb(), MOST_RESIDENT_MB, "MB")
        await searched.close()
    print(
        f"the engine without the mirror, among {_PEER_SIZE:,}: {await engine_ms(writer, embedder):.3f} ms", flush=True
    )
    taken, processor = await index_cost(writer)
    kept &= _said(f"to index an endpoint (processor {processor:.3f})", taken, 1 / LEAST_INDEXED_PER_S, "s")
    await embedder.close()
    return kept


def _resident_mb() -> float:
    """Return what this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 2**20


def _peak_mb() -> float:
    """Return the most this process has held so far (kilobytes on Linux)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _said(what: str, found: float, most: float, unit: str) -> bool:
    print(f"{what}: {found:.3f} {unit} (at most {most:.3f})", flush=True)
    return found <= most


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(measure()) else 1)
