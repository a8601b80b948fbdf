"""Several calls of one turn, in the whole system: order, how many, part failures, a part that hangs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from ops.local.options import StackOptions
from ops.local.stack import Stack
from schemas.events import CallEnded
from tests.acceptance.client import Chat, Reply
from tests.acceptance.stack_tools import events_of
from tests.conftest import free_port
from tests.integration.calling.misbehaving import Misbehaving, running_beside
from tests.integration.calling.stack import Asked, register

pytestmark = pytest.mark.stack

BATCH_TIMEOUT_S = 3
PER_HOST = 2
NO_AUTH = {"kind": "none"}
RIVER = Asked("river", "water level of the river", "/say/slowly/411", NO_AUTH)
LIBRARY = Asked("library", "number of books in the library", "/say/522", NO_AUTH)
PARKING = Asked("parking", "number of free parking places", "/say/633", NO_AUTH)
FOOTBALL = Asked("football", "score of the football match", "/say/744", NO_AUTH)
HANGING = Asked("ferry", "departure time of the ferry", "/hanging", NO_AUTH)
BROKEN = Asked("museum", "ticket price of the museum", "/status/503", NO_AUTH)


@pytest.fixture(scope="module")
def server() -> Iterator[Misbehaving]:
    with running_beside() as found:
        yield found


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, server: Misbehaving) -> Iterator[Stack]:
    options = StackOptions(
        data_dir=tmp_path_factory.mktemp("fan-out"),
        shim_port=free_port(),
        with_demo=False,
        environment={
            "CALLING_ALLOWED_HOSTS": f"127.0.0.1:{server.port}",
            "MULTI_API_BATCH_TIMEOUT": str(BATCH_TIMEOUT_S),
            "CALLING_MAX_PER_HOST": str(PER_HOST),
            # Calls are counted here, also those that a kept response would spare.
            "ATC_RESPONSE_CACHE_ENABLED": "false",
        },
    )
    with Stack(options) as running:
        for asked in (RIVER, LIBRARY, PARKING, FOOTBALL, HANGING, BROKEN):
            value = {"answer": {"en": f"The {asked.subject} is {{value}}."}}
            register(running, server, asked, rendering=value)
        yield running


def ask(stack: Stack, *wanted: Asked) -> Reply:
    parts = [f"the {asked.subject}" for asked in wanted]
    return Chat(stack.url).say(f"What is {' and what is '.join(parts)}?")


def test_answers_come_in_the_order_of_the_question_however_long_each_call_takes(stack: Stack) -> None:
    reply = ask(stack, RIVER, LIBRARY, PARKING)

    assert re.findall(r"411|522|633", reply.text) == ["411", "522", "633"]


def test_no_more_than_three_are_called_at_once(stack: Stack, server: Misbehaving) -> None:
    before = len(server.seen)
    reply = ask(stack, RIVER, LIBRARY, PARKING, FOOTBALL)

    assert len(server.seen) - before <= 3
    assert len([event for event in events_of(stack, reply.turn_id) if isinstance(event, CallEnded)]) <= 3
    assert "could not find" not in reply.text
    assert "more than 3 at once" in reply.text
    assert FOOTBALL.subject in reply.text.rpartition("more than 3")[2]


def test_a_host_has_no_more_calls_under_way_than_it_has_places(stack: Stack, server: Misbehaving) -> None:
    """Four chats ask three things each of one host, whose places all workers of a process share."""
    left_hanging = server.most_at_once = server.at_once
    with ThreadPoolExecutor(4) as crowd:
        replies = list(crowd.map(lambda _: ask(stack, RIVER, LIBRARY, PARKING), range(4)))

    assert [re.findall(r"411|522|633", reply.text) for reply in replies] == [["411", "522", "633"]] * 4
    assert server.most_at_once - left_hanging == PER_HOST


def test_the_same_call_asked_for_twice_is_made_once(stack: Stack, server: Misbehaving) -> None:
    before = server.count(LIBRARY.path)
    reply = ask(stack, LIBRARY, PARKING, LIBRARY)

    assert server.count(LIBRARY.path) - before == 1
    assert re.findall(r"522|633", reply.text) == ["522", "633"]


def test_a_part_that_fails_is_told_and_costs_the_others_nothing(stack: Stack) -> None:
    reply = ask(stack, LIBRARY, BROKEN)

    assert "522" in reply.text
    assert "ticket price" in reply.text.lower()
    assert len(re.findall(r"\.", reply.text)) >= 2


def test_a_part_that_hangs_is_left_at_the_batch_timeout_and_told(stack: Stack, server: Misbehaving) -> None:
    began = time.monotonic()
    reply = ask(stack, LIBRARY, HANGING, PARKING)
    elapsed_s = time.monotonic() - began

    assert re.findall(r"522|633", reply.text) == ["522", "633"]
    assert "departure time" in reply.text.lower()
    assert BATCH_TIMEOUT_S <= elapsed_s < BATCH_TIMEOUT_S + 5
    assert server.count("/hanging") == 1
    ends = [event for event in events_of(stack, reply.turn_id) if event.type == "completed"]
    assert len(ends) == 1
    assert httpx.get(f"{stack.url}/turns/{reply.turn_id}", trust_env=False).json()["phase"] == "done"
