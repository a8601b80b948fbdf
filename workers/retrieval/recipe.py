"""Which texts of an endpoint are embedded, and the vectors that are made of them."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence

import numpy as np

from schemas.endpoints import Endpoint
from schemas.registry import Searchable
from workers.retrieval.calibration import ModelCard, Vector
from workers.retrieval.embed_text import embed_text
from workers.retrieval.embedder import Embedder
from workers.retrieval.lexical import document_vector
from workers.retrieval.sparse import sparse_vector

_PARAM_WEIGHT = 0.7
"""Parameter words help to tell twins apart (bfcl .79 → .83) but must not speak as loudly as the description."""

_EXAMPLE_WEIGHT = 0.5
"""Words of example questions: some name the subject, others ("in Tallinn") only fill it in."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JOINT = re.compile(r"[\W_]+")


def readable_name(name: str) -> str:
    """Turn get_publicHolidays into "get public holidays"."""
    return _JOINT.sub(" ", _HUMP.sub(" ", name)).strip().lower()


def told_texts(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the distinct texts that say what the endpoint does: name, description, translations, titles."""
    texts = [readable_name(endpoint.name) or endpoint.name, endpoint.description]
    texts += [*endpoint.descriptions.values(), *endpoint.titles.values()]
    texts += [alias for aliases in endpoint.aliases.values() for alias in aliases]
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def asked_texts(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the distinct example questions of all languages."""
    return tuple(dict.fromkeys(one for examples in endpoint.examples.values() for one in examples if one.strip()))


def _embedded_texts(endpoint: Endpoint, card: ModelCard) -> tuple[str, ...]:
    """Return the texts whose vectors are averaged: what it does, what is asked, and all of it as one text.

    The one text carries the parameters and binds name and description together; without it the right endpoint came
    first in .858 / .785 / .767 of three public sets' questions, with it in .869 / .803 / .781.
    """
    whole = embed_text(endpoint)
    return (whole,) if card.recipe == "seed" else (*told_texts(endpoint), *asked_texts(endpoint), whole)


def matched_texts(endpoint: Endpoint) -> list[tuple[str, float]]:
    """Return the texts whose words may match, and how loudly they speak."""
    texts = [(text, 1.0) for text in told_texts(endpoint)]
    texts += [(text, _EXAMPLE_WEIGHT) for text in asked_texts(endpoint)]
    for param in endpoint.params:
        options = [word for o in param.enum for word in (o.value, *o.labels.values(), *o.synonyms)]
        words = [readable_name(param.name), param.description, *param.labels.values(), *options]
        texts.append((" ".join(words), _PARAM_WEIGHT))
    return texts


def fingerprint(endpoint: Endpoint, card: ModelCard) -> str:
    """Digest everything that an endpoint's vectors and payload are made from, the model's card included."""
    content = endpoint.model_dump_json(exclude={"version"})
    return hashlib.sha256(f"{card.tag}\0{content}".encode()).hexdigest()[:32]


async def vectorize(endpoints: Sequence[Endpoint], embedder: Embedder) -> list[Searchable]:
    """Make the endpoints searchable: dense by the model's recipe, centred; sparse of the embed text; lexical."""
    card = embedder.card
    groups = [_embedded_texts(endpoint, card) for endpoint in endpoints]
    vectors = iter(await embedder.embed_passages([text for group in groups for text in group]))
    searchable = []
    for endpoint, group in zip(endpoints, groups, strict=True):
        parts = np.stack([next(vectors) for _ in group])
        searchable.append(
            Searchable(
                endpoint=endpoint,
                model=card.tag,
                fingerprint=fingerprint(endpoint, card),
                dense=pack(card.centre_passage(_mean(parts))),
                sparse=sparse_vector(embed_text(endpoint)),
                lexical=document_vector(matched_texts(endpoint)),
            )
        )
    return searchable


def _mean(parts: Vector) -> Vector:
    """Average (n, d) unit vectors and bring the mean back to length 1, the length a single text has."""
    mean: Vector = parts.mean(axis=0)
    length = float(np.linalg.norm(mean))
    return mean / length if length else mean


def pack(vector: Vector) -> str:
    """Write a vector as base64 of little-endian float32."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


def unpack(dense: str) -> Vector:
    """Read what `pack` wrote."""
    return np.frombuffer(base64.b64decode(dense), dtype="<f4")
