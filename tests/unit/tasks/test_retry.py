from __future__ import annotations

import pytest

from tasks.queues import QueueName
from tasks.retry import TABLE, RetryRule, pause_s
from workers.errors import EndpointUnknown, StaleTurn, StoreUnavailable
from workers.runtime.settings import QueueSettings

RULE = RetryRule(tries=9, first_pause_s=0.1, longest_pause_s=2.0)


@pytest.mark.parametrize(("after_try", "longest"), [(1, 0.1), (2, 0.2), (3, 0.4), (5, 1.6), (6, 2.0), (60, 2.0)])
def test_pauses_double_up_to_the_longest(after_try: int, longest: float) -> None:
    assert pause_s(RULE, after_try=after_try, chance=1.0) == pytest.approx(longest)


def test_chance_moves_a_pause_within_its_upper_half() -> None:
    assert pause_s(RULE, after_try=3, chance=0.0) == pytest.approx(0.2)
    assert pause_s(RULE, after_try=3, chance=0.5) == pytest.approx(0.3)


def test_every_queue_has_a_rule() -> None:
    assert set(TABLE) == set(QueueName)


@pytest.mark.parametrize("queue", list(QueueName))
def test_all_pauses_of_a_queue_fit_into_the_time_limit(queue: QueueName) -> None:
    rule = TABLE[queue]

    longest = sum(pause_s(rule, after_try=n, chance=1.0) for n in range(1, rule.tries))

    assert longest < QueueSettings().task_time_limit_s


def test_only_passing_errors_are_tried_again() -> None:
    errors = TABLE[QueueName.CALLING].errors

    assert issubclass(StoreUnavailable, errors)
    assert not issubclass(EndpointUnknown, errors)
    assert not issubclass(StaleTurn, errors)
