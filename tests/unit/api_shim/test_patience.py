from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from api_shim.stream import LATE, patience_s
from schemas.turns import TurnRequest

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
TURN = TurnRequest(
    turn_id="0123456789abcdef-0123456789abcdef",
    tenant="default",
    chat_id="chat",
    message="hello",
    accepted_at=NOON,
    deadline_at=NOON + timedelta(seconds=60),
)


@pytest.mark.parametrize(
    ("asked_at_s", "waits_s"), [(0, 15), (60, 10), (69, 1), (70, 0), (100, 0)], ids=lambda seconds: f"{seconds}s"
)
def test_nobody_waits_in_silence_beyond_the_moment_when_a_turn_is_late(asked_at_s: int, waits_s: float) -> None:
    assert timedelta(seconds=10) == LATE

    assert patience_s(TURN, now=NOON + timedelta(seconds=asked_at_s), at_most_s=15) == waits_s
