"""Parts die, stall and run full in the middle of a turn; clients lie and leave: every turn still ends once.

The tests that break parts share a stack of their own. Nobody waits for it to heal by hand: each test leaves it to the
supervisor, as an operator would.
"""

from __future__ import annotations

import asyncio
import re
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest
import redis

from ops.local.options import StackOptions
from ops.local.stack import Stack
from schemas.events import TERMINAL_TYPES
from tests.acceptance.client import Chat, Reply
from tests.acceptance.stack_tools import events_of, index_slow_endpoint, running_slow_api
from tests.conftest import free_port

pytestmark = pytest.mark.stack

DELAY_MS = 1200
IN_THE_MIDDLE_S = 0.5
STATE_WITHOUT_TTL = re.compile(r"sb:(\{registry\}.*|present:.*|quarantine|dead.*|queue:.*)")
"""What is kept for good: the registry, bounded lists for operators, and the broker's own."""

GARBAGE = (b"", b"\xff\x00", b"null", b"[]", b"{" * 1000, b'{"body": "!!!", "headers": {}, "properties": {}}')


@pytest.fixture(scope="module")
def breakable_api() -> Iterator[str]:
    with running_slow_api(free_port()) as url:
        yield url


@pytest.fixture(scope="module")
def breakable(tmp_path_factory: pytest.TempPathFactory, breakable_api: str) -> Iterator[Stack]:
    options = StackOptions(
        data_dir=tmp_path_factory.mktemp("breakable"),
        shim_port=free_port(),
        demo_port=free_port(),
        environment={"CALLING_ALLOWED_HOSTS": urlsplit(breakable_api).netloc},
    )
    with Stack(options) as running:
        index_slow_endpoint(running, breakable_api, delay_ms=DELAY_MS)
        yield running


def ask_for_price(stack: Stack, ticket: str) -> Reply:
    return Chat(stack.url).say(f"ticket price for ticket {ticket}")


def while_asked(stack: Stack, ticket: str, break_something: Callable[[], object]) -> Reply:
    """Break something in the middle of a turn; return what the person read in the end."""
    with ThreadPoolExecutor(1) as one:
        asked = one.submit(ask_for_price, stack, ticket)
        time.sleep(IN_THE_MIDDLE_S)
        break_something()
        return asked.result(timeout=90)


def ends_of(stack: Stack, turn_id: str) -> list[str]:
    return [event.type for event in events_of(stack, turn_id) if event.type in TERMINAL_TYPES]


