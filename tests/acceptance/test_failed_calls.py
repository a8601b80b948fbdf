"""Every way in which a call can end is told in the person's language: over HTTP, through the queues."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest

from ops.local.options import StackOptions
from ops.local.stack import Stack
from schemas.calls import FailureReason
from schemas.endpoints import LANGUAGES
from schemas.events import CallEnded
from tests.acceptance.client import Chat, Reply
from tests.acceptance.failing_api import LANDING, SHORT_WAIT_S, FailingApi, running_failing_api
from tests.acceptance.stack_tools import events_of
from tests.conftest import free_port
from workers.messages.catalog import text

pytestmark = pytest.mark.stack

QUESTIONS = {
    "en": "opening hours of the swimming hall",
    "et": "ujula lahtiolekuajad",
    "ru": "часы работы бассейна",
}
# How the endpoint is registered for each end; what is not said is a GET at the API's address.
WAYS: dict[FailureReason, dict[str, object]] = {
    FailureReason.CLIENT_ERROR: {"path": "/denied"},
    FailureReason.SERVER_ERROR: {"path": "/broken"},
    FailureReason.TIMED_OUT: {"path": "/slow", "timeoutS": 0.2},
    FailureReason.UNREACHABLE: {"port": "nobody's"},
    FailureReason.REDIRECTED: {"path": "/moved"},
    FailureReason.BREAKER_OPEN: {"path": "/breaking"},
    FailureReason.RATE_LIMITED: {"path": "/slow_down"},
    FailureReason.TOO_LARGE: {"path": "/large"},
    FailureReason.REFUSED: {"host": "127.0.0.2"},
    FailureReason.AUTH_MISSING: {"auth": {"kind": "bearer", "token": "env:SECRET_THAT_NOBODY_SET"}},
    FailureReason.UNKNOWN: {"path": "/hang_up", "method": "POST"},
}
# Three languages with three tries each stay below it; a fourth question does not.
FAILURES_TO_OPEN = 10


@pytest.fixture(scope="module")
def api() -> Iterator[FailingApi]:
    with running_failing_api() as running:
        yield running


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    options = StackOptions(
        data_dir=tmp_path_factory.mktemp("failing"),
        shim_port=free_port(),
        demo_port=free_port(),
        environment={
            "CALLING_ALLOWED_HOSTS": "127.0.0.1",
            "CALLING_BREAKER_FAILURES_TO_OPEN": str(FAILURES_TO_OPEN),
        },
    )
    with Stack(options) as running:
        yield running


def register(stack: Stack, api: FailingApi, way: dict[str, object]) -> None:
    """Register the one endpoint anew; it is searchable in its new form when this returns."""
    told = {key: value for key, value in way.items() if key not in ("path", "port", "host")}
    address = f"{way.get('host', '127.0.0.1')}:{free_port() if 'port' in way else api.server_port}"
    body = {
        "endpointId": "7b0d7c52-0000-4000-8000-000000000001",
        "name": "get_pool_hours",
        "description": "Opening hours of the swimming hall.",
        "titles": QUESTIONS,
        "examples": {language: [question] for language, question in QUESTIONS.items()},
        "url": f"http://{address}{way.get('path', '/fine')}",
        **told,
    }
    reply = httpx.post(f"{stack.url}/api-tools?wait=true", json=body, timeout=30, trust_env=False)
    assert reply.status_code in (200, 201), reply.text


def reason_of(stack: Stack, reply: Reply) -> str | None:
    (ended,) = (event for event in events_of(stack, reply.turn_id) if isinstance(event, CallEnded))
    return ended.reason


@pytest.mark.parametrize("reason", FailureReason)
def test_a_call_that_failed_is_told_in_each_language(stack: Stack, api: FailingApi, reason: FailureReason) -> None:
    register(stack, api, WAYS[reason])
    if reason is FailureReason.BREAKER_OPEN:
        while len(api.moments("/breaking")) < FAILURES_TO_OPEN:
            Chat(stack.url).say(QUESTIONS["en"])
    before = len(api.requests)

    for language in LANGUAGES:
        reply = Chat(stack.url).say(QUESTIONS[language])

        assert reason_of(stack, reply) == reason
        sentence = text(f"call.{reason}", language)
        assert reply.text.startswith(sentence)
        # What an API says about itself is shown for 4xx alone.
        assert reply.text == sentence or reason is FailureReason.CLIENT_ERROR

    if reason in (FailureReason.BREAKER_OPEN, FailureReason.REFUSED, FailureReason.AUTH_MISSING):
        assert len(api.requests) == before
    if reason is FailureReason.UNKNOWN:
        assert len(api.moments("/hang_up")) == len(LANGUAGES), "what may have been obeyed is not sent again"


def test_a_redirect_is_not_followed_even_on_its_own_host(stack: Stack, api: FailingApi) -> None:
    register(stack, api, WAYS[FailureReason.REDIRECTED])

    Chat(stack.url).say(QUESTIONS["en"])

    assert api.moments("/moved")
    assert not api.moments(LANDING)


@pytest.mark.parametrize("path", ["/busy_once", "/away_once"], ids=["429", "503"])
def test_an_api_that_asks_for_a_short_wait_is_asked_again_after_it(stack: Stack, api: FailingApi, path: str) -> None:
    register(stack, api, {"path": path})

    reply = Chat(stack.url).say(QUESTIONS["en"])

    assert "Open until nine." in reply.text
    first, second = api.moments(path)
    assert second - first >= SHORT_WAIT_S


def test_a_wait_beyond_the_deadline_is_not_waited_for(stack: Stack, api: FailingApi) -> None:
    register(stack, api, WAYS[FailureReason.RATE_LIMITED])
    before, started = len(api.moments("/slow_down")), time.monotonic()

    reply = Chat(stack.url).say(QUESTIONS["en"])

    assert reply.text == text("call.rate_limited", "en")
    assert len(api.moments("/slow_down")) == before + 1
    assert time.monotonic() - started < 10
