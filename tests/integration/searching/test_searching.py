"""Search asked from outside a turn, and the commands over the registry: real processes throughout."""

from __future__ import annotations

import json

import pytest
import redis

from tests.integration.searching.conftest import System
from workers.runtime.keys import Keys

HOLIDAYS = "Which public holidays are there in 2026?"


def test_the_door_searches_without_a_model_of_its_own(system: System) -> None:
    answer = system.post("/rag-search/api-tools/search", query=HOLIDAYS, top_k=2, environment="test")

    assert answer.status_code == 200
    (best, *_) = answer.json()["results"]
    assert (best["endpoint_id"], best["confidence"], best["llm_validated"]) == ("holidays", "high", False)
    assert {"name", "description", "cosine_score", "rrf_score"} <= set(best)


def test_nothing_fits_is_an_empty_list_and_no_text_is_a_fault(system: System) -> None:
    nothing = system.post("/rag-search/api-tools/search", query="How do I bake sourdough bread?")
    faulty = system.post("/explain", query="", top_k=500)

    assert (nothing.status_code, nothing.json()) == (200, {"results": []})
    assert faulty.status_code == 422
    assert {field["path"] for field in faulty.json()["fields"]} == {"query", "top_k"}


def test_an_explanation_names_scores_bands_and_the_rule(system: System) -> None:
    told = system.post("/explain", query=HOLIDAYS).json()

    assert (told["layer"], told["rule"], told["chosen"]) == ("service", "high_confidence", ["holidays"])
    bands = {one["endpoint_id"]: one["band"] for one in told["candidates"]}
    assert bands["holidays"] == "high"
    assert bands["tax"] is None
    assert told["limits"] == {"match": 0.4, "clear": 0.6, "lead": 0.05}
    assert told["cost"]["model_calls"] == 0


def test_an_explanation_of_two_requests_shows_its_parts(system: System) -> None:
    told = system.post("/explain", query=f"{HOLIDAYS} And how much is the tax on vehicle 123 ABC?").json()

    assert told["rule"] == "parallel"
    assert set(told["chosen"]) == {"holidays", "tax"}
    assert len(told["parts"]) == 2


@pytest.mark.parametrize("path", ["/explain", "/rag-search/api-tools/search"])
def test_a_secret_in_a_question_is_kept_nowhere(system: System, path: str) -> None:
    key = "sk-proj-abcdefghijklmnop1234"

    told = system.post(path, query=f"My key is {key}. {HOLIDAYS}")

    assert told.status_code == 200
    assert key not in told.text
    with redis.Redis.from_url(system.redis_url, decode_responses=True) as client:
        (asked,) = [
            raw for name in client.scan_iter(Keys().asked("*")) if (raw := client.get(name)) and "My key" in raw
        ]
        assert "[secret removed]" in asked
        client.delete(*client.scan_iter(Keys().asked("*")))
    logs = [log.read_text(encoding="utf-8", errors="replace") for log in system.logs.glob("*.log")]
    assert any(logs)
    assert not any(key in log for log in logs)


def test_an_explanation_tells_what_the_guards_would_hold_back(system: System) -> None:
    told = system.post("/explain", query=f"password: hunter2hunter2 {HOLIDAYS}").json()

    assert (told["layer"], told["rule"], told["chosen"]) == ("ood", "guard:secrets", [])


def test_the_command_shows_the_same(system: System) -> None:
    shown = system.cli("explain", HOLIDAYS, "--url", system.url)

    assert shown.returncode == 0
    assert "rule high_confidence: holidays" in shown.stdout
    assert "get_vehicle_tax" in shown.stdout


def test_too_few_examples_are_told_and_nothing_is_kept(system: System) -> None:
    done = system.cli("calibrate", "--apply")

    assert done.returncode == 1
    assert "9 examples" in done.stderr
    assert "--out-of-domain" in done.stderr


def test_twins_are_told_with_advice(system: System) -> None:
    found = system.cli("similar", "--json", "--at-least", "0.6")

    pairs = json.loads(found.stdout)
    assert {pairs[0]["first"], pairs[0]["second"]} == {"electricity", "power"}
    assert "example questions" in pairs[0]["told"]


def test_another_models_work_is_stale_until_it_is_done_again(system: System) -> None:
    keys = Keys()
    client = redis.Redis.from_url(system.redis_url, decode_responses=True)
    for endpoint_id, raw in client.hgetall(keys.registry()).items():
        older = json.loads(raw) | {"model": "older.averaged.1"}
        client.hset(keys.registry(), endpoint_id, json.dumps(older))
    stale = json.loads(system.cli("endpoints", "--url", system.url, "--json").stdout)

    done = system.cli("reindex", "--wait", "--json")
    after = json.loads(system.cli("endpoints", "--url", system.url, "--json").stdout)
    again = json.loads(system.cli("reindex", "--json").stdout)
    client.close()

    assert {one["state"] for one in stale} == {"stale"}
    assert {one["reason"] for one in stale} == {"indexed by older.averaged.1"}
    assert json.loads(done.stdout) == {"asked": 4, "waited": True, "failed": {}}
    assert {one["state"] for one in after} == {"indexed"}
    assert again["asked"] == 0
