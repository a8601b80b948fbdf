"""The nine conversations that the seed project tests itself with, over HTTP, through the real queues."""

from __future__ import annotations

import re
import uuid

import httpx
import pytest

from ops.local.stack import Stack
from tests.acceptance.client import Chat

pytestmark = pytest.mark.stack

ESTONIAN = re.compile(r"[äöõü]|\b(kool|vaheaeg|vaheajad|palun|alates|kuni)", re.IGNORECASE)


def test_1_a_complete_question_is_answered_in_one_turn(stack: Stack) -> None:
    reply = Chat(stack.url).say("Calculate the vehicle tax for registration number 123ABC for 2026")

    assert "123ABC" in reply.text
    assert "€" in reply.text
    assert "?" not in reply.text


def test_2_what_is_missing_is_asked_for_in_english(stack: Stack) -> None:
    chat = Chat(stack.url)

    question = chat.say("What are the public holidays in Estonia?")
    answer = chat.say("from 2026-01-01 to 2026-12-31")

    assert "?" in question.text
    assert "country" not in question.text.lower()
    assert "1 January 2026" in answer.text
    assert "24 February 2026" in answer.text


def test_3_the_whole_conversation_is_held_in_estonian(stack: Stack) -> None:
    chat = Chat(stack.url)

    question = chat.say("Millal on Eestis koolivaheajad?")
    answer = chat.say("2026-01-01 kuni 2026-12-31")

    assert ESTONIAN.search(question.text)
    assert ESTONIAN.search(answer.text)
    assert "2026" in answer.text


def test_4_an_endpoint_that_needs_nothing_is_called_at_once(stack: Stack) -> None:
    reply = Chat(stack.url).say("Show me the latest votings in the parliament")

    assert "?" not in reply.text
    assert len(reply.text) > 40


def test_5_an_address_is_searched_over_two_turns(stack: Stack) -> None:
    chat = Chat(stack.url)

    question = chat.say("I would like to look up an address")
    answer = chat.say("Viru tn 4, Tallinn")

    assert "?" in question.text
    assert "Viru" in answer.text


def test_6_moments_are_collected_over_two_turns(stack: Stack) -> None:
    chat = Chat(stack.url)

    question = chat.say("Show me electricity market prices")
    answer = chat.say("from 2026-05-12T00:00:00Z to 2026-05-12T23:59:59Z")

    assert "?" in question.text
    assert "May 2026" in answer.text


def test_7_two_chats_never_see_each_others_values(stack: Stack) -> None:
    first, second = Chat(stack.url), Chat(stack.url)
    first.say("Calculate my vehicle tax, the number is 123ABC")
    second.say("Calculate my vehicle tax")

    answer = second.say("777XYZ, year 2026")

    assert "777XYZ" in answer.text
    assert "123ABC" not in answer.text
    assert "123ABC" in first.say("2026").text


def test_8_yes_at_the_continuation_prompt_goes_on(stack: Stack) -> None:
    chat = Chat(stack.url)
    chat.say("What are the public holidays in Estonia?")
    chat.say("hmm, let me think")
    prompt = chat.say("just a moment")

    resumed = chat.say("yes")
    answer = chat.say("2026-01-01 to 2026-12-31")

    assert "?" in prompt.text
    assert "?" in resumed.text
    assert resumed.text != prompt.text
    assert "24 February 2026" in answer.text


def test_9_a_person_who_never_answers_gets_a_polite_end(stack: Stack) -> None:
    chat = Chat(stack.url)
    chat.say("What are the public holidays in Estonia?")
    replies = [chat.say(filler).text for filler in ("hmm", "well", "yes", "I wonder", "perhaps", "who knows")]

    state = httpx.get(f"{stack.url}/turns/{chat.say('still here').turn_id}", trust_env=False).json()

    assert len(set(replies)) >= 4, "the same sentence again and again"
    assert state["phase"] == "done"


def test_the_blocking_route_gives_the_same_answer(stack: Stack) -> None:
    message = "Calculate the vehicle tax for registration number 123ABC for 2026"
    streamed = Chat(stack.url).say(message)

    body = {"chatId": f"block-{uuid.uuid4()}", "message": message}
    blocked = httpx.post(f"{stack.url}/orchestrate", json=body, timeout=60, trust_env=False).json()

    assert blocked["content"] == streamed.text
    assert blocked["llmServiceActive"] is True
    assert blocked["questionOutOfLLMScope"] is False


def test_two_intents_are_asked_together_and_answered_together(stack: Stack) -> None:
    chat = Chat(stack.url)

    question = chat.say("Can you find an address for me and also calculate my vehicle tax?")
    second = chat.say("123ABC")
    answer = chat.say("Viru tn 4, Tallinn and year 2026")

    assert "address" in question.text.lower()
    assert "registration" in question.text.lower()
    assert "year" in second.text.lower()
    assert "Viru" in answer.text
    assert "123ABC" in answer.text


def test_what_nobody_can_answer_is_refused_kindly(stack: Stack) -> None:
    body = {"chatId": f"ood-{uuid.uuid4()}", "message": "How do I bake a chocolate cake?"}

    reply = httpx.post(f"{stack.url}/orchestrate", json=body, timeout=60, trust_env=False).json()

    assert reply["questionOutOfLLMScope"] is True
    assert reply["content"]


def test_what_is_almost_a_match_is_offered_beside_the_refusal_and_taken_up(stack: Stack) -> None:
    chat = Chat(stack.url)

    refused = chat.say("Is the office open on Midsummer?")
    answered = chat.say(refused.buttons[0]["payload"])

    assert "Did you mean" in refused.text
    assert len(refused.buttons) == 3
    assert refused.buttons[0]["title"] == "Public holidays"
    assert "no longer open" not in answered.text
    assert "?" in answered.text
