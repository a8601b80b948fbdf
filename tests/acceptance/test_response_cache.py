"""The response cache through the real queues; the demo API's own log counts what was called."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import redis

from ops.local.catalogue import DEMO_CATALOGUE, index_all, read_catalogue
from ops.local.options import StackOptions
from ops.local.stack import Stack
from schemas.events import CallEnded
from tests.acceptance.counting import Counted, arguments, called
from tests.acceptance.stack_tools import index_slow_endpoint, running_slow_api
from tests.conftest import free_port
from tests.own_redis import OwnRedis
from workers.caching.responses import REST_S

pytestmark = pytest.mark.stack

LANGUAGES = pytest.mark.parametrize("language", ["en", "et", "ru"])


NEEDED = ("get_public_holidays", "get_weather", "get_train_times", "get_library_loans", "renew_library_loans")


def index_some(stack: Stack) -> None:
    """Register what these tests ask for, one after the other; all is searchable when this returns."""
    for entry in read_catalogue(DEMO_CATALOGUE, demo_url=stack.demo_url):
        if entry["name"] in NEEDED:
            (indexed,) = index_all(stack.url, [entry], wait=True)
            assert indexed.is_good, indexed


@pytest.fixture(scope="module")
def slow() -> Iterator[str]:
    with running_slow_api(free_port()) as url:
        yield url


@pytest.fixture(scope="module")
def cache_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnRedis]:
    """The cache's own server, beside the broker's: it may be away while the queues run on."""
    server = OwnRedis(tmp_path_factory.mktemp("kept"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, slow: str, cache_redis: OwnRedis) -> Iterator[Stack]:
    options = StackOptions(
        data_dir=tmp_path_factory.mktemp("cached"),
        shim_port=free_port(),
        demo_port=free_port(),
        environment={
            "CALLING_ALLOWED_HOSTS": "127.0.0.1",
            "SHIM_INDEX_WAIT_S": "60",
            "ATC_CACHE_TIMEOUT_S": "5",
            "ATC_REDIS_URL": cache_redis.url,
        },
    )
    with Stack(options) as running:
        index_some(running)
        index_slow_endpoint(running, slow, delay_ms=700)
        yield running


@pytest.fixture(autouse=True)
def nothing_kept(stack: Stack, cache_redis: OwnRedis) -> None:
    """Chats share responses by design, so each test begins with none."""
    assert stack.redis_url != cache_redis.url
    with redis.Redis.from_url(cache_redis.url) as client:
        client.flushall()


FOUR_TURNS: dict[str, tuple[str, str, str, str]] = {
    "en": (
        "What are public holidays in Estonia in 2026?",
        "Same for Latvia?",
        "Which of those is a bank holiday?",
        "What is the weather in Tallinn?",
    ),
    "et": (
        "Millised on riigipühad Eestis 2026. aastal?",
        "Sama Läti kohta?",
        "Millised neist on puhkepäevad?",
        "Milline ilm on Tallinnas?",
    ),
    "ru": (
        "Какие государственные праздники в Эстонии в 2026 году?",
        "То же самое для Латвии?",
        "Какие из них нерабочие дни?",
        "Какая погода в Таллине?",
    ),
}


ON_MONDAY = {"en": ("Which of those is on a Monday?", "monday"), "et": ("Mis neist on esmaspäeval?", "esmaspäev"),
             "ru": ("А какие из них в понедельник?", "понедельник")}  # fmt: skip
ELSEWHERE = {"en": "and in Tartu?", "et": "aga Tartus?", "ru": "а в Тарту?"}


@LANGUAGES
def test_the_four_turns_of_the_seed(stack: Stack, language: str) -> None:
    chat = Counted(stack)
    first, second, third, fourth = FOUR_TURNS[language]

    estonia, calls = chat.say(first)
    assert [arguments(line) for line in calls] == [
        {"countryIsoCode": "EE", "validFrom": "2026-01-01", "validTo": "2026-12-31"}
    ], estonia.text

    latvia, calls = chat.say(second)
    assert [arguments(line) for line in calls] == [
        {"countryIsoCode": "LV", "validFrom": "2026-01-01", "validTo": "2026-12-31"}
    ], latvia.text
    assert latvia.text != estonia.text
    assert chat.marks(latvia) == {}

    which, calls = chat.say(third)
    assert calls == [], which.text
    assert chat.marks(which)["get_public_holidays"].source == "L2"
    listed = {line for line in latvia.text.splitlines() if line.startswith("– ")}
    assert len(listed) > 5
    assert listed <= set(which.text.splitlines()), which.text
    assert which.text != latvia.text

    question, day = ON_MONDAY[language]
    monday, calls = chat.say(question)
    assert calls == [], monday.text
    rows = {f"– {line.removeprefix('– ')}" for line in monday.text.splitlines()}
    assert rows
    assert all(day in row.casefold() for row in rows), monday.text
    assert {row for row in listed if day in row.casefold()} <= rows, monday.text

    weather, calls = chat.say(fourth)
    assert [line.split("?")[0] for line in calls] == ["GET /weather"], weather.text
    elsewhere, calls = chat.say(ELSEWHERE[language])
    assert [(line.split("?")[0], arguments(line)["city"]) for line in calls] == [("GET /weather", "Tartu")], (
        elsewhere.text
    )


NEXT_DAY = {
    "en": ("When do trains go from Tartu to Tallinn on 5 December 2026?", "and the next day?"),
    "et": ("Mis kell sõidavad rongid Tartust Tallinna 5. detsembril 2026?", "ja järgmisel päeval?"),
    "ru": ("Когда идут поезда из Тарту в Таллин 5 декабря 2026 года?", "а на следующий день?"),
}


@LANGUAGES
def test_the_next_day_is_the_one_after_the_day_that_was_asked_for(stack: Stack, language: str) -> None:
    chat = Counted(stack)
    ask, follow = NEXT_DAY[language]
    for message, day in ((ask, "2026-12-05"), (follow, "2026-12-06"), (follow, "2026-12-07")):
        reply, calls = chat.say(message)
        assert [arguments(line) for line in calls] == [{"from": "Tartu", "to": "Tallinn", "date": day}], reply.text


@pytest.mark.parametrize(
    ("language", "ask", "follow"),
    [
        ("en", "What are public holidays in Estonia in 2026?", "and in Latvia?"),
        ("et", "Millised on riigipühad Eestis 2026. aastal?", "ja Lätis?"),
        ("et", "Millised on riigipühad Eestis 2026. aastal?", "aga Läti?"),
        ("ru", "Какие государственные праздники в Эстонии в 2026 году?", "а в Латвии?"),
    ],
)
def test_an_elliptic_follow_up_is_recognised_before_retrieval(
    stack: Stack, language: str, ask: str, follow: str
) -> None:
    chat = Counted(stack)
    chat.say(ask)
    reply, calls = chat.say(follow)
    assert [arguments(line)["countryIsoCode"] for line in calls] == ["LV"], (language, reply.text)


REPEATS = {"en": ("refresh", FOUR_TURNS["en"][0]), "et": ("värskenda", FOUR_TURNS["et"][0]),
           "ru": ("обнови данные", FOUR_TURNS["ru"][0])}  # fmt: skip


@LANGUAGES
def test_a_repeat_makes_no_call_says_so_and_refresh_makes_one(stack: Stack, language: str) -> None:
    refresh, question = REPEATS[language]
    chat = Counted(stack)
    first, calls = chat.say(question)
    assert len(calls) == 1
    assert chat.marks(first) == {}

    again, calls = chat.say(question)
    assert calls == []
    assert again.text == first.text
    mark = chat.marks(again)["get_public_holidays"]
    assert mark.source == "L1"
    assert 0 <= mark.age_s < 120
    ended = [event for event in chat.events(again) if isinstance(event, CallEnded)]
    assert [event.cached for event in ended] == [mark]

    fresh, calls = chat.say(refresh)
    assert len(calls) == 1, fresh.text
    assert chat.marks(fresh) == {}
    assert fresh.text == first.text


def test_another_chat_is_answered_from_the_same_response_and_the_meta_event_says_so(stack: Stack) -> None:
    Counted(stack).say(FOUR_TURNS["en"][0])
    before = len(called(stack))
    body = {"chatId": f"other-{uuid.uuid4()}", "message": FOUR_TURNS["en"][0]}
    told = httpx.post(f"{stack.url}/orchestrate?meta=true", json=body, timeout=60, trust_env=False).json()
    streamed = httpx.post(
        f"{stack.url}/orchestrate/stream?events=rich", json=body | {"chatId": "third"}, timeout=60, trust_env=False
    ).text
    assert len(called(stack)) == before
    assert told["meta"]["cached"]["get_public_holidays"]["source"] == "L1"
    named = [block for block in streamed.split("\n\n") if "event: meta" in block]
    meta: dict[str, Any] = json.loads(named[-1].split("data: ", 1)[1])
    assert meta["cached"]["get_public_holidays"]["ageS"] >= 0


def test_testers_share_neither_a_chat_nor_a_response(stack: Stack) -> None:
    body = {"message": FOUR_TURNS["en"][0], "environment": "test"}
    before = len(called(stack))
    told = [
        httpx.post(f"{stack.url}/orchestrate/test", json=body, timeout=60, trust_env=False).json() for _ in range(2)
    ]
    assert [len(called(stack)) - before, told[0]["content"]] == [2, told[1]["content"]]


def test_fifty_identical_turns_at_once_make_one_call(stack: Stack, slow: str) -> None:
    ticket = f"S{uuid.uuid4().int % 10**8}"

    async def everybody() -> list[str]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(timeout=120, limits=limits, trust_env=False) as client:
            bodies = [
                {"chatId": f"stampede-{uuid.uuid4()}", "message": f"ticket price for ticket {ticket}"}
                for _ in range(50)
            ]
            replies = await asyncio.gather(*(client.post(f"{stack.url}/orchestrate", json=body) for body in bodies))
            return [reply.json()["content"] for reply in replies]

    said = asyncio.run(everybody())
    log = httpx.get(f"{slow}/log", timeout=30, trust_env=False).json()
    assert sum(ticket in line for line in log) == 1
    assert len(said) == 50
    assert all(ticket in content for content in said)


def test_a_second_submission_is_carried_out_and_its_list_is_read_anew(stack: Stack) -> None:
    chat = Counted(stack)
    card = "20117733"
    _, loans = chat.say(f"Which books do I have out on card {card}?")
    _, once = chat.say(f"Renew the books on card {card}")
    _, twice = chat.say(f"Renew the books on card {card}")
    _, after = chat.say(f"Which books do I have out on card {card}?")
    assert [line.split(" ")[0] for line in (*loans, *once, *twice, *after)] == ["GET", "POST", "POST", "GET"]


def test_while_the_caches_redis_is_away_turns_go_on_uncached(stack: Stack, cache_redis: OwnRedis) -> None:
    chat, (question, elsewhere, *_) = Counted(stack), FOUR_TURNS["en"]
    first, _ = chat.say(question)
    _, repeated = chat.say(question)
    assert repeated == []
    cache_redis.stop()
    try:
        for _ in range(2):
            alone, calls = chat.say(question)
            assert (alone.text, len(calls), chat.marks(alone)) == (first.text, 1, {})
        named, calls = chat.say("What are public holidays in Latvia in 2026?")
        assert [arguments(line)["countryIsoCode"] for line in calls] == ["LV"], named.text
        forgotten, calls = chat.say(elsewhere)
        assert forgotten.text, "a follow-up without a memory is answered too"
    finally:
        cache_redis.start()
    # What is remembered from before the outage is older than what was said since: nothing leans on it.
    which, calls = chat.say("Which of those is on a Monday?")
    assert chat.marks(which) == {}, which.text
    time.sleep(REST_S)
    again, repeated = chat.say(question)
    assert (repeated, chat.marks(again)["get_public_holidays"].source) == ([], "L1")
