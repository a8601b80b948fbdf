"""What our prompts meet when nobody scripted the answers. Accuracy is printed, not asserted: the model is tiny."""

from __future__ import annotations

import re

import pytest

from ops.evaluation.bench import Case, cases_of, demo_endpoints
from ops.evaluation.judges import JUDGES
from ops.evaluation.judging import JudgementResult, evaluate
from schemas.usage import Judgement
from tests.acceptance.client import Chat
from tests.acceptance.local_model.conftest import ENGINE, House
from tests.acceptance.metrics import counted
from tests.acceptance.stack_tools import calls_of
from workers.runtime.settings import LlmSettings, Settings

pytestmark = pytest.mark.local_model

CASES = 3
TAX = {"en": "Calculate the vehicle tax for registration number 123ABC for 2026",
       "et": "Arvuta auto 123ABC automaks 2026. aastaks",
       "ru": "Рассчитай налог на машину 123ABC за 2026 год"}  # fmt: skip
FORM = re.compile(r"##|\[\[|```|[{}]")
CYRILLIC, LATIN = re.compile("[а-яё]", re.IGNORECASE), re.compile("[a-zõäöü]", re.IGNORECASE)


def settings_for(model_url: str) -> Settings:
    given = {name.removeprefix("LLM_").lower(): value for name, value in ENGINE.items()}
    return Settings(llm=LlmSettings.model_validate({**given, "api_base": model_url}))


def told(name: str, result: JudgementResult) -> str:
    all_of_it = result.overall
    return (
        f"{name}: {all_of_it.cases} cases, right {all_of_it.accuracy:.2f} (rules {all_of_it.rules_accuracy:.2f}),"
        f" nothing usable {all_of_it.failed:.2f}, {result.requests} requests, {result.tokens} tokens,"
        f" {all_of_it.latency_p50_ms / 1000:.1f} s"
    )


@pytest.mark.parametrize("judgement", JUDGES)
async def test_every_judgement_meets_the_model_and_lives(model_url: str, judgement: Judgement) -> None:
    report = await evaluate(settings_for(model_url), [judgement], limit=CASES)

    result = report.judgements[judgement]
    print(told(judgement, result))
    assert result.requests >= 1
    assert result.tokens > 100 * result.requests, "the server counts tokens, and a prompt has hundreds"
    assert set(result.languages) == {"en", "et", "ru"}


async def test_nothing_is_filled_but_the_endpoints_own_parameters(model_url: str) -> None:
    report = await evaluate(settings_for(model_url), ["parameter_extraction"], limit=6)

    endpoints = demo_endpoints()
    by_message: dict[str, Case] = {case["message"]: case for case in cases_of("parameter_extraction")}
    for wrong in report.judgements["parameter_extraction"].wrong:
        message, _, said = wrong.partition(": ")[2].partition(" → ")
        case = by_message[message]
        params = {param.name: param for param in endpoints[case["endpoint"]].params}
        print(f"not as labelled: {message!r} gave {said}")
        for name in re.findall(r"'(\w+)':", said):
            assert name in params, f"{name} is no parameter of {case['endpoint']}"


@pytest.mark.parametrize("language", TAX)
def test_a_whole_turn_calls_with_what_was_said_and_answers_in_its_language(house: House, language: str) -> None:
    reply = Chat(house.stack.url, timeout_s=900).say(TAX[language])

    print(f"{language}: {reply.text}")
    (call,) = calls_of(house.stack, reply.turn_id)
    assert call.arguments == {"regNr": "123ABC", "calculationYear": 2026}
    assert not FORM.search(reply.text)
    right, wrong = (CYRILLIC, LATIN) if language == "ru" else (LATIN, CYRILLIC)
    assert len(right.findall(reply.text)) > len(wrong.findall(reply.text))


def test_what_is_missing_is_asked_for_and_what_was_not_said_reaches_no_api(house: House) -> None:
    chat = Chat(house.stack.url, timeout_s=900)

    question = chat.say("What are the public holidays in Estonia?")
    answer = chat.say("from 2026-06-01 to 2026-06-30")

    print(question.text, "→", answer.text)
    assert "?" in question.text
    assert calls_of(house.stack, question.turn_id) == ()
    (call,) = calls_of(house.stack, answer.turn_id)
    assert call.arguments == {"countryIsoCode": "EE", "validFrom": "2026-06-01", "validTo": "2026-06-30"}
    assert answer.text.strip()
    assert not FORM.search(question.text + answer.text)


def test_two_things_asked_at_once_are_both_answered(house: House) -> None:
    reply = Chat(house.stack.url, timeout_s=900).say(
        "Show me the latest votings in the parliament, and calculate the vehicle tax for 123ABC for 2026"
    )

    print(reply.text)
    assert len(calls_of(house.stack, reply.turn_id)) == 2
    assert reply.text.strip()
    assert not FORM.search(reply.text)


def test_what_the_model_could_not_do_was_counted(house: House) -> None:
    asked = counted(house.metrics_port, "signalbox_model_requests")
    left_to_rules = counted(house.metrics_port, "signalbox_model_fallbacks")
    blocked = counted(house.metrics_port, "signalbox_guard_objections", side="output")
    print(f"requests {asked:.0f}, left to the rules {left_to_rules:.0f}, answers blocked {blocked:.0f}")
    assert asked > 0
