"""The ways on and out: the continuation prompt, cancel, start over, "what do you know?", skip."""

from __future__ import annotations

from itertools import pairwise

import pytest

from schemas.conversations import Collecting, EndpointProgress
from schemas.endpoints import Language, ParamSpec
from tests.unit.workers.extraction.small_catalogue import ADDRESS, HOLIDAYS, NOW, TAX, VOTINGS, Talk, endpoint
from workers.extraction.loop import Abandoned, Asked, Ready, ask_again, collect, open_collection


def test_the_continuation_prompt_takes_a_value_as_a_value() -> None:
    talk = Talk(HOLIDAYS)
    for message in ("Estonia from 2026-04-01", "hmm", "well"):
        talk.ask(message)

    assert isinstance(talk.say("2026-04-20"), Ready)
    assert talk.values()["validTo"] == "2026-04-20"


@pytest.mark.parametrize(("language", "no"), [("en", "no thanks"), ("et", "ei"), ("ru", "нет, спасибо")])
def test_no_at_the_continuation_prompt_ends_kindly(language: Language, no: str) -> None:
    talk = Talk(HOLIDAYS, language=language)
    for message in ("Estonia", "hmm", "…"):
        talk.ask(message)
    end = talk.say(no)

    assert isinstance(end, Abandoned)
    assert end.reason == "declined"
    assert end.say


def test_an_unclear_answer_to_the_prompt_is_asked_again_in_other_words() -> None:
    talk = Talk(HOLIDAYS)
    talk.ask("Estonia")
    talk.ask("hmm")
    prompt = talk.ask("well")
    again = talk.ask("I am thinking about it")

    assert again.collecting.awaiting_continuation
    assert again.question != prompt.question


@pytest.mark.parametrize(
    ("language", "word"),
    [
        ("en", "cancel"),
        ("en", "forget it"),
        ("et", "tühista"),
        ("et", "unusta ära"),
        ("ru", "отмена"),
        ("ru", "забудь"),
    ],
)
def test_a_collection_can_be_cancelled_at_any_time(language: Language, word: str) -> None:
    talk = Talk(HOLIDAYS, language=language)
    talk.ask("Estonia")
    end = talk.say(word)

    assert isinstance(end, Abandoned)
    assert end.reason == "cancelled"
    assert end.say


def test_starting_over_forgets_the_values() -> None:
    talk = Talk(HOLIDAYS)
    talk.ask("Estonia")
    question = talk.ask("start over")

    assert talk.values() == {}
    assert question.missing == ("countryIsoCode", "validFrom", "validTo")


def test_who_starts_over_has_all_the_turns_again() -> None:
    talk = Talk(HOLIDAYS)
    for message in ("Estonia", "hmm", "well", "yes", "hmm"):
        talk.say(message)
    talk.ask("start over")
    for message in ("Latvia", "from 1 May 2027"):
        talk.ask(message)

    assert isinstance(talk.say("until 31 May 2027"), Ready)


@pytest.mark.parametrize("language", ["en", "et", "ru"])
def test_help_is_given_in_the_persons_language(language: Language) -> None:
    """A description in another language gives way to the parameter's label, whatever words the two share."""
    spec = TAX.params[0].model_copy(
        update={
            "description": "The registration number (number plate) of the vehicle",
            "labels": {"en": "plate", "et": "numbrimärk", "ru": "номерной знак"},
        }
    )
    talk = Talk(TAX.model_copy(update={"params": (spec,)}), language=language)
    talk.ask("?")
    told = talk.ask({"en": "I don't know", "et": "ma ei tea", "ru": "не знаю"}[language]).question

    assert ("of the vehicle" in told) is (language == "en")


def test_what_is_known_so_far_is_told() -> None:
    talk = Talk(HOLIDAYS)
    talk.ask("Estonia from 1 May 2026")
    question = talk.ask("what do you know so far?")

    assert "1 May 2026" in question.question
    assert "last day" in question.question


def test_who_does_not_know_gets_an_explanation() -> None:
    talk = Talk(endpoint("loan", ParamSpec(name="cardNumber", required=True, description="The number on your card")))
    talk.ask("my loans")

    assert "number on your card" in talk.ask("I don't know").question


def test_what_is_required_cannot_be_skipped() -> None:
    talk = Talk(TAX)
    talk.ask("tax of 123ABC")

    assert talk.ask("skip").missing == ("calculationYear",)


def test_one_endpoint_of_two_can_be_dropped() -> None:
    talk = Talk(ADDRESS, TAX)
    talk.ask("find an address and calculate my vehicle tax")
    question = talk.ask("forget the address")

    assert question.missing == ("regNr", "calculationYear")
    assert isinstance(talk.say("123ABC, 2026"), Ready)


def test_what_is_complete_is_delivered_when_the_rest_never_comes() -> None:
    talk = Talk(VOTINGS, ADDRESS)
    talk.ask("votings and an address")
    for message in ("hmm", "well", "hmm", "yes", "hmm"):
        talk.ask(message)
    end = talk.say("hmm")

    assert isinstance(end, Ready)
    assert [progress.endpoint.name for progress in end.collecting.endpoints] == ["get_parliament_votings"]
    assert end.collecting.lacking == ("address search",)


@pytest.mark.parametrize("message", ["what can you do?", "how does this work?", "hmm, let me think", "why do you ask"])
def test_chatter_is_never_stored_as_free_text(message: str) -> None:
    talk = Talk(ADDRESS)
    talk.ask("find an address")
    talk.ask(message)

    assert talk.values() == {}


@pytest.mark.parametrize("language", ["en", "et", "ru"])
def test_no_question_is_asked_twice_in_a_row_in_the_same_words(language: Language) -> None:
    collecting, said = open_collection([HOLIDAYS], "…"), []
    for _ in range(5):
        outcome = collect(collecting, "…", language=language, now=NOW)
        assert isinstance(outcome, Asked)
        collecting = outcome.collecting
        said.append(outcome.question)

    assert all(one != two for one, two in pairwise(said))


def _reopened(name: str, **values: str) -> Collecting:
    progress = EndpointProgress(endpoint=VOTINGS, values={**values}, reopened=(name,))
    return Collecting(endpoints=(progress,), original_query="votings")


def test_an_optional_value_that_was_not_accepted_is_asked_for_by_name() -> None:
    asked = ask_again(_reopened("endDate", startDate="2026-11-01"), language="en", now=NOW)

    assert isinstance(asked, Asked)
    assert asked.missing == ("endDate",)
    done = collect(asked.collecting, "2026-11-20", language="en", now=NOW)
    assert isinstance(done, Ready)
    assert done.collecting.endpoints[0].values == {"startDate": "2026-11-01", "endDate": "2026-11-20"}


@pytest.mark.parametrize(("language", "word"), [("en", "skip"), ("et", "jäta vahele"), ("ru", "пропустить")])
def test_an_optional_value_that_was_not_accepted_can_be_skipped(language: Language, word: str) -> None:
    asked = ask_again(_reopened("endDate", startDate="2026-11-01"), language=language, now=NOW)

    assert isinstance(asked, Asked)
    done = collect(asked.collecting, word, language=language, now=NOW)
    assert isinstance(done, Ready)
    assert done.collecting.endpoints[0].values == {"startDate": "2026-11-01"}


def test_after_the_last_question_nothing_is_asked_again() -> None:
    used_up = _reopened("endDate").model_copy(update={"turns": 5})

    assert isinstance(ask_again(used_up, language="en", now=NOW), Abandoned)
