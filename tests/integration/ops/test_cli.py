"""The command line against a real door and a real Redis."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import redis.asyncio as aioredis

from schemas.calls import CallFailed, CallSucceeded, FailureReason
from schemas.ids import chat_key, new_turn_id
from schemas.turns import TurnRequest
from tasks.deadletters import DeadLetter, DeadLetters
from tests.conftest import free_port
from tests.integration.ops.conftest import Cli
from workers.calling.outcomes import OutcomeStore
from workers.runtime.keys import Keys
from workers.runtime.settings import TurnSettings
from workers.sessions.turns import TurnStore

NOW = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)
CATALOGUE = """
- {endpointId: e-1, name: good_one, description: The first., url: "https://api.example.ee/1", params: []}
- {endpointId: e-2, name: bad_one, description: The second., url: "not a url"}
- {endpointId: e-3, name: other_one, description: The third., url: "https://api.example.ee/3"}
"""


def _catalogue(folder: Path) -> str:
    file = folder / "catalogue.yaml"
    file.write_text(CATALOGUE, encoding="utf-8")
    return str(file)


@pytest.mark.usefixtures("clean_redis")
async def test_one_bad_endpoint_is_told_and_stops_no_other(door: str, cli: Cli, tmp_path: Path) -> None:
    indexed = cli("index", _catalogue(tmp_path), "--url", door, "--json")
    listed = cli("endpoints", "--url", door, "--json")

    assert indexed.returncode == 1
    told = {one["name"]: one for one in json.loads(indexed.stdout)}
    assert {name: one["ok"] for name, one in told.items()} == {"good_one": True, "bad_one": False, "other_one": True}
    assert "url" in told["bad_one"]["reason"]
    assert {one["endpointId"] for one in json.loads(listed.stdout)} == {"e-1", "e-3"}


@pytest.mark.usefixtures("clean_redis")
async def test_an_endpoint_is_shown_and_deleted(door: str, cli: Cli, tmp_path: Path) -> None:
    cli("index", _catalogue(tmp_path), "--url", door)

    shown = cli("endpoints", "show", "e-1", "--url", door)
    deleted = cli("endpoints", "delete", "e-1", "--url", door)
    again = cli("endpoints", "delete", "e-1", "--url", door)

    assert "good_one" in shown.stdout
    assert deleted.returncode == 0
    assert again.returncode == 1
    assert "404" in again.stderr


def test_a_system_that_is_away_is_exit_code_three(cli: Cli) -> None:
    nowhere = free_port()

    asked = cli("ask", "hello", "--url", f"http://127.0.0.1:{nowhere}")
    failed = cli("failed", "list", REDIS_URL=f"redis://127.0.0.1:{nowhere}/0")

    assert (asked.returncode, failed.returncode) == (3, 3)
    assert "signalbox up" in asked.stderr
    assert "REDIS_URL" in failed.stderr


def test_a_bad_setting_is_named_by_its_variable(cli: Cli) -> None:
    told = cli("failed", "list", QUEUE_CONCURRENCY="many")

    assert told.returncode == 1
    assert "QUEUE_CONCURRENCY" in told.stderr
    assert "Traceback" not in told.stderr


async def test_a_turn_is_shown_with_its_record_and_its_events(
    clean_redis: aioredis.Redis, redis_url: str, cli: Cli
) -> None:
    chat = chat_key("default", "c-1")
    request = TurnRequest(
        turn_id=new_turn_id(chat),
        tenant="default",
        chat_id="c-1",
        message="tere",
        accepted_at=NOW,
        deadline_at=NOW + timedelta(minutes=1),
    )
    await TurnStore(clean_redis, Keys(), TurnSettings()).admit(request, on_busy="enqueue")

    shown = json.loads(cli("turn", "show", request.turn_id, "--json", REDIS_URL=redis_url).stdout)
    text = cli("turn", "show", request.turn_id, REDIS_URL=redis_url).stdout

    assert shown["turn"]["request"]["message"] == "tere"
    assert shown["events"][0]["type"] == "phase"
    assert request.turn_id in text
    assert "tere" in text


async def test_a_result_too_long_to_be_said_is_kept_whole_by_its_calls_id(
    clean_redis: aioredis.Redis, redis_url: str, cli: Cli
) -> None:
    turn_id = new_turn_id(chat_key("default", "c"))
    request = TurnRequest(
        turn_id=turn_id, tenant="default", chat_id="c", message="rows", accepted_at=NOW, deadline_at=NOW
    )
    await TurnStore(clean_redis, Keys(), TurnSettings()).admit(request, on_busy="enqueue")
    rows = [{"name": f"Library {number}", "books": number} for number in range(4_000)]
    answered = CallSucceeded(call_id=f"{turn_id}:0", status=200, body=rows)
    refused = CallFailed(call_id=f"{turn_id}:1", reason=FailureReason.UNKNOWN)
    for outcome in (answered, refused):
        await OutcomeStore(clean_redis, Keys()).record(turn_id, outcome)

    shown = json.loads(cli("turn", "show", turn_id, "--json", REDIS_URL=redis_url).stdout)
    text = cli("turn", "show", turn_id, REDIS_URL=redis_url).stdout

    assert shown["outcomes"][0]["body"] == rows
    assert "unknown" in text
    assert "Library 3999" not in text


def test_what_is_no_turn_is_told_apart_from_what_is_forgotten(cli: Cli, redis_url: str) -> None:
    nonsense = cli("turn", "show", "nonsense", REDIS_URL=redis_url)
    forgotten = cli("turn", "show", new_turn_id(chat_key("default", "c")), REDIS_URL=redis_url)

    assert "is no turn id" in nonsense.stderr
    assert "TURN_KEPT_S" in forgotten.stderr
    assert (nonsense.returncode, forgotten.returncode) == (1, 1)


async def test_dead_letters_are_listed_shown_retried_once_and_dropped(
    clean_redis: aioredis.Redis, redis_url: str, cli: Cli
) -> None:
    letter = DeadLetter(
        letter_id="ERR-20261201-100000-ABCD",
        task_id="t-1",
        task="signalbox.index",
        queue="indexing",
        args=("e-1",),
        error_type="IndexRefused",
        error_message="its description is empty",
        traceback="Traceback: here",
        at=NOW,
    )
    await DeadLetters(clean_redis, Keys(), kept=10).record(letter)

    listed = json.loads(cli("failed", "list", "--json", REDIS_URL=redis_url).stdout)
    shown = cli("failed", "show", letter.letter_id, REDIS_URL=redis_url).stdout
    retried = [cli("failed", "retry", letter.letter_id, "--json", REDIS_URL=redis_url).stdout for _ in range(2)]
    waiting = await clean_redis.llen("sb:queue:indexing")
    dropped = [cli("failed", "drop", letter.letter_id, REDIS_URL=redis_url).returncode for _ in range(2)]

    assert (listed["total"], listed["items"][0]["letter_id"]) == (1, letter.letter_id)
    assert "Traceback: here" in shown
    assert retried[0] == retried[1]
    assert waiting == 1
    assert dropped == [0, 1]


def test_the_doctor_finds_what_is_missing_and_says_what_to_do(cli: Cli) -> None:
    nowhere = f"redis://127.0.0.1:{free_port()}/0"

    told = cli("doctor", "--json", REDIS_URL=nowhere)

    findings = {one["what"]: one for one in json.loads(told.stdout)}
    assert told.returncode == 1
    assert findings["Redis"]["level"] == "fault"
    assert "unset REDIS_URL" in findings["Redis"]["remedy"]
    assert findings["vector engine"]["level"] == "ok"


async def test_the_doctor_warns_of_a_server_that_evicts_messages(
    clean_redis: aioredis.Redis, redis_url: str, cli: Cli
) -> None:
    def memory() -> dict[str, str]:
        told = json.loads(cli("doctor", "--json", REDIS_URL=redis_url).stdout)
        found: dict[str, str] = next(one for one in told if one["what"] == "Redis memory")
        return found

    await clean_redis.config_set("maxmemory-policy", "allkeys-lru")
    try:
        evicting = memory()
    finally:
        await clean_redis.config_set("maxmemory-policy", "noeviction")

    assert evicting["level"] == "fault"
    assert "REDIS_URL has allkeys-lru" in evicting["found"]
    assert "noeviction" in evicting["remedy"]
    assert memory()["level"] == "ok"


def test_the_command_starts_without_loading_what_it_does_not_need(repository: Path) -> None:
    code = (
        "import sys, ops.cli.main; print(sorted(set(sys.modules) & {'celery', 'httpx', 'redis', 'numpy', 'pydantic'}))"
    )

    shown = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == "[]"