def until(is_so: Callable[[], bool], *, within_s: float = 20.0) -> None:
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def is_ready(stack: Stack) -> bool:
    try:
        return httpx.get(f"{stack.url}/readyz", timeout=5, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def calls_of(api: str, ticket: str) -> int:
    return sum(f"ticket={ticket}" in line for line in httpx.get(f"{api}/log", trust_env=False).json())


def a_ticket() -> str:
    return f"T{uuid.uuid4().int % 10**9}"


@pytest.mark.parametrize("part", ["redis", "beat", "worker"])
def test_a_part_that_is_killed_in_the_middle_of_a_turn_costs_only_time(breakable: Stack, part: str) -> None:
    ticket = a_ticket()

    reply = while_asked(breakable, ticket, lambda: breakable.kill(part))

    assert ticket in reply.text
    assert ends_of(breakable, reply.turn_id) == ["completed"]
    until(lambda: is_ready(breakable))


def test_a_killed_door_loses_the_connection_and_not_the_turn(breakable: Stack) -> None:
    with httpx.Client(timeout=60, trust_env=False) as client:
        body = {"chatId": f"door-{uuid.uuid4()}", "message": "ticket price for ticket T7"}
        with client.stream("POST", f"{breakable.url}/orchestrate/stream", json=body) as response:
            turn_id = response.headers["x-turn-id"]
            breakable.kill("shim")
            with pytest.raises(httpx.TransportError):
                response.read()
        until(lambda: is_ready(breakable))
        resumed = client.get(f"{breakable.url}/turns/{turn_id}/events").text

    assert "T7" in resumed
    assert '"content":"END"' in resumed
    assert ends_of(breakable, turn_id) == ["completed"]


def test_a_worker_that_is_told_to_stop_finishes_its_call_and_makes_no_second_one(
    breakable: Stack, breakable_api: str
) -> None:
    ticket = a_ticket()

    reply = while_asked(breakable, ticket, lambda: breakable.kill("worker", signal.SIGTERM))

    assert ticket in reply.text
    assert calls_of(breakable_api, ticket) == 1
    assert ends_of(breakable, reply.turn_id) == ["completed"]
    until(lambda: is_ready(breakable))


def test_a_redis_that_is_frozen_for_five_seconds_delays_the_answer(breakable: Stack, breakable_api: str) -> None:
    ticket = a_ticket()

    def freeze() -> None:
        breakable.kill("redis", signal.SIGSTOP)
        time.sleep(5)
        breakable.kill("redis", signal.SIGCONT)

    reply = while_asked(breakable, ticket, freeze)

    assert ticket in reply.text
    assert calls_of(breakable_api, ticket) == 1
    assert ends_of(breakable, reply.turn_id) == ["completed"]
    until(lambda: is_ready(breakable))


def test_a_full_redis_refuses_newcomers_kindly_and_leaves_no_worker_behind(
    breakable: Stack, breakable_api: str
) -> None:
    ticket, refused = a_ticket(), []

    def fill() -> None:
        with redis.Redis.from_url(breakable.redis_url) as client:
            client.config_set("maxmemory", "1")
            body = {"chatId": f"late-{uuid.uuid4()}", "message": "hello"}
            refused.append(httpx.post(f"{breakable.url}/orchestrate", json=body, timeout=30, trust_env=False))
            time.sleep(2)
            client.config_set("maxmemory", "0")

    reply = while_asked(breakable, ticket, fill)

    assert refused[0].status_code == 503
    assert refused[0].headers["retry-after"]
    assert ends_of(breakable, reply.turn_id) == ["completed"]
    # A worker whose follower had died would still answer, from the endpoint as it was before.
    until(lambda: is_ready(breakable))
    index_slow_endpoint(breakable, breakable_api, delay_ms=DELAY_MS + 1)
    ask_for_price(breakable, "T1")
    asked = httpx.get(f"{breakable_api}/log", trust_env=False).json()
    assert f"delay_ms={DELAY_MS + 1}" in asked[-1]


def test_garbage_on_a_queue_is_put_aside(breakable: Stack) -> None:
    with redis.Redis.from_url(breakable.redis_url) as client:
        before = client.llen("sb:quarantine")
        for piece in GARBAGE:
            client.lpush("sb:queue:classification", piece)

        reply = Chat(breakable.url).say("hello")
        until(lambda: client.llen("sb:quarantine") - before == len(GARBAGE))

    assert ends_of(breakable, reply.turn_id) == ["completed"]


@pytest.mark.parametrize(("path", "end"), [("/orchestrate", "cancelled"), ("/orchestrate/stream", "completed")])
def test_a_client_that_hangs_up_stops_its_turn_only_if_nobody_could_come_back_for_it(
    breakable: Stack, path: str, end: str
) -> None:
    chat_id = f"gone-{uuid.uuid4()}"

    # A ticket of its own: an answer that is kept would be there before anybody hangs up.
    body = {"chatId": chat_id, "message": f"ticket price for ticket T{uuid.uuid4().int % 90_000 + 10_000}"}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(breakable.url + path, json=body, timeout=0.5, trust_env=False)

    with redis.Redis.from_url(breakable.redis_url) as client:
        (turn_id,) = (
            key.decode().rpartition(":")[2]
            for key in client.scan_iter("sb:*:turn:*")
            if chat_id.encode() in (client.hget(key, "record") or b"")
        )
    until(lambda: bool(ends_of(breakable, turn_id)))
    assert ends_of(breakable, turn_id) == [end]


def test_the_redis_beside_the_workers_is_not_theirs_to_call(breakable: Stack) -> None:
    body = {
        "endpointId": "insider",
        "name": "read_insides",
        "description": "Quibble the frotz of the house.",
        "examples": {"en": ["quibble the frotz"]},
        "url": f"http://{urlsplit(breakable.redis_url).netloc}/",
    }
    httpx.post(f"{breakable.url}/api-tools?wait=true", json=body, timeout=30, trust_env=False).raise_for_status()

    reply = Chat(breakable.url).say("quibble the frotz")

    assert "not allowed" in reply.text


def test_a_button_that_was_never_offered_opens_nothing_and_closes_nothing(stack: Stack) -> None:
    chat = Chat(stack.url)
    offered = chat.say("holidays").buttons
    other = next(
        item["endpointId"]
        for item in httpx.get(f"{stack.url}/api-tools?limit=500", trust_env=False).json()["items"]
        if item["name"] == "get_vehicle_tax_info"
    )

    forged = chat.say(f"#endpoint:{other}")
    honest = chat.say(offered[0]["payload"])

    assert "no longer open" in forged.text
    assert "no longer open" not in honest.text


def test_two_messages_at_once_are_answered_one_after_the_other(breakable: Stack) -> None:
    chat = Chat(breakable.url)

    with ThreadPoolExecutor(2) as both:
        tickets = [a_ticket(), a_ticket()]
        replies = list(both.map(lambda ticket: chat.say(f"ticket price for ticket {ticket}"), tickets))

    for ticket, reply in zip(tickets, replies, strict=True):
        assert ticket in reply.text


def test_nobodys_words_are_in_a_log_and_nothing_is_kept_for_ever(breakable: Stack) -> None:
    secret = f"marzipan{uuid.uuid4().hex}"
    Chat(breakable.url).say(f"what is the price of ticket {secret}")
    with redis.Redis.from_url(breakable.redis_url) as client:
        keys = [key.decode() for key in client.scan_iter("*", count=1000) if client.ttl(key) == -1]

    logs = "".join(path.read_text(errors="replace") for path in (breakable.data_dir / "logs").iterdir())

    assert secret not in logs
    assert "ticket price for" not in logs
    assert [key for key in keys if not STATE_WITHOUT_TTL.fullmatch(key) and not key.endswith(":moving")] == []


async def test_a_stop_ends_a_turn_once_in_whatever_phase_it_finds_it(breakable: Stack) -> None:
    async def stop_after(client: httpx.AsyncClient, pause_s: float) -> str:
        body = {"chatId": f"stop-{uuid.uuid4()}", "message": "ticket price for ticket T5"}
        async with client.stream("POST", f"{breakable.url}/orchestrate/stream", json=body) as response:
            turn_id = response.headers["x-turn-id"]
            await asyncio.sleep(pause_s)
            await client.delete(f"{breakable.url}/turns/{turn_id}")
            text = (await response.aread()).decode()
        assert '"content":"END"' in text
        return turn_id

    pauses_s = (0.0, 0.005, 0.02, 0.05, 0.6, 1.2, 1.22, 1.25, 1.3)
    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
        turns = await asyncio.gather(*(stop_after(client, pause_s) for pause_s in pauses_s))

    for turn_id in turns:
        ends = await asyncio.to_thread(ends_of, breakable, turn_id)
        assert len(ends) == 1
        assert ends[0] in ("cancelled", "completed")
