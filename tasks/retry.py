"""Which errors are tried again, how often, and after how long.

    queue            tries   pauses between them
    classification   5       0.1 s, doubling to 2 s
    extraction       5       0.1 s, doubling to 2 s
    calling          5       0.1 s, doubling to 2 s
    formatting       6       0.1 s, doubling to 3 s
    indexing         8       0.5 s, doubling to 10 s; given back at the time limit
    maintenance      1       the next round comes anyway

A task waits between tries in its own coroutine, its message unacknowledged. So a retry needs no broker (it is often
the broker that is away), and nothing with a date on it piles up in a worker's memory. All tries together share the
task's time limit, which is shorter than the visibility timeout.
"""

from __future__ import annotations

from dataclasses import dataclass

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from tasks.queues import QueueName
from workers.errors import TransientError

# Rooms translate a store's errors into StoreUnavailable; the last two catch a call that forgot to.
_PASSING = (TransientError, RedisConnectionError, RedisTimeoutError)


@dataclass(frozen=True, kw_only=True)
class RetryRule:
    """How a queue's tasks are tried again. `tries` counts the first one too.

    `is_given_back_late`: at the time limit the message goes back to its queue, where nobody waits for an answer.
    """

    tries: int
    first_pause_s: float = 0.1
    longest_pause_s: float = 2.0
    errors: tuple[type[Exception], ...] = _PASSING
    is_given_back_late: bool = False


TABLE: dict[QueueName, RetryRule] = {
    QueueName.CLASSIFICATION: RetryRule(tries=5),
    QueueName.EXTRACTION: RetryRule(tries=5),
    QueueName.CALLING: RetryRule(tries=5),
    QueueName.FORMATTING: RetryRule(tries=6, longest_pause_s=3.0),
    QueueName.INDEXING: RetryRule(tries=8, first_pause_s=0.5, longest_pause_s=10.0, is_given_back_late=True),
    QueueName.MAINTENANCE: RetryRule(tries=1),
}


def pause_s(rule: RetryRule, *, after_try: int, chance: float) -> float:
    """Return the pause after the n-th failed try (from 1): doubled each time, capped, and spread by chance.

    `chance` in [0, 1) moves the pause within its upper half, so that many tasks that failed together do not return
    together ("equal jitter"; Brooker, AWS Architecture Blog, 2015).
    """
    full: float = min(rule.longest_pause_s, rule.first_pause_s * 2 ** (after_try - 1))
    return full / 2 + chance * full / 2
