"""How each judgement is made on a labelled case: by a model through its room's judge, and by the rules alone."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ops.evaluation.bench import NONE, NOW, Bench, Case, Judge, Verdict, candidates_of, cases_of
from ops.evaluation.doubts import DOUBTS
from schemas.base import JsonValue
from schemas.calls import ApiCall, CallSucceeded
from schemas.conversations import Collecting
from schemas.endpoints import LANGUAGES, Language
from schemas.routing import Candidate
from schemas.usage import Judgement
from workers.classification.decomposer import decompose
from workers.classification.disambiguator import Disambiguator, NoVerdict
from workers.classification.splitter import Splitter
from workers.errors import ModelFailed
from workers.extraction.filler import Filler, Spoken
from workers.extraction.loop import Asked, Ready, collect, open_collection
from workers.formatting.formatter import answer


async def _pick(bench: Bench, case: Case) -> Verdict:
    verdict = await Disambiguator(bench.model).pick(case["message"], candidates_of(bench.endpoints, case))
    if verdict is NoVerdict.UNSURE:
        return Verdict(None, is_right=False, has_failed=True)
    said = verdict.endpoint.name if isinstance(verdict, Candidate) else NONE
    return Verdict(said, is_right=said == case["pick"])


async def _pick_by_search(bench: Bench, case: Case) -> Verdict:
    """What search puts first among the candidates, or none below its threshold."""
    among = bench.shelf.registered([bench.endpoints[name].endpoint_id for name in case["among"]])
    found = await among.search(case["message"], tenant="default", limit=1)
    said = found[0].endpoint.name if found else NONE
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
    """Each answer case beside the next one of its language; the last one beside the first."""
    spoken = {language: [c for c in cases_of("api_answer") if c["language"] == language] for language in LANGUAGES}
    return [
        {"language": language, "message": f"{one['message']} {two['message']}", "results": [one, two]}
        for language, cases in spoken.items()
        for one, two in zip(cases, cases[1:] + cases[:1], strict=True)
    ]


JUDGES: Mapping[Judgement, Judge] = MappingProxyType(
    {
        "endpoint_disambiguation": Judge(by_model=_pick, by_rules=_pick_by_search),
        "intent_decomposition": Judge(by_model=_split, by_rules=_split_by_rules),
        "parameter_extraction": Judge(by_model=_extract, by_rules=_extract_by_rules),
        "clarifying_question": Judge(by_model=_ask, by_rules=_ask_by_rules, cases=_questions),
        "api_answer": Judge(by_model=_write, by_rules=_write_by_rules),
        "combined_answer": Judge(by_model=_write, by_rules=_write_by_rules, cases=_pairs),
        **DOUBTS,
    }
)
