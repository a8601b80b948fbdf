from __future__ import annotations

import pytest

from schemas.endpoints import Language
from schemas.routing import Decision, Layer
from tests.unit.workers.classification import twins
from tests.unit.workers.classification.twins import HOLIDAYS, WordSearch
from workers.classification.context_layer import ContextLayer
from workers.classification.layer import Message

SPOKEN = twins.said(
    ("hello", "Hello!"), ("public holidays in Estonia", "There are twelve."), ("and {braces}?", "Fine, {too}.")
)


async def claim(message: Message, *, search: WordSearch | None = None) -> Decision:
    decision = await ContextLayer(search=search or WordSearch()).claim(message)
    assert decision is not None
    return decision


async def test_a_request_is_passed_on() -> None:
    assert await ContextLayer(search=WordSearch()).claim(twins.message("show me the weather")) is None


@pytest.mark.parametrize(
    ("language", "said", "part"),
    [
        ("en", "hello", "?"),
        ("et", "tere", "Tere"),
        ("ru", "привет", "?"),
        ("et", "aitäh", "!"),
        ("en", "goodbye", "!"),
        ("en", "cancel", "."),
        ("ru", "нет", "."),
        ("en", "👍", "?"),
    ],
)
async def test_courtesies_are_returned_without_a_search(language: Language, said: str, part: str) -> None:
    decision = await claim(twins.message(said, language=language), search=WordSearch(is_down=True))

    assert (decision.layer, decision.language) == (Layer.CONTEXT, language)
    assert part in decision.reply


@pytest.mark.parametrize("said", ["what can you do?", "who are you?"])
async def test_what_we_can_do_is_named(said: str) -> None:
    decision = await claim(twins.message(said))

    assert "public holidays, school holidays" in decision.reply


async def test_what_we_can_do_is_named_in_the_users_language() -> None:
    decision = await claim(twins.message("mida sa oskad?", language="et"))

    assert "riigipühad, koolivaheajad, elektrihinnad" in decision.reply
    assert " ja ilmaprognoos" in decision.reply


async def test_with_search_down_who_we_are_is_still_said() -> None:
    decision = await claim(twins.message("who are you?"), search=WordSearch(is_down=True))

    assert "virtual assistant" in decision.reply


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("what did I ask?", "and {braces}?"),
        ("what was my first question?", "hello"),
        ("repeat that", "Fine, {too}."),
    ],
)
async def test_questions_about_the_conversation_are_answered_with_what_was_said(said: str, part: str) -> None:
    decision = await claim(twins.message(said, chat=twins.conversation(transcript=SPOKEN)))

    assert part in decision.reply


async def test_the_clients_history_serves_where_we_remember_nothing() -> None:
    decision = await claim(twins.message("mida ma küsisin?", language="et", history=SPOKEN))

    assert "and {braces}?" in decision.reply


async def test_a_summary_quotes_the_exchanges_and_leaves_small_talk_out() -> None:
    decision = await claim(twins.message("summarise", chat=twins.conversation(transcript=SPOKEN)))

    assert "public holidays in Estonia" in decision.reply
    assert "There are twelve." in decision.reply
    assert "hello" not in decision.reply.lower()


async def test_a_summary_shortens_long_answers_at_a_word() -> None:
    spoken = twins.said(("holidays", "word " * 200))

    decision = await claim(twins.message("summarise", chat=twins.conversation(transcript=spoken)))

    assert "word…" in decision.reply
    assert len(decision.reply) < 400


@pytest.mark.parametrize("said", ["what did I ask?", "summarise", "what was my first question?"])
async def test_at_the_beginning_nothing_was_asked(said: str) -> None:
    assert "beginning" in (await claim(twins.message(said))).reply


async def test_before_any_answer_there_is_nothing_to_repeat() -> None:
    assert "haven't said" in (await claim(twins.message("repeat that"))).reply


async def test_a_pressed_button_is_not_quoted_as_a_question() -> None:
    spoken = twins.said(("days off", "Which?"), ("#endpoint:holidays", "Here."))

    decision = await claim(twins.message("what did I ask?", chat=twins.conversation(transcript=spoken)))

    assert "days off" in decision.reply


async def test_a_side_remark_keeps_the_collection_and_puts_its_question_again() -> None:
    chat = twins.conversation(open_=twins.collecting(HOLIDAYS, question="Which country?"))

    decision = await claim(twins.message("hello", chat=chat))

    assert decision.keeps_collection
    assert decision.reply.endswith("Which country?")
    assert decision.reply.count("?") == 1


async def test_the_same_sentence_is_not_said_twice_running() -> None:
    first = await claim(twins.message("hello"))
    chat = twins.conversation(transcript=twins.said(("hello", first.reply)))

    second = await claim(twins.message("hello", chat=chat))

    assert second.reply != first.reply
