"""An API does not accept what was said: its reason is shown, that value is asked for again, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ops.local.options import StackOptions
from ops.local.stack import Stack
from schemas.events import SlotAsked
from tests.acceptance.client import Chat
from tests.acceptance.complaining_api import (
    NAMES,
    REASONS,
    RIGHT,
    SAID,
    UNEXPLAINED,
    ComplainingApi,
    register_all,
    running_complaining_api,
)
from tests.acceptance.stack_tools import conversation_after, events_of
from tests.conftest import free_port
from workers.messages.catalog import text

pytestmark = pytest.mark.stack

PATHS = pytest.mark.parametrize(
    "path", NAMES, ids=["problem+json with 422", "a validation list with 400", "plain text with 404"]
)
LANGUAGES = pytest.mark.parametrize("language", SAID)
WRONG = {"/parcels": "ZZ12", "/permits": "99711", "/loans": "ZZ12"}
TWO_THINGS = {
    "en": "Track my parcel, and list my library loans, card number K2000",
    "et": "Jälgi minu pakki, ja näita raamatukogu laenutusi, kaardi number K2000",
    "ru": "Отследите посылку, и покажите книги из библиотеки, номер карты K2000",
}


@pytest.fixture(scope="module")
def api() -> Iterator[ComplainingApi]:
    with running_complaining_api() as running:
        yield running


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, api: ComplainingApi) -> Iterator[Stack]:
    options = StackOptions(
        data_dir=tmp_path_factory.mktemp("complaints"),
        shim_port=free_port(),
        demo_port=free_port(),
        # What reaches the API is counted here, so chats must not answer for each other.
        environment={"CALLING_ALLOWED_HOSTS": "127.0.0.1", "ATC_RESPONSE_CACHE_ENABLED": "false"},
    )
    with Stack(options) as running:
        register_all(running.url, api)
        yield running


def a_question(path: str, language: str, value: str) -> str:
    place = list(NAMES).index(path)
    return f"{SAID[language][place]}, {SAID[language][place + 3]} {value}"


@PATHS
@LANGUAGES
def test_the_value_complained_about_is_asked_for_again_with_the_apis_reason(
    stack: Stack, api: ComplainingApi, path: str, language: str
) -> None:
    chat = Chat(stack.url)
    label = SAID[language][list(NAMES).index(path) + 3]
    before = len(api.values_of(path))

    complaint = chat.say(a_question(path, language, WRONG[path]))
    open_ = conversation_after(stack, complaint.turn_id)
    answer = chat.say(RIGHT[path])

    assert text("call.client_error", language) in complaint.text  # type: ignore[arg-type] # a language of ours
    assert REASONS[path] in complaint.text
    assert label in complaint.text.rpartition("\n\n")[2]
    last = events_of(stack, complaint.turn_id)[-1]
    assert isinstance(last, SlotAsked)
    assert last.missing == (NAMES[path],)
    assert open_ is not None
    assert open_.collecting is not None
    assert open_.collecting.asked == (NAMES[path],)
    assert open_.collecting.endpoints[0].values == {}
    assert f"found {RIGHT[path]}" in answer.text
    assert api.values_of(path)[before:] == [WRONG[path], RIGHT[path]]


@LANGUAGES
def test_of_two_endpoints_only_the_one_complained_about_stays_open(
    stack: Stack, api: ComplainingApi, language: str
) -> None:
    chat = Chat(stack.url)
    loans = len(api.values_of("/loans"))

    chat.say(TWO_THINGS[language])
    told = chat.say("ZZ12")
    open_ = conversation_after(stack, told.turn_id)
    answer = chat.say("RR700")

    assert "found K2000" in told.text
    assert REASONS["/parcels"] in told.text
    assert open_ is not None
    assert open_.collecting is not None
    assert [progress.endpoint.name for progress in open_.collecting.endpoints] == ["get_parcels"]
    assert "found RR700" in answer.text
    assert "K2000" not in answer.text
    assert api.values_of("/loans")[loans:] == ["K2000"]


def test_a_complaint_that_names_nothing_is_told_and_nothing_stays_open(stack: Stack) -> None:
    chat = Chat(stack.url)

    reply = chat.say(a_question("/loans", "en", UNEXPLAINED))
    remembered = conversation_after(stack, reply.turn_id)

    assert "Please come back tomorrow." in reply.text
    assert "?" not in reply.text
    assert remembered is not None
    assert remembered.collecting is None


def test_the_questions_after_complaints_count_and_come_to_an_end(stack: Stack) -> None:
    chat = Chat(stack.url)
    replies = [chat.say(a_question("/parcels", "en", "ZZ0"))]
    replies += [chat.say(word) for word in ("ZZ1", "ZZ2", "yes", "ZZ3", "ZZ4")]

    *asked, last = replies
    assert all("?" in reply.text for reply in asked)
    assert [bool(reply.buttons) for reply in asked] == [False, False, True, False, False]
    assert REASONS["/parcels"] in last.text
    assert "?" not in last.text
    remembered = conversation_after(stack, last.turn_id)
    assert remembered is not None
    assert remembered.collecting is None
