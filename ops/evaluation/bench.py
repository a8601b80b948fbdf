"""What the judges of an evaluation work with: labelled cases, the demo catalogue, search over it, and a model."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from ops.evaluation.shelf import Shelf
from ops.local.catalogue import DEMO_CATALOGUE
from schemas.base import JsonValue
from schemas.endpoints import Endpoint
from schemas.routing import Candidate
from schemas.usage import Judgement
from workers.formatting.writer import Writer
from workers.guarding.loading import guards_of
from workers.indexing.catalogue import load
from workers.llm.model import LanguageModel
from workers.retrieval.embedder import open_embedder
from workers.runtime.settings import Settings

Case = Mapping[str, Any]
NOW = datetime(2026, 12, 1, 10, 0, tzinfo=ZoneInfo("Europe/Tallinn"))
NONE = "none"
_LIKE = 0.6


@dataclass(frozen=True)
class Verdict:
    """What was said, whether it is right, and whether nothing was said at all (the rules then decide in a turn)."""

    said: JsonValue
    is_right: bool
    has_failed: bool = False


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What the judges work with: the model, the demo catalogue by name, and search over it."""

    model: LanguageModel
    settings: Settings
    endpoints: Mapping[str, Endpoint]
    shelf: Shelf

    @classmethod
    async def open(cls, model: LanguageModel, settings: Settings) -> Bench:
        """Read and embed the demo catalogue."""
        found = demo_endpoints()
        shelf = Shelf(open_embedder(settings.retrieval), settings.routing)
        await shelf.fill({endpoint.endpoint_id: endpoint for endpoint in found.values()})
        return cls(model=model, settings=settings, endpoints=found, shelf=shelf)

    async def close(self) -> None:
        """Close the shelf; the model is the caller's."""
        await self.shelf.close()

    def writer(self) -> Writer:
        """A writer that lets go of nothing before it has checked the whole."""
        guard = self.settings.guard
        guards = guards_of(f"{guard.answers}, {guard.model_answers}", guard)
        return Writer(model=self.model, engine="dspy", guards=guards, checks_single_whole=True)


@dataclass(frozen=True, kw_only=True)
class Judge:
    """Both ways to a verdict. `cases` makes them from the catalogue; without it they are read from a file."""

    by_model: Callable[[Bench, Case], Coroutine[Any, Any, Verdict]]
    by_rules: Callable[[Bench, Case], Coroutine[Any, Any, Verdict]]
    cases: Callable[[Bench], Sequence[Case]] | None = None


def demo_endpoints() -> dict[str, Endpoint]:
    """Read the demo catalogue, by name. Raises ValueError when an entry of it can't be used."""
    found, problems = load(DEMO_CATALOGUE)
    if problems:
        raise ValueError(f"{DEMO_CATALOGUE}: {problems[0]}")
    return {one.name: one for one in found}


def cases_of(judgement: Judgement) -> tuple[Case, ...]:
    """Read the labelled cases of a judgement, one object a line of its file."""
    file = resources.files(__package__) / "judgements" / f"{judgement}.yaml"
    return tuple(yaml.safe_load(file.read_text(encoding="utf-8")))


def candidates_of(endpoints: Mapping[str, Endpoint], case: Case) -> list[Candidate]:
    """Return the endpoints that a case chooses among, as alike to search."""
    return [
        Candidate(endpoint=endpoints[name], cosine=_LIKE, fused=_LIKE, confidence="medium") for name in case["among"]
    ]
