"""How each judgement is made on a labelled case: by a model through its room's judge, and by the rules alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from itertools import pairwise
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from ops.evaluation.shelf import Shelf
from ops.local.catalogue import DEMO_CATALOGUE
from schemas.base import JsonValue
from schemas.calls import ApiCall, CallSucceeded
from schemas.conversations import Collecting
from schemas.endpoints import LANGUAGES, Endpoint, Language
from schemas.routing import Candidate
from schemas.usage import Judgement
from workers.classification.decomposer import decompose
from workers.classification.disambiguator import Disambiguator, NoVerdict
from workers.classification.splitter import Splitter
from workers.errors import ModelFailed
from workers.extraction.filler import Filler, Spoken
from workers.extraction.loop import Asked, Ready, collect, open_collection
from workers.formatting.formatter import answer
from workers.formatting.writer import Writer
from workers.guarding.loading import guards_of
from workers.indexing.catalogue import load
from workers.llm.model import LanguageModel
from workers.retrieval.embedder import open_embedder
from workers.runtime.settings import Settings

Case = Mapping[str, Any]
NOW = datetime(2026, 12, 1, 10, 0, tzinfo=ZoneInfo("Europe/Tallinn"))
_NONE = "none"
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

    by_model: Callable[[Bench, Case], Awaitable[Verdict]]
    by_rules: Callable[[Bench, Case], Awaitable[Verdict]]
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


async def _pick(bench: Bench, case: Case) -> Verdict:
    verdict = await Disambiguator(bench.model).pick(case["message"], candidates_of(bench.endpoints, case))
    if verdict is NoVerdict.UNSURE:
        return Verdict(None, is_right=False, has_failed=True)
    said = verdict.endpoint.name if isinstance(verdict, Candidate) else _NONE
    return Verdict(said, is_right=said == case["pick"])


async def _pick_by_search(bench: Bench, case: Case) -> Verdict:
    """What search puts first among the candidates, or none below its threshold."""
    among = bench.shelf.registered([bench.endpoints[name].endpoint_id for name in case["among"]])
    found = await among.search(case["message"], tenant="default", limit=1)
    said = found[0].endpoint.name if found else _NONE
    return Verdict(said, is_right=said == case["pick"])


async def _split(bench: Bench, case: Case) -> Verdict:
    split = await Splitter(model=bench.model, engine="dspy").split(case["message"], most=3)
    return Verdict(len(split.parts), is_right=len(split.parts) == case["parts"])


async def _split_by_rules(_: Bench, case: Case) -> Verdict:
    parts = len(decompose(case["message"], case["language"]).parts)
    return Verdict(parts, is_right=parts == case["parts"])


def _first_message(bench: Bench, case: Case) -> tuple[Collecting, Asked | Ready]:
    collecting = open_collection([bench.endpoints[case["endpoint"]]], case["message"])
    outcome = collect(collecting, case["message"], language=case["language"], now=NOW)
    if not isinstance(outcome, Asked | Ready):
        raise TypeError(f"a first message cannot end a collection: {case}")
    return collecting, outcome


def _filled(outcome: Asked | Ready, case: Case) -> Verdict:
    values: dict[str, JsonValue] = dict(outcome.collecting.endpoints[0].values)
    return Verdict(values, is_right=values == case["values"])


async def _extract(bench: Bench, case: Case) -> Verdict:
    collecting, outcome = _first_message(bench, case)
    filler = Filler(model=bench.model, engine="dspy")
    spoken = Spoken(message=case["message"], now=NOW, language=case["language"])
    improved = await filler.improve(outcome, collecting, spoken)
    return _filled(improved if isinstance(improved, Asked | Ready) else outcome, case)


async def _extract_by_rules(bench: Bench, case: Case) -> Verdict:
    return _filled(_first_message(bench, case)[1], case)


def _questions(bench: Bench) -> list[Case]:
    """Every endpoint that must ask for something, in each language."""
    asking: list[Case] = [
        {"language": language, "endpoint": name, "message": (endpoint.examples.get(language) or (name,))[0]}
        for language in LANGUAGES
        for name, endpoint in bench.endpoints.items()
        if any(param.required for param in endpoint.params)
    ]
    more: list[Case] = [
        {"language": language, "endpoint": name, "message": endpoint.titles.get(language, name)}
        for language in LANGUAGES
        for name, endpoint in bench.endpoints.items()
        if sum(param.required for param in endpoint.params) > 1
    ]
    return [*asking, *more]


async def _ask(bench: Bench, case: Case) -> Verdict:
    _, outcome = _first_message(bench, case)
    if isinstance(outcome, Ready):
        return Verdict("", is_right=True)
    worded = await Filler(model=bench.model, engine="dspy").worded(outcome, language=case["language"])
    is_own = worded.question != outcome.question
    return Verdict(worded.question, is_right=is_own, has_failed=not is_own)


async def _ask_by_rules(bench: Bench, case: Case) -> Verdict:
    _, outcome = _first_message(bench, case)
    question = outcome.question if isinstance(outcome, Asked) else ""
    return Verdict(question, is_right=True)


Results = list[tuple[ApiCall, CallSucceeded]]


def _results(bench: Bench, case: Case) -> Results:
    parts = case.get("results") or [case]
    return [
        (
            ApiCall(
                call_id=f"c{index}", index=index, endpoint=bench.endpoints[one["endpoint"]], arguments=one["arguments"]
            ),
            CallSucceeded(call_id=f"c{index}", status=200, body=one["body"]),
        )
        for index, one in enumerate(parts)
    ]


def _names_all(text: str, case: Case) -> bool:
    must: list[str] = [word for one in case.get("results") or [case] for word in one["must"]]
    return bool(text) and all(str(word).casefold() in text.casefold() for word in must)


async def _write(bench: Bench, case: Case) -> Verdict:
    language: Language = case["language"]
    try:
        pieces = bench.writer().write(case["message"], _results(bench, case), language=language, now=NOW)
        text = "".join([piece async for piece in pieces])
    except ModelFailed as failure:
        return Verdict(str(failure), is_right=False, has_failed=True)
    return Verdict(text, is_right=_names_all(text, case))


async def _write_by_rules(bench: Bench, case: Case) -> Verdict:
    text = answer(case["message"], _results(bench, case), language=case["language"])
    return Verdict(text, is_right=_names_all(text, case))


def _pairs(_: Bench) -> list[Case]:
    """Each answer case beside the next one of its language."""
    return [
        {"language": one["language"], "message": f"{one['message']} {two['message']}", "results": [one, two]}
        for one, two in pairwise(cases_of("api_answer"))
        if one["language"] == two["language"]
    ]


JUDGES: Mapping[Judgement, Judge] = MappingProxyType(
    {
        "endpoint_disambiguation": Judge(by_model=_pick, by_rules=_pick_by_search),
        "intent_decomposition": Judge(by_model=_split, by_rules=_split_by_rules),
        "parameter_extraction": Judge(by_model=_extract, by_rules=_extract_by_rules),
        "clarifying_question": Judge(by_model=_ask, by_rules=_ask_by_rules, cases=_questions),
        "api_answer": Judge(by_model=_write, by_rules=_write_by_rules),
        "combined_answer": Judge(by_model=_write, by_rules=_write_by_rules, cases=_pairs),
    }
)
