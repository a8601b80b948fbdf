from __future__ import annotations

import json
import subprocess
import sys

import pytest

from workers.runtime.logs import redact


@pytest.mark.parametrize(
    ("written", "logged"),
    [
        ("redis://:s3cret@host:6379/0", "redis://[redacted]@host:6379/0"),
        ("amqp://user:pa55@rabbit//", "amqp://[redacted]@rabbit//"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [redacted]"),
        ("https://api.example/v1?api_key=abc123&page=2", "https://api.example/v1?api_key=[redacted]&page=2"),
        ("https://api.example/holidays?year=2026", "https://api.example/holidays?year=2026"),
        ("a basic question", "a basic question"),
    ],
    ids=["redis", "amqp", "bearer", "query", "harmless url", "harmless words"],
)
def test_secrets_inside_text_are_hidden(written: str, logged: str) -> None:
    assert redact(written) == logged


def test_what_a_secret_name_holds_is_hidden_at_any_depth() -> None:
    value = {"headers": [{"X-Api-Key": "abc", "Cookie": "d"}], "tokens": 12, "max_tokens": 9, "password": "e"}

    assert redact(value) == {
        "headers": [{"X-Api-Key": "[redacted]", "Cookie": "[redacted]"}],
        "tokens": 12,
        "max_tokens": 9,
        "password": "[redacted]",
    }


def test_lines_are_json_for_our_loggers_and_for_everybody_elses() -> None:
    script = """
import logging, structlog
from workers.runtime.logs import configure_logs
configure_logs("info"); configure_logs("info")
structlog.contextvars.bind_contextvars(turn_id="t1")
structlog.get_logger("ours").info("call_finished", api_token="s3cret", elapsed_ms=12)
structlog.get_logger("ours").debug("not_shown")
logging.getLogger("theirs").warning("to %s", "redis://u:p@h/0")
try:
    raise ValueError("Bearer abcdefghij")
except ValueError:
    structlog.get_logger("ours").exception("broke")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    ours, theirs, broke = (json.loads(line) for line in done.stderr.splitlines())

    assert (ours["event"], ours["turn_id"], ours["elapsed_ms"]) == ("call_finished", "t1", 12)
    assert ours["api_token"] == "[redacted]"  # noqa: S105 - it is not one
    assert (theirs["event"], theirs["logger"]) == ("to redis://[redacted]@h/0", "theirs")
    assert "ValueError" in broke["exception"]
    assert "abcdefghij" not in broke["exception"]
