"""The chat page in a real Chromium, on a phone's screen."""

from __future__ import annotations

import signal

import pytest
from playwright.sync_api import Page, expect

from api_shim.documentation import OPERATIONS
from schemas.routing import Choice
from schemas.turns import Phase
from tests.browser.worker import ScriptedWorker
from tests.integration.shim.running import RunningDoor, running_door

pytestmark = pytest.mark.browser


def say(page: Page, text: str) -> None:
    page.get_by_label("Your message").fill(text)
    page.get_by_label("Your message").press("Enter")


def bot(page: Page) -> str:
    return page.locator(".said.bot .bubble").last.inner_text()


def expect_bot(page: Page, text: str) -> None:
    expect(page.locator(".said.bot .bubble").last).to_have_text(text)


def test_an_answer_appears_token_by_token(page: Page, worker: ScriptedWorker) -> None:
    say(page, "When is midsummer?")
    turn = worker.take()
    expect(page.get_by_role("status")).to_contain_text("Thinking")
    worker.call(turn, "holidays")
    expect(page.get_by_role("status")).to_contain_text("Looking it up")
    worker.say(turn, "Midsummer ")
    expect_bot(page, "Midsummer ")
    worker.say(turn, "is on\n24 June", start=1)
    expect(page.get_by_label("Stop")).to_be_visible()
    worker.answer(turn, "Midsummer is on\n24 June.")

    expect_bot(page, "Midsummer is on\n24 June.")
    expect(page.get_by_role("status")).to_be_hidden()
    expect(page.get_by_label("Send")).to_be_visible()


def test_a_reload_in_the_middle_loses_and_repeats_no_token(page: Page, worker: ScriptedWorker) -> None:
    pieces = [f"{number} " for number in range(120)]
    say(page, "Count")
    turn = worker.take()
    for start in range(0, 120, 10):
        worker.say(turn, *pieces[start : start + 10], start=start)
        if start % 30 == 0:
            page.reload()
    expect_bot(page, "".join(pieces))
    page.reload()
    worker.answer(turn, "".join(pieces) + "done")

    expect_bot(page, "".join(pieces) + "done")
    expect(page.locator(".said")).to_have_count(2)
    page.reload()
    assert bot(page).split() == [*map(str, range(120)), "done"]
    expect(page.get_by_role("status")).to_be_hidden()


def test_a_turn_that_ended_while_the_page_was_away_is_there_after_a_reload(page: Page, worker: ScriptedWorker) -> None:
    say(page, "Hello")
    turn = worker.take()
    worker.say(turn, "Go")
    expect_bot(page, "Go")
    page.goto("about:blank")
    worker.answer(turn, "Good morning")

    page.go_back()

    expect_bot(page, "Good morning")


def test_a_question_s_buttons_answer_it(page: Page, worker: ScriptedWorker) -> None:
    say(page, "Holidays?")
    worker.ask(
        worker.take(), "Which country?", Choice(title="Estonia", payload="EE"), Choice(title="Latvia", payload="LV")
    )
    page.get_by_role("button", name="Latvia").click()

    turn = worker.take()
    assert turn.request.message == "LV"
    expect(page.locator(".said.user .bubble").last).to_have_text("Latvia")
    expect(page.get_by_role("button", name="Estonia")).to_be_disabled()
    worker.answer(turn, "18 November")
    expect_bot(page, "18 November")


def test_stop_ends_the_view_and_the_turn_at_once(page: Page, worker: ScriptedWorker) -> None:
    say(page, "Tell me everything")
    turn = worker.take()
    worker.say(turn, "In the beginning")
    expect_bot(page, "In the beginning")
    with page.expect_response(lambda response: response.request.method == "DELETE"):
        page.get_by_label("Stop").click()

    expect(page.locator(".note")).to_have_text("Stopped")
    assert worker.phase(turn) is Phase.CANCELLED
    page.reload()
    expect(page.locator(".note")).to_have_text("Stopped")
    expect_bot(page, "In the beginning")


