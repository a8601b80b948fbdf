"""The whole system with endpoints of every kind of authentication: nothing it writes, sends or keeps holds a secret."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

import httpx
import pytest

from ops.local.options import StackOptions
from ops.local.stack import Stack
from tests.acceptance.client import Chat, Reply
from tests.conftest import free_port
from tests.integration.calling.misbehaving import Misbehaving, running_beside
from tests.integration.calling.prying import (
    everything_in,
    everything_posted,
    everything_told_to,
    everything_under,
    spellings,
)
from tests.integration.calling.stack import ACCESS_TOKEN, SECRETS, register, with_secrets
from workers.runtime.tracing import ids_of

pytestmark = pytest.mark.stack

PATTERNS = {name: spellings(secret) for name, secret in SECRETS.items()} | {"token": spellings(ACCESS_TOKEN)}
CORE = 12
"""So many first letters of a secret are enough to be found out."""
CORES = {name: spellings(secret[:CORE]) for name, secret in SECRETS.items()}


@pytest.fixture
def server() -> Iterator[Misbehaving]:
    with running_beside() as found:
        yield found


@pytest.fixture
def spans() -> Iterator[tuple[str, list[bytes]]]:
    with everything_posted() as collector:
        yield collector


@pytest.fixture
def stack(tmp_path: Path, server: Misbehaving, spans: tuple[str, list[bytes]]) -> Iterator[Stack]:
    (tmp_path / "scratch").mkdir()
    options = StackOptions(
        data_dir=tmp_path,
        shim_port=free_port(),
        with_demo=False,
        environment={
            **SECRETS,
            "CALLING_ALLOWED_HOSTS": f"127.0.0.1:{server.port}",
            "CALLING_TIMEOUT_S": "2",
            "SIGNALBOX_LOG_LEVEL": "debug",
            "QUEUE_METRICS_PORT": str(free_port()),
            "QUEUE_TRACES_URL": spans[0],
            # The vector engine's files lie where temporary files do.
            "TMPDIR": str(tmp_path / "scratch"),
        },
    )
    with Stack(options) as running:
        yield running


def converse(stack: Stack, server: Misbehaving) -> list[Reply]:
    """Register every endpoint, and ask for each in one chat, then for two in one message in another."""
    endpoints = with_secrets(server)
    for asked in endpoints:
        register(stack, server, asked)
    one = Chat(stack.url)
    replies = [one.say(asked.question) for asked in endpoints]
    together = f"What is the {endpoints[0].subject} and what is the {endpoints[5].subject}?"
    return [*replies, Chat(stack.url).say(together)]


def shown_to_people(stack: Stack, replies: list[Reply]) -> str:
    """Everything the door tells about these turns and endpoints."""
    paths = ["/api-tools", "/metrics", "/readyz", "/openapi.json"]
    paths += [f"/turns/{reply.turn_id}{tail}" for reply in replies for tail in ("", "/events")]
    worker = f"http://127.0.0.1:{stack.options.environment['QUEUE_METRICS_PORT']}/metrics"
    with httpx.Client(base_url=stack.url, timeout=30, trust_env=False) as client:
        paths.append(worker)
        return "\n".join(client.get(path).text for path in paths) + "\n".join(reply.text for reply in replies)


def traces(bodies: list[bytes], replies: list[Reply]) -> bytes:
    """Return all spans that were sent, once the last turn's own is among them, and its tasks and calls."""
    trace_id, span_id = ids_of(replies[-1].turn_id)
    own = trace_id.to_bytes(16, "big") + b"\x12\x08" + span_id.to_bytes(8, "big")  # as protobuf writes a span's ids
    ends = time.monotonic() + 20
    while own not in (sent := b"\n".join(bodies)) and time.monotonic() < ends:
        time.sleep(0.1)
    assert own in sent
    assert sent.count(trace_id.to_bytes(16, "big")) >= 6, "two calls, and the tasks around them"
    assert b"signalbox.outcome" in sent
    return sent


def test_no_log_event_payload_span_key_file_or_answer_of_a_whole_run_holds_a_secret(
    stack: Stack, server: Misbehaving, spans: tuple[str, list[bytes]]
) -> None:
    with everything_told_to(stack.redis_url) as told:
        replies = converse(stack, server)
        shown = shown_to_people(stack, replies)
    traced = traces(spans[1], replies)
    kept = everything_in(stack.redis_url)
    files = dict(everything_under(stack.data_dir))

    sent = b"\n".join(repr(request).encode() for request in server.seen)
    unsent = [name for name, pattern in PATTERNS.items() if not pattern.search(sent)]
    assert unsent == [], "the server received each of them"
    heard = b"".join(told)
    assert all(reply.turn_id.encode() in heard for reply in replies)
    assert b"signalbox.call" in heard
    assert any(
        reply.turn_id.encode() in data for reply in replies for path, data in files.items() if "logs" in str(path)
    )
    assert any("signalbox-index" in str(path) for path in files), "the vector engine's files are among them"

    searched: dict[str, bytes] = {"spans": traced, "commands": heard, "keys": kept.encode(), "shown": shown.encode()}
    searched |= {str(path): data for path, data in files.items()}
    found = [
        (name, where)
        for where, data in searched.items()
        for name, pattern in (*PATTERNS.items(), *CORES.items())
        if pattern.search(data)
    ]
    assert found == []


@pytest.mark.parametrize("name", SECRETS)
def test_the_search_would_find_each_secret_in_every_spelling(name: str) -> None:
    """What finds nothing must be able to find something."""
    secret, pattern = SECRETS[name], PATTERNS[name]
    for text in (secret, quote(secret, safe=""), quote_plus(secret), repr(secret)[1:-1]):
        assert pattern.search(f"before {text} after".encode()), text
    for before in ("", "a", "ab", "signalbox:"):
        assert pattern.search(base64.b64encode(f"{before}{secret} tail".encode()))
    assert not pattern.search(secret[:-1].encode())
