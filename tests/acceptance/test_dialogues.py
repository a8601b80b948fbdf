"""Scripted dialogues in three languages, over HTTP, through the real queues; each file of `dialogues` is one test."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from ops.local.catalogue import index_all
from ops.local.options import StackOptions
from ops.local.stack import Stack
from tests.acceptance.script import Play, read_script
from tests.acceptance.town_api import Entries, TownApi, running_town_api
from tests.conftest import free_port

pytestmark = pytest.mark.stack

FOLDER = Path(__file__).parent / "dialogues"
_TRIES = 5
FILES = sorted(FOLDER.glob("*/*.yaml"))


@pytest.fixture(scope="module")
def api() -> Iterator[TownApi]:
    with running_town_api() as running:
        yield running


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, api: TownApi) -> Iterator[Stack]:
    options = StackOptions(
        data_dir=tmp_path_factory.mktemp("dialogues"),
        shim_port=free_port(),
        with_demo=False,
        # Every script says which calls the API must see, so none may be answered from another script's.
        environment={
            "CALLING_ALLOWED_HOSTS": "127.0.0.1",
            "SHIM_INDEX_WAIT_S": "50",
            "ATC_RESPONSE_CACHE_ENABLED": "false",
        },
    )
    with Stack(options) as running:
        _register(running.url, api.entries)
        yield running


def _register(url: str, entries: Entries) -> None:
    """Register all; on a busy machine an entry may need more patience than one request has."""
    left = list(entries)
    for _ in range(_TRIES):
        late = {indexed.name for indexed in index_all(url, left, wait=True) if not indexed.is_good}
        left = [entry for entry in left if entry["name"] in late]
    assert not left, f"not searchable: {[entry['name'] for entry in left]}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_dialogue(stack: Stack, api: TownApi, file: Path) -> None:
    script = read_script(file, now=datetime.now(UTC))

    Play(url=stack.url, chat_id=f"script-{uuid.uuid4()}", api=api, script=script).hold()


def test_a_test_request_knows_nothing_of_the_one_before_it(stack: Stack, api: TownApi) -> None:
    """`/orchestrate/test` wipes its session first: what the first one asks for, the second one does not answer."""
    before = len(api.seen)
    told = [
        httpx.post(f"{stack.url}/orchestrate/test", json={"message": message}, timeout=60, trust_env=False).json()
        for message in ("Calculate the vehicle tax of 123ABC", "2026", "Calculate the vehicle tax of 456DEF")
    ]

    assert "tax year" in told[0]["content"]
    assert "51.56" not in told[1]["content"]
    assert "tax year" in told[2]["content"]
    assert api.seen[before:] == []


def test_there_are_twenty_dialogues_in_each_language() -> None:
    spoken = [read_script(file, now=datetime.now(UTC)).language for file in FILES]

    assert all(spoken.count(language) >= 20 for language in ("en", "et", "ru"))
    assert [file.parent.name for file in FILES] == list(spoken)
