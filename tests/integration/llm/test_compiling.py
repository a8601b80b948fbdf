"""`signalbox optimize`: a program that holds the model's own right answers, kept as a version and used by it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ops.evaluation.bench import cases_of
from ops.evaluation.compiling import Workshop
from ops.evaluation.judges import JUDGES
from schemas.usage import Judgement
from tests.integration.llm.scripted import Line, Request, marked, scripted_model
from tests.integration.llm.sensible import input_in
from tests.integration.ops.conftest import Cli
from tests.integration.ops.conftest import cli as cli  # noqa: PLC0414 - a fixture
from workers.classification.signatures import EndpointDisambiguation
from workers.llm.model import LanguageModel
from workers.llm.programs import judgement_of
from workers.runtime.settings import LlmSettings, Settings

dspy = pytest.importorskip("dspy")


def knowing(request: Request) -> str:
    """Answer as the cases' labels say."""
    said = input_in(request, "user_query")
    case = next(case for case in cases_of("endpoint_disambiguation") if case["message"] == said)
    listed = json.loads(input_in(request, "candidates"))
    ids = {one["name"]: one["endpoint_id"] for one in listed}
    return marked(best_endpoint_id=ids.get(case["pick"], "none"))


def test_a_compiled_version_is_measured_kept_and_asked(cli: Cli, tmp_path: Path) -> None:
    with scripted_model(otherwise=knowing) as script:
        environment = {
            "LLM_ENGINE": "auto",
            "LLM_API_BASE": script.base_url,
            "LLM_API_KEY": "k",
            "LLM_PROGRAMS_DIR": str(tmp_path / "programs"),
        }
        compiled = cli("optimize", "endpoint_disambiguation", "--version", "v1", "--json", **environment)
        again = cli("optimize", "endpoint_disambiguation", "--version", "v1", **environment)

    assert compiled.returncode == 0, compiled.stderr
    done = json.loads(compiled.stdout)
    assert (done["examples"], done["held_back"], done["accuracy_after"]) == (4, 21, 1.0)
    assert "exists already" in again.stderr
    kept = json.loads(Path(done["path"]).read_text(encoding="utf-8"))
    assert len(kept["demos"]) == 4


async def test_the_version_named_in_the_settings_is_what_the_model_sees(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "programs"
    with scripted_model(otherwise=knowing) as script:
        environment = {"LLM_API_BASE": script.base_url, "LLM_API_KEY": "k", "LLM_PROGRAMS_DIR": str(folder)}
        assert cli("optimize", "endpoint_disambiguation", "--version", "v1", **environment).returncode == 0
        script.requests.clear()
        model = await LanguageModel.open(
            LlmSettings.model_validate(
                {
                    "engine": "auto", "api_base": script.base_url, "api_key": "k", "programs_dir": folder,
                    "programs": {"endpoint_disambiguation": "v1"},
                }
            )
        )  # fmt: skip
        first = cases_of("endpoint_disambiguation")[1]
        await model.ask(EndpointDisambiguation, user_query=first["message"], candidates="[]")
        await model.close()

    # The system message, a question and an answer for each of four examples, and the question itself.
    assert [message["role"] for message in script.requests[0]["messages"]] == [
        "system",
        *["user", "assistant"] * 4,
        "user",
    ]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ["taste", "--version", "v1"],
            "choose from endpoint_disambiguation, intent_decomposition, parameter_extraction",
        ),
        (["intent_decomposition", "--version", "../v1"], "is no version"),
    ],
)
def test_what_cannot_be_compiled_is_told(cli: Cli, words: list[str], why: str) -> None:
    told = cli("optimize", *words, LLM_API_KEY="k")

    assert told.returncode == 1
    assert why in told.stderr


def test_a_model_that_gets_nothing_right_leaves_no_program(cli: Cli, tmp_path: Path) -> None:
    wrong: Line = marked(mode="neither", sub_queries="[]")
    with scripted_model(otherwise=wrong) as script:
        environment = {"LLM_API_BASE": script.base_url, "LLM_API_KEY": "k", "LLM_PROGRAMS_DIR": str(tmp_path / "p")}
        told = cli("optimize", "intent_decomposition", "--version", "v1", **environment)

    assert told.returncode == 1
    assert re.search(r"got none of 21 cases of intent_decomposition right", told.stderr)
    assert not (tmp_path / "p").exists()


def test_a_model_that_is_not_to_be_had_is_told_in_a_sentence(cli: Cli, tmp_path: Path) -> None:
    with scripted_model(otherwise=401) as script:
        environment = {"LLM_API_BASE": script.base_url, "LLM_API_KEY": "k", "LLM_PROGRAMS_DIR": str(tmp_path / "p")}
        told = cli("optimize", "follow_up", "--version", "v1", **environment)

    assert told.returncode == 1
    assert "the model answered no case of follow_up" in told.stderr
    assert "LMAuthError" in told.stderr
    assert "Traceback" not in told.stderr
    assert len(told.stderr) < 3_000
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize("judgement", JUDGES)
def test_every_judgement_can_be_compiled(judgement: Judgement, tmp_path: Path) -> None:
    settings = Settings(llm=LlmSettings.model_validate({"api_key": "k", "programs_dir": tmp_path}))
    shop = Workshop.open(judgement, settings)

    signature, examples = shop.questions()

    assert judgement_of(signature) == judgement
    assert len(examples) >= 24, "cases that the rules fill without a question teach no model"
    assert set(examples[0].inputs().keys()) == set(signature.input_fields)
    nothing = dspy.Prediction(**dict.fromkeys(signature.output_fields, ""))
    right = [shop.is_right(example, nothing) for example in examples]
    assert sum(right) <= len(right) / 2, "an empty answer teaches nothing"


async def test_a_version_that_nobody_compiled_is_told_at_once(tmp_path: Path) -> None:
    settings = {"engine": "auto", "api_key": "k", "programs_dir": tmp_path, "programs": {"follow_up": "v9"}}

    with pytest.raises(ValueError, match=r"names version 'v9' of follow_up.*it holds: none.*signalbox optimize"):
        await LanguageModel.open(LlmSettings.model_validate(settings))
