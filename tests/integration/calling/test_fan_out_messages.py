"""The messages of a fan-out are lost or doubled on their queue, in the whole system: the turn ends once, and whole.

Calls have a worker of their own that is stopped for a moment, so that a test finds their messages on the queue.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import redis

from ops.local.options import StackOptions
from ops.local.probes import consuming_workers
from ops.local.stack import Stack
from schemas.events import TERMINAL_TYPES
from tests.acceptance.client import Chat, Reply
from tests.acceptance.stack_tools import events_of
from tests.conftest import free_port
from tests.integration.calling.misbehaving import Misbehaving, running_beside
from tests.integration.calling.stack import Asked, register
from workers.runtime.settings import inherited_environment

pytestmark = pytest.mark.stack

QUEUE = "sb:queue:calling"
ALL_BUT_CALLING = "classification,extraction,formatting,indexing,maintenance"
NO_AUTH = {"kind": "none"}
PARTS = (
    Asked("river", "water level of the river", "/say/411", NO_AUTH),
    Asked("library", "number of books in the library", "/say/522", NO_AUTH),
    Asked("parking", "number of free parking places", "/say/633", NO_AUTH, method="POST"),
)
QUESTION = f"What is {' and what is '.join(f'the {asked.subject}' for asked in PARTS)}?"


@pytest.fixture(scope="module")
def server() -> Iterator[Misbehaving]:
    with running_beside() as found:
        yield found


def environment_of(server: Misbehaving) -> dict[str, str]:
    """A cache that kept the answers would leave no messages to lose."""
    return {
        "CALLING_ALLOWED_HOSTS": f"127.0.0.1:{server.port}",
        "SIGNALBOX_LOG_LEVEL": "warning",
        "ATC_RESPONSE_CACHE_ENABLED": "false",
    }


@contextmanager
def worker(stack: Stack, server: Misbehaving, queues: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker of these queues; it takes messages by the time this yields."""
    name = f"{queues.partition(',')[0]}@signalbox"
    command = ("celery", "-A", "tasks.app", "worker", "-Q", queues, "--hostname", name, "--without-gossip")
    running = subprocess.Popen(
        [sys.executable, "-m", *command, "--without-mingle"],
        env={**inherited_environment(), **environment_of(server), "REDIS_URL": stack.redis_url},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 120
        while name not in consuming_workers(stack.places.broker, only=name):
            assert time.monotonic() < deadline, f"{name} did not start"
        yield running
    finally:
        running.kill()
        running.wait()


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, server: Misbehaving) -> Iterator[Stack]:
    options = StackOptions(
        data_dir=tmp_path_factory.mktemp("messages"),
        shim_port=free_port(),
        workers=0,
        with_demo=False,
        environment=environment_of(server),
    )
    with Stack(options) as running, worker(running, server, ALL_BUT_CALLING):
        for asked in PARTS:
            register(running, server, asked, rendering={"answer": {"en": f"The {asked.subject} is {{value}}."}})
        yield running


@pytest.fixture(scope="module")
def calling(stack: Stack, server: Misbehaving) -> Iterator[subprocess.Popen[bytes]]:
    with worker(stack, server, "calling") as running:
        yield running


def waiting(client: Any) -> list[bytes]:
    """Return the parts on the queue: all, or all but one that a stopped worker had asked for before."""
    deadline = time.monotonic() + 30
    while len(found := client.lrange(QUEUE, 0, -1)) < len(PARTS) - 1:
        assert time.monotonic() < deadline, f"{len(found)} of {len(PARTS)} calls on the queue"
        time.sleep(0.02)
    return list(found)


def asked_while(
    stack: Stack,
    server: Misbehaving,
    calling: subprocess.Popen[bytes],
    meddle: Callable[[Any, list[bytes]], object],
) -> Reply:
    """Ask for all three, meddle with their messages while nobody takes them; return what the person read."""
    server.seen.clear()
    with redis.Redis.from_url(stack.redis_url) as client, ThreadPoolExecutor(1) as one:
        calling.send_signal(signal.SIGSTOP)
        try:
            asked = one.submit(Chat(stack.url).say, QUESTION)
            meddle(client, waiting(client))
        finally:
            calling.send_signal(signal.SIGCONT)
        return asked.result(timeout=90)


def assert_whole(stack: Stack, server: Misbehaving, reply: Reply) -> None:
    assert re.findall(r"411|522|633", reply.text) == ["411", "522", "633"]
    assert sorted(request.target for request in server.seen) == [asked.path for asked in PARTS]
    ends = [event.type for event in events_of(stack, reply.turn_id) if event.type in TERMINAL_TYPES]
    assert ends == ["completed"]


def test_a_part_whose_message_is_lost_is_asked_for_again_and_its_sisters_are_not_called_twice(
    stack: Stack, server: Misbehaving, calling: subprocess.Popen[bytes]
) -> None:
    def lose(client: Any, messages: list[bytes]) -> None:
        assert client.lrem(QUEUE, 1, messages[0]) == 1

    assert_whole(stack, server, asked_while(stack, server, calling, lose))


def test_parts_that_are_handed_out_three_times_are_called_once_and_answered_once(
    stack: Stack, server: Misbehaving, calling: subprocess.Popen[bytes]
) -> None:
    def double(client: Any, messages: list[bytes]) -> None:
        client.lpush(QUEUE, *messages, *messages)

    assert_whole(stack, server, asked_while(stack, server, calling, double))
