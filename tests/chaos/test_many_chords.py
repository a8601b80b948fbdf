"""A thousand fan-outs through one worker: nothing is subscribed to, and nothing is kept for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.chord import Subscriptions, running_bench

pytestmark = [pytest.mark.soak]

CHORDS = 1_000


def test_a_thousand_chords_leave_as_many_subscriptions_as_before_and_no_lasting_key(tmp_path: Path) -> None:
    with running_bench(tmp_path) as bench:
        before = Subscriptions.of(bench.client)
        bench.chords(CHORDS)
        after = Subscriptions.of(bench.client)
        results = list(bench.client.scan_iter(match="sb:result:*", count=10_000))
        lasting = [key for key in results if bench.client.ttl(key) < 0]

    print(f"\n{CHORDS} chords: before {before}, after {after}, {len(results)} results kept for a while")
    assert after == before
    assert after.subscribers == 0
    assert results
    assert lasting == []
