from __future__ import annotations

import asyncio

import pytest
from pydantic import SecretStr

from api_shim.failures import BodyTooSlow, InvalidRequest, told
from api_shim.reading import is_set, language_of, read_body, user_token_of, wants_rich_events, wants_stream
from api_shim.tenancy import conversation_key


def a_scope(query: str = "", **headers: str) -> dict[str, object]:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "headers": raw, "query_string": query.encode()}


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("et", "et"),
        ("ru-RU,ru;q=0.9", "ru"),
        ("de-DE, et;q=0.8, en;q=0.7", "et"),
        ("EN-gb", "en"),
        ("*", "en"),
        ("", "en"),
        ("fi,sv", "en"),
    ],
)
def test_our_sentences_come_in_the_first_language_we_share(accepted: str, language: str) -> None:
    assert language_of(a_scope(accept_language=accepted)) == language


@pytest.mark.parametrize(
    ("query", "accept", "is_rich"),
    [
        ("", "text/event-stream; profile=signalbox", True),
        ("", 'text/event-stream;profile="signalbox"', True),
        ("events=rich", "text/event-stream", True),
        ("", "text/event-stream", False),
        ("events=poor", "*/*", False),
    ],
)
def test_named_events_go_to_those_who_ask(query: str, accept: str, *, is_rich: bool) -> None:
    assert wants_rich_events(a_scope(query, accept=accept)) is is_rich


def test_only_a_client_that_names_the_type_reads_streams() -> None:
    assert wants_stream(a_scope(accept="text/event-stream"))
    assert not wants_stream(a_scope(accept="*/*"))
    assert not wants_stream(a_scope())


def test_a_switch_is_on_when_it_says_so() -> None:
    assert is_set(a_scope("wait=true"), "wait")
    assert not is_set(a_scope("wait=false"), "wait")
    assert not is_set(a_scope(), "wait")


def test_a_conversation_belongs_to_its_tenant_chat_and_author() -> None:
    keys = {
        conversation_key("t", chat_id="a", author_id="bc"),
        conversation_key("t", chat_id="ab", author_id="c"),
        conversation_key("t", chat_id="ab", author_id=""),
        conversation_key("u", chat_id="ab", author_id=""),
    }
    assert len(keys) == 4


async def test_a_body_that_trickles_in_for_ever_is_given_up() -> None:
    async def trickle() -> dict[str, object]:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b" ", "more_body": True}

    with pytest.raises(BodyTooSlow) as refused:
        await asyncio.wait_for(read_body(a_scope(), trickle, max_bytes=1_000_000, within_s=0.1), timeout=2)

    assert told(refused.value).status == 408


@pytest.mark.parametrize("given", ["eyJ.own-token", "Bearer eyJ.own-token", "bearer  eyJ.own-token"])
def test_a_persons_token_is_read_with_and_without_its_word(given: str) -> None:
    assert user_token_of(a_scope(x_user_token=given)) == SecretStr("eyJ.own-token")


def test_no_token_is_none() -> None:
    assert user_token_of(a_scope()) is None
    assert user_token_of(a_scope(x_user_token="")) is None


@pytest.mark.parametrize("given", ["two tokens", "Basic eyJ.own-token", "x" * 8193, "õ-token"])
def test_what_is_no_token_is_refused_without_being_repeated(given: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        user_token_of(a_scope(x_user_token=given))

    assert refused.value.fields[0].path == "X-User-Token"
    assert given not in repr(refused.value.fields)
