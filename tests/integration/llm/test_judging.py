"""`signalbox eval judgements`: enough cases in each language, counted rightly, kept and compared."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from ops.evaluation.bench import Bench, cases_of
from ops.evaluation.judges import JUDGES
from ops.evaluation.judging import evaluate
from schemas.usage import Judgement
from tests.integration.llm.scripted import marked, scripted_model
from tests.integration.llm.sensible import SensibleModel
from tests.integration.ops.conftest import Cli
from tests.integration.ops.conftest import cli as cli  # noqa: PLC0414 - a fixture
from workers.llm.model import LanguageModel
from workers.runtime.settings import LlmSettings, Settings

pytest.importorskip("dspy")


def settings_for(base_url: str) -> Settings:
    llm = {"engine": "dspy", "model": "openai/gpt-4.1-nano", "api_base": base_url, "api_key": "k", "retries": 0}
    return Settings(llm=LlmSettings.model_validate(llm))


async def test_every_judgement_has_forty_cases_in_three_languages() -> None:
    with scripted_model() as script:
        settings = settings_for(script.base_url)
        model = await LanguageModel.open(settings.llm)
        bench = await Bench.open(model, settings)
        for name, judge in JUDGES.items():
            cases = judge.cases(bench) if judge.cases else cases_of(name)
            spread = Counter(case["language"] for case in cases)
            assert sum(spread.values()) >= 40, name
            assert min(spread[language] for language in ("en", "et", "ru")) >= 13, name
        await bench.close()
        await model.close()


async def test_what_a_model_gets_right_is_counted_beside_the_rules() -> None:
    model = SensibleModel(
        replies={
            "endpoint_disambiguation": marked(best_endpoint_id="none"),
            "intent_decomposition": marked(mode="single", sub_queries="[]"),
            "parameter_extraction": 500,
        }
    )
    wanted: list[Judgement] = ["endpoint_disambiguation", "intent_decomposition", "parameter_extraction"]
    with scripted_model(otherwise=model) as script:
        report = await evaluate(settings_for(script.base_url), wanted)

    picks = report.judgements["endpoint_disambiguation"].overall
    splits = report.judgements["intent_decomposition"].overall
    values = report.judgements["parameter_extraction"].overall
    assert picks.accuracy == pytest.approx(6 / 42, abs=0.001)  # six of the cases fit none
    assert picks.rules_accuracy > 0.6
    assert splits.accuracy == 0.5
    assert splits.rules_accuracy >= 0.7
    # Where the model gives nothing, the rules' values stand.
    assert values.accuracy == values.rules_accuracy >= 0.8
    assert values.agreement == 1.0
    assert report.judgements["endpoint_disambiguation"].requests == 42
    assert report.judgements["endpoint_disambiguation"].usd > 0


def test_a_result_is_kept_and_compared(cli: Cli, tmp_path: Path) -> None:
    kept = tmp_path / "results" / "one.json"
    with scripted_model(otherwise=SensibleModel()) as script:
        environment = {"LLM_ENGINE": "auto", "LLM_API_BASE": script.base_url, "LLM_API_KEY": "k"}
        first = cli("eval", "judgements", "intent_decomposition", "--limit", "14", "--keep", str(kept), **environment)
        second = cli("eval", "judgements", "intent_decomposition", "--against", str(kept), **environment)
        unknown = cli("eval", "judgements", "taste", **environment)
    without = cli("eval", "judgements")

    assert first.returncode == 0, first.stderr
    assert json.loads(kept.read_text(encoding="utf-8"))["judgements"]["intent_decomposition"]["overall"]["cases"] == 14
    assert "compared with openai/gpt-4.1-mini" in second.stdout
    assert "there are no cases of taste" in unknown.stderr
    assert "LLM_ENGINE is `rules`" in without.stderr
