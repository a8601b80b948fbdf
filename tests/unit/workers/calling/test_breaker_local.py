from __future__ import annotations

from dataclasses import dataclass

import pytest

from workers.calling.breaker import BreakerRules, Pass, Verdict
from workers.calling.breaker_local import LocalBreakers

RULES = BreakerRules(failures_to_open=3, cooldown_ms=1_000)
URL = "https://a.ee/x"


@dataclass
class Watch:
    """A clock that the test sets."""

    ms: int = 50_000

    def __call__(self) -> int:
        return self.ms


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def local(watch: Watch) -> LocalBreakers:
    return LocalBreakers(RULES, now_ms=watch)


def ask(local: LocalBreakers, owner: str = "a") -> Pass:
    return local.admit(URL, owner=owner, probe_ms=500)[0]


def fail(local: LocalBreakers, times: int, owner: str = "a") -> list[int | None]:
    return [local.report(URL, Verdict.FAILING, owner=owner) for _ in range(times)]


def test_alone_it_opens_after_the_threshold_and_lets_one_probe_go_per_cooldown(
    local: LocalBreakers, watch: Watch
) -> None:
    assert fail(local, 3) == [None, None, 3]
    assert ask(local) is Pass.NO

    watch.ms += 1_000

    assert [ask(local, owner) for owner in "abc"] == [Pass.PROBE, Pass.NO, Pass.NO]
    assert fail(local, 1) == [3]
    assert ask(local, "b") is Pass.NO


def test_it_goes_on_from_where_redis_counted(local: LocalBreakers) -> None:
    local.learn(URL, Pass.GO, failures=2)

    assert fail(local, 1) == [3]


def test_it_keeps_to_the_rest_of_a_cooldown_that_redis_told(local: LocalBreakers, watch: Watch) -> None:
    local.learn(URL, Pass.NO, failures=3, rest_ms=400)

    assert local.admit(URL, owner="a", probe_ms=500) == (Pass.NO, 400, 3)
    watch.ms += 400
    assert ask(local) is Pass.PROBE


def test_what_an_operator_opened_stays_open(local: LocalBreakers, watch: Watch) -> None:
    local.learn(URL, Pass.NO, failures=0)
    watch.ms += 10_000_000

    assert local.admit(URL, owner="a", probe_ms=500) == (Pass.NO, 0, 0)


def test_an_answer_closes_it_and_leaves_nothing_in_memory(local: LocalBreakers, watch: Watch) -> None:
    fail(local, 3)
    watch.ms += 1_000
    ask(local)
    local.report(URL, Verdict.HEALTHY, owner="a")

    assert ask(local) is Pass.GO
    assert local._breakers == {}


@pytest.mark.parametrize(
    ("endings", "told"),
    [
        ([], []),
        ([Verdict.NOTHING], []),
        ([Verdict.HEALTHY], [Verdict.HEALTHY]),
        ([Verdict.FAILING] * 2, [Verdict.FAILING] * 2),
        ([Verdict.FAILING, Verdict.HEALTHY, Verdict.FAILING], [Verdict.HEALTHY, Verdict.FAILING]),
        ([Verdict.FAILING] * 500, [Verdict.FAILING] * 3),
    ],
)
def test_redis_is_told_once_what_it_missed(local: LocalBreakers, endings: list[Verdict], told: list[Verdict]) -> None:
    for verdict in endings:
        local.tell_later(URL, verdict)

    assert list(local.untold(URL)) == told
    assert local.untold(URL) == ()
