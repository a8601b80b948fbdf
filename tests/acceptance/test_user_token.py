"""A person's own token goes from the frontend's request to the APIs that may have it, and shows up nowhere else."""

from __future__ import annotations

import base64
import json
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from ops.local.options import StackOptions
from ops.local.stack import Stack
from schemas.endpoints import LANGUAGES
from tests.acceptance.client import Chat, Reply, read_reply
from tests.acceptance.stack_tools import events_of
from tests.conftest import free_port
from tests.integration.calling.prying import everything_in, everything_told_to
from workers.messages.catalog import text

pytestmark = pytest.mark.stack

TOKEN = "eyJhbGciOiJIUzI1NiJ9.persons-very-own.c2lnbmF0dXJl"  # noqa: S105 - made up
FORMS = (TOKEN, "persons-very-own", base64.b64encode(TOKEN.encode()).decode(), TOKEN.encode().hex())
BILL = {"en": "my electricity bill", "et": "minu elektriarve", "ru": "мой счёт за электричество"}
TWO_THINGS = "Show my electricity bill, and list my appointments with the dentist"
VISITS = {"en": "my appointments with the dentist", "et": "minu hambaarsti ajad", "ru": "мои записи к стоматологу"}


class _Api(BaseHTTPRequestHandler):
    server: EchoingApi

    def do_GET(self) -> None:
        """Tell the caller what it brought."""
        brought = self.headers.get("Authorization", "")
        self.server.brought.append((self.path, brought))
        data = json.dumps({"status": "open", "you_sent": brought}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Stay silent."""


class EchoingApi(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Api)
        self.brought: list[tuple[str, str]] = []


@pytest.fixture(scope="module")
def api() -> Iterator[EchoingApi]:
    server = EchoingApi()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join(timeout=5)
    server.server_close()


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, api: EchoingApi) -> Iterator[Stack]:
    options = StackOptions(
        data_dir=tmp_path_factory.mktemp("user-token"),
        shim_port=free_port(),
        demo_port=free_port(),
        environment={
            "CALLING_ALLOWED_HOSTS": "127.0.0.1,localhost",
            "CALLING_USER_TOKEN_HOSTS": f"127.0.0.1:{api.server_port}",
            "SIGNALBOX_LOG_LEVEL": "debug",
        },
    )
    with Stack(options) as running:
        yield running


@pytest.fixture(autouse=True)
def registered(stack: Stack, api: EchoingApi) -> None:
    """Both endpoints stand at the listed host, and nothing is kept of what they answer."""
    register(stack, api, "get_bill", BILL)
    register(stack, api, "get_visits", VISITS)
    api.brought.clear()


def register(
    stack: Stack,
    api: EchoingApi,
    name: str,
    titles: dict[str, str],
    *,
    host: str = "127.0.0.1",
    cacheable: bool = False,
) -> None:
    body = {
        "endpointId": name,
        "name": name,
        "description": titles["en"],
        "titles": titles,
        "examples": {language: [title] for language, title in titles.items()},
        "url": f"http://{host}:{api.server_port}/{name}",
        "auth": {"kind": "user_token"},
        "cacheable": cacheable,
    }
    reply = httpx.post(f"{stack.url}/api-tools?wait=true", json=body, timeout=30, trust_env=False)
    assert reply.status_code in (200, 201), reply.text


def say(stack: Stack, message: str, token: str | None) -> Reply:
    headers = {} if token is None else {"X-User-Token": token}
    body = {"chatId": str(uuid.uuid4()), "message": message, "authorId": "tester"}
    url = f"{stack.url}/orchestrate/stream?events=rich"
    reply = httpx.post(url, json=body, headers=headers, timeout=60, trust_env=False)
    assert reply.status_code == 200, reply.text
    assert not any(form in reply.text for form in FORMS)
    return read_reply(reply.text, reply.headers["x-turn-id"])


def all_files(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_a_token_reaches_its_apis_alone_and_in_a_fan_out_and_nothing_else_sees_it(
    stack: Stack, api: EchoingApi
) -> None:
    with everything_told_to(stack.redis_url) as told:
        alone = say(stack, BILL["en"], TOKEN)
        api_saw, api.brought[:] = list(api.brought), []
        both = say(stack, TWO_THINGS, f"Bearer {TOKEN}")
        record = httpx.get(f"{stack.url}/turns/{both.turn_id}", trust_env=False).text
        replayed = httpx.get(f"{stack.url}/turns/{both.turn_id}/events", trust_env=False).text
        kept = everything_in(stack.redis_url)
    metrics = httpx.get(f"{stack.url}/metrics", trust_env=False).text

    assert api_saw == [("/get_bill", f"Bearer {TOKEN}")]
    assert sorted(api.brought) == [("/get_bill", f"Bearer {TOKEN}"), ("/get_visits", f"Bearer {TOKEN}")]
    assert "open" in alone.text
    heard = b"".join(told).decode(errors="replace")
    files = all_files(stack.data_dir).decode(errors="replace")
    for turn in (alone.turn_id, both.turn_id):
        assert f"own-token:{turn}" in heard, "it travelled through Redis"
        assert turn in files, "the logs and Redis's own files were looked through"
    seen = "\n".join((heard, kept, files, record, replayed, metrics, repr(events_of(stack, both.turn_id))))
    assert not [form for form in FORMS if form in seen]


def test_each_request_brings_its_own_token(stack: Stack, api: EchoingApi) -> None:
    chat = Chat(stack.url)
    for token in ("first", "second"):
        body = {"chatId": chat.chat_id, "message": BILL["en"]}
        url = f"{stack.url}/orchestrate"
        httpx.post(url, json=body, headers={"X-User-Token": token}, timeout=60, trust_env=False).raise_for_status()
    reply = httpx.post(f"{stack.url}/orchestrate", json=body, timeout=60, trust_env=False)

    assert [brought for _, brought in api.brought] == ["Bearer first", "Bearer second"]
    assert reply.json()["content"] == text("call.auth_missing", "en"), "a token is not remembered for the chat"


def test_an_answer_that_is_kept_is_kept_for_its_persons_token_alone(stack: Stack, api: EchoingApi) -> None:
    register(stack, api, "get_bill", BILL, cacheable=True)

    for token in ("anna", "anna", "bert", None):
        say(stack, BILL["en"], token)
    kept = everything_in(stack.redis_url)

    assert [brought for _, brought in api.brought] == ["Bearer anna", "Bearer bert"]
    assert "atc:cache" in kept
    assert "Bearer anna" not in kept


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_host_that_is_not_listed_gets_no_token_and_no_request(stack: Stack, api: EchoingApi, language: str) -> None:
    register(stack, api, "get_visits", VISITS, host="localhost")

    reply = say(stack, VISITS[language], TOKEN)

    assert reply.text == text("call.auth_missing", language)  # type: ignore[arg-type] # a language of ours
    assert api.brought == []


def test_a_token_that_cannot_be_one_is_refused_by_the_name_of_its_header(stack: Stack) -> None:
    body = {"chatId": "c", "message": BILL["en"]}
    headers = {"X-User-Token": "two persons-very-own tokens"}
    reply = httpx.post(f"{stack.url}/orchestrate", json=body, headers=headers, timeout=30, trust_env=False)

    assert reply.status_code == 422
    assert [fault["path"] for fault in reply.json()["fields"]] == ["X-User-Token"]
    assert "persons-very-own" not in reply.text
