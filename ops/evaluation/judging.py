"""Runs each judgement on labelled cases, by a model and by the rules, and compares the two.

The cases lie in `judgements/`, one file a judgement, each line an object with `language`, what is given, and what is
right. A model's word is taken as a turn would take it: through the room's judge, grounded and guarded.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import zip_longest

from ops.evaluation.bench import Bench, Case, Verdict, cases_of
from ops.evaluation.judges import JUDGES
from schemas.base import Frozen
from schemas.usage import Judgement, ModelUse, TurnCosts
from workers.llm.model import LanguageModel
from workers.llm.scope import Scope
from workers.runtime.settings import Settings

_AT_ONCE = 4


class JudgementFigures(Frozen):
    """Shares of the cases: right by the model, right by the rules, both alike; `failed`: the model gave nothing."""

    cases: int
    accuracy: float
    rules_accuracy: float
    agreement: float
    failed: float
    latency_p50_ms: float


class JudgementResult(Frozen):
    """One judgement, over all and by language; `wrong` are the cases that the model got wrong, with what it said."""

    overall: JudgementFigures
    languages: dict[str, JudgementFigures]
    requests: int
    tokens: int
    usd: float
    wrong: tuple[str, ...]


class JudgementReport(Frozen):
    """What a run came to; kept as JSON so that runs can be compared."""

    model: str
    at: datetime
    judgements: dict[Judgement, JudgementResult]


@dataclass
class Bill:
    """A ledger for one run, in memory: what turns and tenants have spent is nothing here."""

    uses: list[ModelUse] = field(default_factory=list)

    async def enter(self, use: ModelUse, scope: Scope, *, today: date) -> None:  # noqa: ARG002 - a ledger is asked so
        """Note a request."""
        self.uses.append(use)

    async def of_turn(self, turn_id: str) -> TurnCosts:  # noqa: ARG002 - as above
        """Nothing here is a turn."""
        return TurnCosts()

    async def spent_usd(self, tenant: str, *, today: date) -> float:  # noqa: ARG002 - as above
        """A run has no budget."""
        return 0.0


async def evaluate(settings: Settings, judgements: Sequence[Judgement], *, limit: int | None = None) -> JudgementReport:
    """Run the cases of those judgements. Raises ValueError when no model is configured or a judgement has no cases."""
    if settings.llm.engine == "rules":
        raise ValueError("LLM_ENGINE is `rules`: set it to `auto` or `dspy`, and LLM_MODEL to the model to be judged")
    bill = Bill()
    model = await LanguageModel.open(settings.llm, ledger=bill)
    bench = await Bench.open(model, settings)
    try:
        results = {judgement: await _run(judgement, bench, bill, limit) for judgement in judgements}
    finally:
        await bench.close()
        await model.close()
    return JudgementReport(model=settings.llm.model, at=datetime.now(UTC), judgements=results)


@dataclass(frozen=True)
class _Outcome:
    case: Case
    by_model: Verdict
    by_rules: Verdict
    took_ms: float


async def _run(judgement: Judgement, bench: Bench, bill: Bill, limit: int | None) -> JudgementResult:
    judge = JUDGES[judgement]
    before = len(bill.uses)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(case: Case) -> _Outcome:
        async with gate:
            began = time.perf_counter()
            by_model = await judge.by_model(bench, case)
            took_ms = (time.perf_counter() - began) * 1000
            return _Outcome(case, by_model, await judge.by_rules(bench, case), took_ms)

    cases = judge.cases(bench) if judge.cases else cases_of(judgement)
    outcomes = await asyncio.gather(*(one(case) for case in _evenly(cases, limit)))
    uses = bill.uses[before:]
    by_language: dict[str, list[_Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_language[str(outcome.case["language"])].append(outcome)
    return JudgementResult(
        overall=_figures(outcomes),
        languages={language: _figures(found) for language, found in sorted(by_language.items())},
        requests=len(uses),
        tokens=sum(use.prompt_tokens + use.completion_tokens for use in uses),
        usd=round(sum(use.cost_usd for use in uses), 6),
        wrong=tuple(_told(outcome) for outcome in outcomes if not outcome.by_model.is_right),
    )


def _evenly(cases: Sequence[Case], limit: int | None) -> list[Case]:
    """Take the first cases of each language in turn, so that a few stand for all three."""
    by_language: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_language[str(case["language"])].append(case)
    in_turn = [case for row in zip_longest(*by_language.values()) for case in row if case is not None]
    return in_turn[:limit]


def _figures(outcomes: Sequence[_Outcome]) -> JudgementFigures:
    number = len(outcomes)
    return JudgementFigures(
        cases=number,
        accuracy=_share(outcomes, lambda one: one.by_model.is_right),
        rules_accuracy=_share(outcomes, lambda one: one.by_rules.is_right),
        agreement=_share(outcomes, lambda one: one.by_model.said == one.by_rules.said),
        failed=_share(outcomes, lambda one: one.by_model.has_failed),
        latency_p50_ms=round(statistics.median(one.took_ms for one in outcomes), 1),
    )


def _share(outcomes: Sequence[_Outcome], holds: Callable[[_Outcome], bool]) -> float:
    return round(sum(map(holds, outcomes)) / len(outcomes), 3)


def _told(outcome: _Outcome) -> str:
    case = outcome.case
    return f"{case['language']}: {case.get('message', case.get('endpoint', ''))} → {outcome.by_model.said}"