def test_a_turn_can_be_stopped_after_a_reload_before_its_first_token(page: Page, worker: ScriptedWorker) -> None:
    say(page, "Slow one")
    turn = worker.take()
    page.reload()
    with page.expect_response(lambda response: response.request.method == "DELETE"):
        page.get_by_label("Stop").click()

    assert worker.phase(turn) is Phase.CANCELLED


def test_a_new_attempt_that_differs_takes_the_place_of_the_old(page: Page, worker: ScriptedWorker) -> None:
    say(page, "Tax?")
    turn = worker.take()
    worker.say(turn, "I think 5")
    expect_bot(page, "I think 5")
    worker.answer(worker.say_anew(turn, "It is 7").model_copy(update={"attempt": turn.attempt}), "It is 7 €")

    expect_bot(page, "It is 7 €")


def test_a_failure_is_shown_plainly_with_its_code(page: Page, worker: ScriptedWorker) -> None:
    say(page, "Break")
    worker.fail(worker.take(), "Something went wrong on our side.")

    expect(page.locator(".said.failed .bubble")).to_have_text("Something went wrong on our side.")
    expect(page.locator(".note")).to_have_text("Code: ERR-20261201-120000-ABCD")


def test_what_an_answer_contains_is_text_and_never_markup(page: Page, worker: ScriptedWorker) -> None:
    text = '<img src=x onerror="document.title=1"> see https://example.ee/a?b=1. <b>bold</b>'
    say(page, "<script>document.title=2</script>")
    worker.answer(worker.take(), text)

    expect_bot(page, text)
    expect(page.get_by_role("link", name="https://example.ee/a?b=1", exact=True)).to_be_visible()
    assert page.title() == "Signalbox"


def test_the_page_speaks_three_languages(page: Page) -> None:
    page.get_by_label("Language").select_option("et")
    expect(page.get_by_role("heading", name="Kuidas saan aidata?")).to_be_visible()
    page.get_by_label("Keel").select_option("ru")
    expect(page.get_by_placeholder("Напишите сообщение")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Чем могу помочь?")).to_be_visible()


def test_a_new_chat_forgets_the_old_one(page: Page, worker: ScriptedWorker) -> None:
    say(page, "First")
    first = worker.take()
    worker.answer(first, "one")
    expect_bot(page, "one")

    page.get_by_role("button", name="New chat").click()
    expect(page.locator(".said")).to_have_count(0)
    say(page, "Second")
    second = worker.take()
    worker.answer(second, "two")

    assert first.request.chat_id != second.request.chat_id


def test_nothing_overflows_a_narrow_screen(page: Page, worker: ScriptedWorker) -> None:
    page.set_viewport_size({"width": 320, "height": 600})
    say(page, "long")
    worker.answer(worker.take(), "x" * 500 + "\n" + "word " * 200)
    expect(page.get_by_label("Send")).to_be_visible()

    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    expect(page.get_by_label("Your message")).to_be_in_viewport()


def test_a_door_that_restarts_in_mid_answer_is_found_again(page: Page, redis_url: str, worker: ScriptedWorker) -> None:
    with running_door(redis_url) as door:
        page.goto(door.url)
        say(page, "Hello")
        turn = worker.take()
        worker.say(turn, "first ")
        expect_bot(page, "first ")
        door.process.send_signal(signal.SIGTERM)
        door.process.wait(timeout=10)
        expect(page.get_by_role("status")).to_contain_text("The connection is lost")
        worker.say(turn, "second", start=1)
        with running_door(redis_url, SHIM_PORT=door.port):
            worker.answer(turn, "first second")
            expect_bot(page, "first second")
            expect(page.get_by_role("status")).to_be_hidden()


def test_the_documentation_page_lists_every_operation(page: Page, chat_door: RunningDoor) -> None:
    page.goto(f"{chat_door.url}/docs")

    expect(page.locator("details")).to_have_count(len(OPERATIONS))
    page.get_by_text("Say something and wait for the answer").click()
    expect(page.get_by_text("conversationHistory").first).to_be_visible()
