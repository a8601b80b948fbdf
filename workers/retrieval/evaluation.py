"""Measures search on labelled questions: a registry file, a cases file, and what the numbers say.

A registry is a list of endpoints in the door's form (`id`, `name`, `description`, `params` …). A case is a JSON line
with `id`, `lang`, `scope` (`all`, or `candidates` with the ids to choose from) and `turns`; the first turn's `user`
and `expect.endpoints` are used. Cases that expect several endpoints at once are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.base import Frozen
from schemas.registration import EndpointRegistration
from schemas.registry import Searchable
from workers.retrieval.corpus import Corpus
from workers.retrieval.embedder import Embedder, open_embedder
from workers.retrieval.index import Query
from workers.retrieval.qdrant_edge import EdgeIndex
from workers.retrieval.ranking import Ranked, Thresholds, confidences, fuse
from workers.retrieval.recipe import vectorize
from workers.runtime.settings import RetrievalSettings, RoutingSettings

_TENANT = "evaluation"
_PAGE = 64
_OFFERED = 3
_READ = frozenset({"id", "name", "aliases"})


class Figures(Frozen):
    """The numbers of one group. Shares are of in-domain questions, except `auc` and `out_of_domain_answered`.

    `resolved`: the right one is chosen (a clear match), or offered among at most three. `auc`: how well the best score
    tells in-domain questions from others. Shares of nothing are None.
    """

    n: int
    n_out_of_domain: int
    top1: float | None
    top3: float | None
    resolved: float | None
    auc: float | None
    in_domain_refused: float | None
    out_of_domain_answered: float | None


class Report(Frozen):
    """All questions, and those of each language."""

    model: str
    endpoints: int
    overall: Figures
    languages: dict[str, Figures]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question; `expected` is empty when nothing may be called, `candidates` when the whole registry is asked."""

    language: str
    question: str
    expected: frozenset[str]
    candidates: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A case with what search made of it, best first; `offered` are at most three that are matches."""

    case: Case
    ranked: tuple[str, ...]
    best_score: float
    offered: tuple[str, ...]


def figures(answers: Sequence[Answered]) -> Figures:
    """Count. Pure."""
    inside = [one for one in answers if one.case.expected]
    outside = [one for one in answers if not one.case.expected]
    return Figures(
        n=len(answers),
        n_out_of_domain=len(outside),
        top1=_share(bool(one.case.expected & set(one.ranked[:1])) for one in inside),
        top3=_share(bool(one.case.expected & set(one.ranked[:3])) for one in inside),
        resolved=_share(bool(one.case.expected & set(one.offered)) for one in inside),
        auc=area_under_curve([one.best_score for one in inside], [one.best_score for one in outside]),
        in_domain_refused=_share(not one.offered for one in inside),
        out_of_domain_answered=_share(bool(one.offered) for one in outside),
    )


def _share(truths: Iterable[bool]) -> float | None:
    seen = list(truths)
    return round(sum(seen) / len(seen), 4) if seen else None


def area_under_curve(inside: Sequence[float], outside: Sequence[float]) -> float | None:
    """Return the chance that a random inside score exceeds a random outside one, ties half; None when one is empty.

    Source: Mann and Whitney, 1947 (the U statistic over the number of pairs).
    """
    if not inside or not outside:
        return None
    wins = sum((a > b) + 0.5 * (a == b) for a in inside for b in outside)
    return round(wins / (len(inside) * len(outside)), 4)


def read_cases(path: Path) -> list[Case]:
    """Read the first turns of a cases file."""
    cases = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            continue
        case = json.loads(line)
        expected = frozenset(case["turns"][0]["expect"]["endpoints"])
        if len(expected) > 1:
            continue
        chosen = case.get("candidates", ()) if case.get("scope") == "candidates" else ()
        cases.append(
            Case(
                language=case.get("lang", "other"),
                question=case["turns"][0]["user"],
                expected=expected,
                candidates=frozenset(chosen),
            )
        )
    return cases


def read_registry(
    path: Path, *, examples: dict[str, list[str]] | None = None, description_field: str | None = None
) -> list[EndpointRegistration]:
    """Read a registry; with `description_field` that text alone describes, and translations are left aside."""
    return [
        EndpointRegistration.model_validate(_as_registration(entry, examples or {}, description_field))
        for entry in json.loads(path.read_text(encoding="utf-8"))
    ]


def _as_registration(
    entry: dict[str, Any], examples: dict[str, list[str]], description_field: str | None
) -> dict[str, Any]:
    """Keep what search reads; URLs and methods of research sets are often such as the door would refuse."""
    told = {key: value for key, value in entry.items() if key in _READ or key.startswith(("description", "title"))}
    if description_field:
        text = entry.get(description_field) or entry["description"]
        told = {key: value for key, value in told.items() if not key.startswith("description")} | {"description": text}
    params = {param["name"]: _typed(param) for param in entry.get("params", ())}
    return {
        **told,
        "url": "https://evaluation.invalid/",
        "params": list(params.values()),
        "examples": {"en": examples.get(entry["id"], [])},
    }


def _typed(param: dict[str, Any]) -> dict[str, Any]:
    """Keep what search reads of a parameter: its name, description and options (types in the wild include "any")."""
    return {
        "name": param["name"],
        "description": param.get("description") or "",
        "enum": [str(option) for option in param.get("enum") or ()],
    }


def read_examples(path: Path) -> dict[str, list[str]]:
    """Read example questions: a mapping from endpoint id to texts, or a list of [text, id] pairs or of objects."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(stored, dict) and all(isinstance(texts, list) for texts in stored.values()):
        return {name: [text for text in texts if isinstance(text, str)] for name, texts in stored.items()}
    found: dict[str, list[str]] = {}
    for one in stored:
        text, name = (one["text"], one["intent"]) if isinstance(one, dict) else (one[0], one[1])
        found.setdefault(name, []).append(text)
    return found


