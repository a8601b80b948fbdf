"""Judgements that settle a doubt, on labelled cases: which service is meant, what follows up, what an API is for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ops.evaluation.bench import NONE, NOW, Bench, Case, Judge, Verdict, candidates_of
from schemas.base import JsonValue
from schemas.endpoints import LANGUAGES
from schemas.usage import Judgement
from workers.caching.contexts import EndpointView, FollowUp, LastCall
from workers.caching.detector import FollowUpDetector
from workers.caching.followup import judge
from workers.classification.disambiguator import NoVerdict
from workers.classification.intent_detector import Intent, IntentDetector
from workers.indexing.enrich import enrich
from workers.indexing.enricher import Enricher


async def _intent(bench: Bench, case: Case) -> Verdict:
    detector = IntentDetector(model=bench.model, engine="dspy", settings=bench.settings.routing)
    meant = await detector.detect(case["message"], candidates_of(bench.endpoints, case), said=())
    if meant is NoVerdict.UNSURE:
        return Verdict(None, is_right=False, has_failed=True)
    service = meant.candidate.endpoint.name if isinstance(meant, Intent) else NONE
    words = dict(meant.words) if isinstance(meant, Intent) else {}
    said: dict[str, JsonValue] = {"service": service, **words}
    return Verdict(said, is_right=service == case["intent"] and case.get("words", {}).items() <= words.items())


async def _intent_by_rules(bench: Bench, case: Case) -> Verdict:
    """Search finds a service or none; which words give values is left to extraction, so only the service counts."""
    among = bench.shelf.registered([bench.endpoints[name].endpoint_id for name in case["among"]])
    found = await among.search(case["message"], tenant="default", limit=1)
    service = found[0].endpoint.name if found else NONE
    return Verdict({"service": service}, is_right=service == case["intent"])


def call_before(views: Mapping[str, EndpointView], case: Case) -> tuple[LastCall, EndpointView]:
    """Return the call that a case leans on, with a result that is kept, and its endpoint."""
    view = views[case["endpoint"]]
    last = LastCall(
        endpoint_id=view.endpoint_id,
        version=view.version,
        arguments=case["arguments"],
        language=case["language"],
        query=case["query"],
        finished_at=NOW,
        fields=tuple(case["fields"]),
        result="kept",
    )
    return last, view


def _views(bench: Bench) -> dict[str, EndpointView]:
    return {name: EndpointView.of(endpoint) for name, endpoint in bench.endpoints.items()}


def _verdict(follow: FollowUp, case: Case) -> Verdict:
    changed: list[JsonValue] = [*sorted(follow.changed)]
    is_right = follow.verdict == case["verdict"] and changed == sorted(case["changed"])
    return Verdict({"verdict": follow.verdict, "changed": changed}, is_right=is_right)


async def _follow(bench: Bench, case: Case) -> Verdict:
    last, view = call_before(_views(bench), case)
    # The rules' word is withheld, so that the model is always asked.
    unsaid = FollowUp(verdict="new_intent", reason="withheld")
    said = await FollowUpDetector(bench.model).detect(case["message"], last, view, answer="", by_rules=unsaid)
    if said is unsaid:
        return Verdict(None, is_right=False, has_failed=True)
    return _verdict(said, case)


async def _follow_by_rules(bench: Bench, case: Case) -> Verdict:
    last, view = call_before(_views(bench), case)
    return _verdict(judge(case["message"], case["language"], last, view, now=NOW), case)


def _described(bench: Bench) -> list[Case]:
    """Every endpoint, described in each language."""
    return [
        {
            "language": language,
            "endpoint": name,
            "description": endpoint.descriptions.get(language, endpoint.description),
        }
        for language in LANGUAGES
        for name, endpoint in bench.endpoints.items()
    ]


async def _enrich(bench: Bench, case: Case) -> Verdict:
    """Right is a context that the room accepts: plain sentences, in the language of the description."""
    endpoint = bench.endpoints[case["endpoint"]].model_copy(update={"description": case["description"]})
    enriched, by = await Enricher(bench.model).enrich(endpoint, None)
    return Verdict(enriched.enriched_context, is_right=by == "model", has_failed=by != "model")


async def _enrich_by_rules(bench: Bench, case: Case) -> Verdict:
    endpoint = bench.endpoints[case["endpoint"]].model_copy(update={"description": case["description"]})
    return Verdict(enrich(endpoint).enriched_context, is_right=True)


DOUBTS: Mapping[Judgement, Judge] = MappingProxyType(
    {
        "service_intent": Judge(by_model=_intent, by_rules=_intent_by_rules),
        "follow_up": Judge(by_model=_follow, by_rules=_follow_by_rules),
        "endpoint_enrichment": Judge(by_model=_enrich, by_rules=_enrich_by_rules, cases=_described),
    }
)
