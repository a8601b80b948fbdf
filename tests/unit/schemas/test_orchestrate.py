from __future__ import annotations

import pytest

from schemas.orchestrate import OrchestrateRequest, TestRequest


@pytest.mark.parametrize("said", ["test", "testing"])
@pytest.mark.parametrize("model", [OrchestrateRequest, TestRequest])
def test_both_spellings_of_the_test_environment_mean_the_same(
    model: type[OrchestrateRequest | TestRequest], said: str
) -> None:
    assert model.model_validate({"chatId": "c", "message": "x", "environment": said}).environment == "test"


def test_an_environment_that_nobody_has_is_refused() -> None:
    with pytest.raises(ValueError, match="environment"):
        OrchestrateRequest.model_validate({"chatId": "c", "message": "x", "environment": "staging"})
