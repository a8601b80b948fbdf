"""What turns ask of models is little, told, and kept for the day's bill."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.models.conftest import Modelled
from workers.runtime.settings import inherited_environment

pytestmark = pytest.mark.stack


def signalbox(house: Modelled, *arguments: str) -> str:
    command = Path(sys.executable).with_name("signalbox")
    environment = inherited_environment() | {
        "REDIS_URL": house.stack.redis_url,
        "SIGNALBOX_DATA_DIR": str(house.stack.data_dir),
    }
    done = subprocess.run([command, *arguments], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_demo_conversations_ask_little_of_a_model(auto_house: Modelled) -> None:
    report = json.loads(signalbox(auto_house, "eval", "calls", "--json"))

    asked = {kind: counts["requests_mean"] for kind, counts in report["kinds"].items()}
    assert report["failed"] == 0
    assert report["requests_mean"] <= 1.2, asked
    assert asked["greeting"] == 0
    assert asked["one_turn"] <= 1.0
    assert sum(sum(one["requests"]) for one in report["conversations"]) == len(auto_house.script.requests)


def test_what_was_asked_stands_in_the_days_usage(dspy_house: Modelled) -> None:
    dspy_house.chat().say("Calculate the vehicle tax for registration number 123ABC for 2026")

    usage = json.loads(signalbox(dspy_house, "usage", "--json"))

    mine = [item for item in usage["items"] if item["judgement"] == "api_answer"]
    assert mine
    assert mine[0]["tenant"] == "default"
    assert mine[0]["calls"] >= 1
    assert mine[0]["prompt_tokens"] >= 11
    assert "requests" in signalbox(dspy_house, "usage")


def test_the_costs_of_a_turn_are_logged_once(dspy_house: Modelled) -> None:
    reply = dspy_house.chat().say("Calculate the vehicle tax for registration number 123ABC for 2026")

    log = dspy_house.stack.data_dir / "logs" / "worker.log"
    metrics: list[dict[str, Any]] = []
    deadline = time.monotonic() + 10
    while not metrics and time.monotonic() < deadline:  # it is written after the turn's end, which we heard
        time.sleep(0.2)
        lines = log.read_text(encoding="utf-8").splitlines()
        metrics = [json.loads(line) for line in lines if '"costs_metric"' in line and reply.turn_id in line]
    assert len(metrics) == 1
    assert metrics[0]["judgements"]["api_answer"]["calls"] == 1
    assert metrics[0]["tokens"] == 18
