"""What models say reaches a turn only through the rooms' rules: grounded values, own words, numbers of the data."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

import pytest

from schemas.base import JsonValue
from schemas.calls import ApiCall, CallOutcome, CallSucceeded, FailureReason
from schemas.endpoints import Language
from tests.integration.llm.scripted import Line, Reply, Script, marked, scripted_model
from tests.unit.workers.extraction.small_catalogue import HOLIDAYS, TAX, WEATHER, endpoint
from tests.unit.workers.formatting.saying import a_call, failed, titled
from workers.classification.matching import Match
from workers.classification.splitter import Splitter
from workers.errors import ModelFailed
from workers.extraction.filler import Filler, Spoken
from workers.extraction.loop import Asked, Outcome, Ready, collect, open_collection
from workers.formatting.writer import Writer
from workers.guarding.loading import guards_of
from workers.llm.model import LanguageModel
from workers.runtime.settings import GuardSettings, LlmSettings

pytest.importorskip("dspy")

NOW = datetime(2026, 12, 1, 10, 0, tzinfo=ZoneInfo("Europe/Tallinn"))
Engine = Literal["auto", "dspy"]


@asynccontextmanager
async def modelled(*lines: Line) -> AsyncIterator[tuple[LanguageModel, Script]]:
    with scripted_model(*lines) as script:
        settings = LlmSettings.model_validate(
            {
                "engine": "dspy",
                "model": "openai/any",
                "api_base": script.base_url,
                "api_key": "k",
                "retries": 0,
                "timeout_s": 30,
            }
        )
        model = await LanguageModel.open(settings)
        yield model, script
        await model.close()


def found(**proposals: tuple[JsonValue, str]) -> str:
    told = {name: {"value": value, "words": words} for name, (value, words) in proposals.items()}
    return marked(found=json.dumps(told, ensure_ascii=False))


async def fill(
    reply: Line, message: str, *, wanted: Any = HOLIDAYS, language: Language = "en", engine: Engine = "dspy"
) -> tuple[Outcome, int]:
    """Say a first message; return what came of it and how often the model was asked."""
    async with modelled(reply) as (model, script):
        collecting = open_collection([wanted], message)
        outcome = collect(collecting, message, language=language, now=NOW)
        filler = Filler(model=model, engine=engine)
        improved = await filler.improve(outcome, collecting, Spoken(message=message, now=NOW, language=language))
        return improved, len(script.requests)


def values(outcome: Outcome) -> dict[str, JsonValue]:
    assert isinstance(outcome, Asked | Ready)
    return dict(outcome.collecting.endpoints[0].values)


@pytest.mark.parametrize(
    ("language", "message", "words", "value"),
    [
        ("en", "holidays for the land of Estonia starting with New Year's Eve 31.12.2026", "31.12.2026", "2026-12-31"),
        ("et", "riigipühad Eestis alates 31.12.2026", "31.12.2026", "2026-12-31"),
        ("ru", "праздники в Эстонии начиная с 31.12.2026", "31.12.2026", "2026-12-31"),
    ],
)
async def test_the_rules_read_the_words_that_the_model_points_at(
    language: Language, message: str, words: str, value: str
) -> None:
    outcome, _ = await fill(found(validFrom=("1999-01-01", words)), message, language=language)

    # Whatever value the model made of them, those words mean one day.
    assert values(outcome)["validFrom"] == value


@pytest.mark.parametrize(
    "proposal",
    [
        ("2026-01-01", "the beginning of next year"),
        ("2026-01-01", ""),
        ("2026-01-01", "Estonia"),
        (None, "Estonia"),
        ([1], "holidays"),
        ({"a": 1}, "holidays"),
    ],
)
async def test_a_value_that_nobody_said_is_dropped_and_asked_for(proposal: tuple[JsonValue, str]) -> None:
    outcome, asked = await fill(found(validFrom=proposal), "What are the holidays in Estonia?")

    assert asked == 1
    assert isinstance(outcome, Asked)
    assert "validFrom" not in values(outcome)
    assert "validFrom" in outcome.missing


@pytest.mark.parametrize(
    "told",
    [
        '{"isAdmin": {"value": true, "words": "Estonia"}, "validFrom": {"words": "31.12.2026"}}',
        '{"isAdmin": true, "limit": 10, "": null}',
        '{"countryIsoCode": null, "validFrom": []}',
        "[]",
        "{}",
    ],
)
async def test_keys_that_nobody_declared_are_dropped_and_what_is_missing_is_asked_for(told: str) -> None:
    """EXT-03: a model sends undeclared parameters and leaves out required ones."""
    outcome, _ = await fill(marked(found=told), "What are the holidays in Estonia from 31.12.2026?")

    assert isinstance(outcome, Asked)
    assert values(outcome) == {"countryIsoCode": "EE", "validFrom": "2026-12-31"}
    assert outcome.missing == ("validTo",)


async def test_what_the_rules_have_taken_the_model_cannot_change() -> None:
    outcome, _ = await fill(found(countryIsoCode=("LV", "Estonia")), "What are the holidays in Estonia?")

    assert values(outcome)["countryIsoCode"] == "EE"


async def test_a_number_counts_only_if_the_words_hold_it() -> None:
    loans = endpoint("lend", *TAX.params, title="loans")
    outcome, _ = await fill(
        found(calculationYear=(2030, "next decade"), regNr=("999ZZZ", "my red car")), "tax of my red car", wanted=loans
    )

    assert values(outcome) == {}


async def test_a_text_in_another_form_of_its_word_is_taken() -> None:
    outcome, _ = await fill(
        found(city=("Haapsalu", "Haapsalus")), "mis ilm Haapsalus praegu on", wanted=WEATHER, language="et"
    )

    assert values(outcome)["city"] in {"Haapsalu", "Haapsalus"}


async def test_auto_asks_nothing_where_the_rules_leave_nothing_over() -> None:
    _, asked = await fill(found(), "what are the holidays?", engine="auto")
    _, over = await fill(found(), "holidays in the land of Ruritania", engine="auto")

    assert (asked, over) == (0, 1)


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        (
            marked(mode="parallel", sub_queries='["the tax of my car", "holidays in Latvia"]'),
            ("the tax of my car", "holidays in Latvia"),
        ),
        (marked(mode="single", sub_queries="[]"), None),
        (marked(mode="parallel", sub_queries='["the tax of my car"]'), None),
        (marked(mode="parallel", sub_queries='["the tax of my car", "the price of a yacht in Monaco"]'), None),
        (marked(mode="parallel", sub_queries='["", " "]'), None),
        ("no form at all", None),
        (500, None),
    ],
)
async def test_a_split_counts_only_in_the_persons_own_words(reply: Line, parts: tuple[str, ...] | None) -> None:
    message = "I need the tax of my car as well as the holidays in Latvia please"
    async with modelled(reply) as (model, _):
        split = await Splitter(model=model, engine="dspy").split(message, most=3)

    assert split.parts == (parts or (message,))


async def test_a_sure_winner_and_a_short_question_are_never_split() -> None:
    async with modelled() as (model, _):
        splitter = Splitter(model=model, engine="dspy")

        assert not splitter.is_wanted("holidays in Latvia", Match(), "en")
        assert splitter.is_wanted("I need the tax of my car as well as the holidays in Latvia", Match(), "en")


async def write(
    reply: Line,
    results: list[tuple[ApiCall, CallOutcome]],
    *,
    said: list[str],
    unmatched: tuple[str, ...] = (),
    whole: bool = False,
) -> None:
    """Let the model write; what leaves is put into `said`."""
    settings = GuardSettings()
    async with modelled(reply) as (model, _):
        writer = Writer(
            model=model,
            engine="dspy",
            guards=guards_of(f"{settings.answers}, {settings.model_answers}", settings),
            checks_single_whole=whole,
        )
        async for piece in writer.write("my tax", results, language="en", now=NOW, unmatched=unmatched):
            said.append(piece)  # noqa: PERF401 - what left before a failure counts


def brought(body: JsonValue) -> CallSucceeded:
    return CallSucceeded(call_id="c1", status=200, body=body)


async def test_words_leave_as_they_come_and_numbers_when_they_are_whole() -> None:
    reply = Reply(pieces=["[[ ## formatted_answer ## ]]\n", "You", " pay", " 12", "7", " euros", "."])

    pieces: list[str] = []
    await write(reply, [(titled(), brought({"tax": 127}))], said=pieces)

    assert "".join(pieces) == "You pay 127 euros."
    assert pieces[0] == "You"
    assert not any(piece.endswith("12") for piece in pieces)


async def test_what_failed_and_what_nothing_fits_is_told_by_the_rules() -> None:
    results: list[tuple[ApiCall, CallOutcome]] = [
        (titled(), brought({"tax": 127})),
        (a_call(titles={"en": "address search"}), failed(FailureReason.TIMED_OUT)),
    ]

    said: list[str] = []
    await write(marked(formatted_answer="You pay 127 euros."), results, said=said, unmatched=("bake a cake",))

    first, *rest = "".join(said).split("\n\n")
    assert first == "You pay 127 euros."
    assert rest[0].startswith("Address search: ")
    assert "bake a cake" in rest[1]


@pytest.mark.parametrize("whole", [True, False])
async def test_an_invented_number_never_leaves(*, whole: bool) -> None:
    said: list[str] = []
    with pytest.raises(ModelFailed):
        await write(
            marked(formatted_answer="You pay 128 euros."), [(titled(), brought({"tax": 127}))], said=said, whole=whole
        )

    assert "".join(said).strip() == ("" if whole else "You pay")


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("text", ["The answer is: ", "{formatted_answer}"])
async def test_what_a_small_model_leaves_unsaid_is_said_by_the_rules(text: str, *, whole: bool) -> None:
    with pytest.raises(ModelFailed):
        await write(marked(formatted_answer=text), [(titled(), brought({"tax": 127}))], said=[], whole=whole)


def test_auto_leaves_short_plain_bodies_to_the_rules() -> None:
    async def never(*_: object) -> None: ...

    writer = Writer(model=never, engine="auto", guards=())  # type: ignore[arg-type] - it is not asked

    assert not writer.is_wanted([(titled(), brought({"tax": 127, "due": "2026-06-15"}))], language="en")
    assert not writer.is_wanted([(titled(), failed(FailureReason.TIMED_OUT))], language="en")
    assert writer.is_wanted([(titled(), brought([{"a": {"b": [1]}}] * 40))], language="en")
