from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.worker import ScriptedWorker
from tests.integration.shim.running import RunningDoor, running_door

_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium a module: while it is open its event loop runs, and no test with a loop of its own can."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=_FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def chat_door(redis_url: str) -> Iterator[RunningDoor]:
    with running_door(redis_url) as running:
        yield running


@pytest.fixture
def worker(redis_url: str) -> Iterator[ScriptedWorker]:
    scripted = ScriptedWorker(redis_url)
    yield scripted
    scripted.close()


@pytest.fixture
def page(browser: Browser, chat_door: RunningDoor, worker: ScriptedWorker) -> Iterator[Page]:
    """The chat page on a phone, in a fresh profile; an error of the page's scripts fails the test."""
    assert worker.is_idle
    context = browser.new_context(
        base_url=chat_door.url, viewport={"width": 390, "height": 780}, locale="en-GB", reduced_motion="reduce"
    )
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto("/")
    yield opened
    context.close()
    assert errors == []
