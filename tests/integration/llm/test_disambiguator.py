"""The disambiguator against a scripted model: only a named candidate is believed, and no fault reaches the turn."""

from __future__ import annotations

import pytest

from schemas.endpoints import Endpoint
from schemas.routing import Candidate
from tests.integration.llm.scripted import scripted_model
from workers.classification.disambiguator import Disambiguator, NoVerdict
from workers.llm.model import LanguageModel
from workers.runtime.settings import LlmSettings


def a_candidate(endpoint_id: str) -> Candidate:
    endpoint = Endpoint(endpoint_id=endpoint_id, name=f"get_{endpoint_id}", description="…", url="https://example.org")
    return Candidate(endpoint=endpoint, cosine=0.5, fused=0.5, confidence="medium")


CANDIDATES = (a_candidate("tax"), a_candidate("fine"))


def reply(value: str) -> str:
    return f"[[ ## best_endpoint_id ## ]]\n{value}\n\n[[ ## completed ## ]]"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (reply("fine"), "fine"),
        (reply('"fine".'), "fine"),
        (reply("none"), NoVerdict.NONE_FITS),
        (reply("delete_everything"), NoVerdict.UNSURE),
        (503, NoVerdict.UNSURE),
    ],
    ids=["named", "quoted", "none", "invented", "model away"],
)
async def test_the_models_word_counts_only_when_it_names_a_candidate(
    line: str | int, expected: str | NoVerdict
) -> None:
    with scripted_model(line) as script:
        model = await LanguageModel.open(
            LlmSettings.model_validate(
                {"engine": "auto", "model": "openai/m", "api_base": script.base_url, "api_key": "k"}
            )
        )

        picked = await Disambiguator(model).pick("how much do I pay?", CANDIDATES)

    if isinstance(picked, Candidate):
        assert (picked.endpoint.endpoint_id, picked.llm_validated) == (expected, True)
    else:
        assert picked is expected
    assert "how much do I pay?" in str(script.requests[0])