async def evaluate(
    registry_path: Path,
    cases_path: Path,
    *,
    examples_path: Path | None = None,
    description_field: str | None = None,
    embedder: Embedder | None = None,
) -> Report:
    """Index the registry in a shard of its own, ask every question, and report. Touches no Redis.

    The embedder is the settings' unless one is given (then it stays open).
    """
    examples = read_examples(examples_path) if examples_path else None
    registry = read_registry(registry_path, examples=examples, description_field=description_field)
    cases = read_cases(cases_path)
    opened = embedder or open_embedder(RetrievalSettings())
    index, corpus = EdgeIndex(opened.card), Corpus(opened.card)
    try:
        await index.open()
        for at in range(0, len(registry), _PAGE):
            endpoints = [one.to_endpoint(_TENANT) for one in registry[at : at + _PAGE]]
            await _put(index, corpus, await vectorize(endpoints, opened))
        answers = [await _answer(case, index, corpus, opened) for case in cases]
    finally:
        await index.close()
        if embedder is None:
            await opened.close()
    languages = sorted({case.language for case in cases})
    return Report(
        model=opened.card.tag,
        endpoints=len(registry),
        overall=figures(answers),
        languages={one: figures([a for a in answers if a.case.language == one]) for one in languages},
    )


async def _put(index: EdgeIndex, corpus: Corpus, made: list[Searchable]) -> None:
    await index.apply(made, ())
    for one in made:
        corpus.put(one)


async def _answer(case: Case, index: EdgeIndex, corpus: Corpus, embedder: Embedder) -> Answered:
    (raw,) = await embedder.embed_queries([case.question])
    dense = embedder.card.centre_query(raw)
    query = Query(
        tenant=_TENANT,
        dense=dense,
        lexical=corpus.features.query_vector(case.question),
        among=case.candidates,
    )
    ranked = fuse(await index.find(query), embedder.card, common=corpus.common_likeness(dense, _TENANT))
    return judge(case, ranked, RoutingSettings())


def judge(case: Case, ranked: Sequence[Ranked], routing: RoutingSettings) -> Answered:
    """Say what a person would have got: the clear match alone, or up to three matches to choose from. Pure."""
    thresholds = Thresholds(match=routing.min_cosine, clear=routing.high_cosine, lead=routing.gap)
    banded = list(zip(ranked, confidences(ranked, thresholds), strict=True))
    clear = [one.endpoint_id for one, confidence in banded if confidence == "high"]
    matches = [one.endpoint_id for one, confidence in banded if confidence is not None]
    return Answered(
        case=case,
        ranked=tuple(one.endpoint_id for one in ranked),
        best_score=max((one.score for one in ranked), default=0.0),
        offered=tuple(clear or matches[:_OFFERED]),
    )
