from __future__ import annotations

import pytest

from ops.local.supervisor import pause_before_restart


@pytest.mark.parametrize(
    ("failures", "pause_s"), [(0, 0.2), (1, 0.4), (2, 0.8), (5, 6.4), (6, 10.0), (100, 10.0)], ids=str
)
def test_the_pause_before_a_restart_doubles_up_to_ten_seconds(failures: int, pause_s: float) -> None:
    assert pause_before_restart(failures) == pytest.approx(pause_s)
