from __future__ import annotations

import pytest
from pydantic import SecretStr

from workers.runtime.settings import CallingSettings, QueueSettings, RoutingSettings, Settings


def test_a_visibility_timeout_within_the_time_limit_is_refused_by_the_name_of_its_variable() -> None:
    with pytest.raises(ValueError, match="QUEUE_VISIBILITY_TIMEOUT_S must exceed QUEUE_TASK_TIME_LIMIT_S"):
        Settings(queue=QueueSettings(visibility_timeout_s=60, task_time_limit_s=60))


def test_results_that_expire_before_a_batch_may_end_are_refused() -> None:
    with pytest.raises(ValueError, match="QUEUE_RESULT_EXPIRES_S must exceed MULTI_API_BATCH_TIMEOUT"):
        Settings(queue=QueueSettings(result_expires_s=30), calling=CallingSettings(MULTI_API_BATCH_TIMEOUT=30))


@pytest.mark.parametrize("key", [None, SecretStr(""), SecretStr("too short")])
def test_tokens_that_could_not_be_sealed_are_refused_at_the_start(key: SecretStr | None) -> None:
    calling = CallingSettings(user_token_hosts="api.example.ee", user_token_key=key)  # noqa: S106 - a list of hosts

    with pytest.raises(ValueError, match="CALLING_USER_TOKEN_HOSTS needs CALLING_USER_TOKEN_KEY"):
        Settings(calling=calling)


def test_as_shipped_three_endpoints_are_called_at_once_and_have_thirty_seconds_together() -> None:
    assert RoutingSettings().max_endpoints == 3
    assert CallingSettings().batch_timeout_s == 30.0
