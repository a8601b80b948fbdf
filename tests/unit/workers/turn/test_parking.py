"""What a question about something else interrupts: kept with its values, offered again, taken up or dropped."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schemas.conversations import Collecting, Conversation
from schemas.endpoints import Endpoint, Language
from schemas.routing import Decision, Layer, PutOff
from tests.unit.workers.extraction.small_catalogue import ADDRESS, HOLIDAYS, PRICES, SCHOOL, TAX, WEATHER, Talk
from workers.extraction.loop import Abandoned, Asked, Ready, collect
from workers.turn.parking import left_by, offered, parked_by

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
LANGUAGES = pytest.mark.parametrize("language", ["en", "et", "ru"])


def open_(endpoint: Endpoint, message: str) -> Collecting:
    talk = Talk(endpoint)
    return talk.ask(message).collecting


def to(*endpoints: Endpoint) -> Decision:
    return Decision(layer=Layer.SERVICE, language="en", rule="switch:high_confidence", endpoints=endpoints)


def offer_of(*parked: Collecting, language: Language = "en") -> Collecting:
    offer = offered(Conversation(parked=parked), language=language, now=NOW)
    assert offer is not None
    assert offer.text == offer.conversation.collecting.last_question  # type: ignore[union-attr] # it is open
    assert [choice.payload for choice in offer.choices] in (["yes", "no"], ["jah", "ei"], ["да", "нет"])
    assert offer.conversation.collecting is not None
    return offer.conversation.collecting


def test_what_is_left_is_parked_with_its_values() -> None:
    tax = open_(TAX, "vehicle tax of 123ABC")

    left = parked_by(to(WEATHER), Conversation(collecting=tax))

    assert left is not None
    assert left.collecting is None
    assert left.parked == (tax,)
    assert left.parked[0].endpoints[0].values == {"regNr": "123ABC"}


def test_a_reply_or_a_remark_parks_nothing() -> None:
    chat = Conversation(collecting=open_(TAX, "vehicle tax"))
    resumed = to(TAX).model_copy(update={"resumes": True})
    remark = Decision(layer=Layer.CONTEXT, language="en", rule="small_talk:thanks", keeps_collection=True)

    assert parked_by(resumed, chat) == chat
    assert parked_by(remark, chat) == chat
    assert parked_by(to(TAX), None) is None


def test_asking_for_the_parked_thing_again_takes_it_up_with_its_values() -> None:
    tax, holidays = open_(TAX, "vehicle tax of 123ABC"), open_(HOLIDAYS, "holidays in Estonia")

    back = parked_by(to(TAX), Conversation(collecting=holidays, parked=(tax,)))

    assert back is not None
    assert back.collecting == tax
    assert back.parked == (holidays,)


def test_only_the_latest_few_are_kept() -> None:
    parked = tuple(open_(endpoint, "hello") for endpoint in (TAX, HOLIDAYS, ADDRESS))

    left = parked_by(to(PRICES_OF_ANOTHER), Conversation(collecting=open_(WEATHER, "weather"), parked=parked))

    assert left is not None
    assert [one.endpoints[0].endpoint.name for one in left.parked] == [HOLIDAYS.name, ADDRESS.name, WEATHER.name]


PRICES_OF_ANOTHER = TAX.model_copy(update={"endpoint_id": "other"})


def test_nothing_parked_offers_nothing() -> None:
    assert offered(None, language="en", now=NOW) is None
    assert offered(Conversation(collecting=open_(TAX, "tax")), language="en", now=NOW) is None


@LANGUAGES
def test_the_offer_names_what_was_interrupted_and_a_yes_goes_on(language: Language) -> None:
    waiting = offer_of(open_(TAX, "vehicle tax of 123ABC"), language=language)

    went_on = collect(waiting, {"en": "yes", "et": "jah", "ru": "да"}[language], language=language, now=NOW)

    assert "vehicle tax" in waiting.last_question
    assert isinstance(went_on, Asked)
    assert went_on.missing == ("calculationYear",)
    assert not went_on.collecting.awaiting_continuation
    assert went_on.collecting.endpoints[0].values == {"regNr": "123ABC"}


@LANGUAGES
def test_a_no_drops_it_and_a_value_is_taken(language: Language) -> None:
    waiting = offer_of(open_(TAX, "vehicle tax of 123ABC"), language=language)

    dropped = collect(waiting, {"en": "no", "et": "ei", "ru": "нет"}[language], language=language, now=NOW)
    given = collect(waiting, "2026", language=language, now=NOW)

    assert isinstance(dropped, Abandoned)
    assert dropped.reason == "declined"
    assert isinstance(given, Ready)


def test_the_offer_stands_for_the_question_whether_to_go_on() -> None:
    talk = Talk(TAX)
    for message in ("vehicle tax", "hmm"):
        talk.ask(message)
    assert talk.collecting is not None

    went_on = collect(offer_of(talk.collecting), "yes", language="en", now=NOW)

    assert isinstance(went_on, Asked)
    assert not went_on.collecting.awaiting_continuation, "asked twice whether to go on"


def test_the_latest_is_offered_first() -> None:
    parked = (open_(TAX, "vehicle tax"), open_(HOLIDAYS, "holidays"))

    offer = offered(Conversation(parked=parked), language="en", now=NOW)

    assert offer is not None
    assert "public holidays" in offer.text
    assert offer.conversation.parked == parked[:1]


def putting_off(*later: PutOff, at_once: int = 1) -> Decision:
    return to(HOLIDAYS, SCHOOL, ADDRESS).model_copy(
        update={"endpoints": (HOLIDAYS, SCHOOL, ADDRESS)[:at_once], "later": later}
    )


def test_what_is_put_off_is_parked_with_the_values_of_its_own_part() -> None:
    tax = PutOff(part="vehicle tax of 123ABC", endpoint=TAX)

    left = left_by(putting_off(tax), None, now=NOW)

    assert left is not None
    assert left.collecting is None
    assert left.parked[0].endpoints[0].values == {"regNr": "123ABC"}
    assert left.parked[0].turns == 0, "nothing was asked yet"


def test_what_is_put_off_is_offered_before_what_was_interrupted_and_in_its_order() -> None:
    interrupted = open_(HOLIDAYS, "holidays in Estonia")
    later = [PutOff(part=f"show {one.name}", endpoint=one) for one in (TAX, WEATHER, PRICES)]

    left = left_by(
        putting_off(*later, PutOff(part="and more"), at_once=2), Conversation(parked=(interrupted,)), now=NOW
    )

    assert left is not None
    names = [[progress.endpoint.name for progress in one.endpoints] for one in reversed(left.parked)]
    assert names == [[TAX.name, WEATHER.name], [PRICES.name], [HOLIDAYS.name]]


@LANGUAGES
def test_a_yes_does_at_once_what_lacks_nothing(language: Language) -> None:
    left = left_by(putting_off(PutOff(part="vehicle tax of 123ABC for 2026", endpoint=TAX)), None, now=NOW)
    assert left is not None

    waiting = offer_of(*left.parked, language=language)
    went_on = collect(waiting, {"en": "yes", "et": "jah", "ru": "да"}[language], language=language, now=NOW)

    assert isinstance(went_on, Ready)
    assert went_on.collecting.endpoints[0].values == {"regNr": "123ABC", "calculationYear": 2026}


def test_an_unclear_reply_to_the_offer_of_what_lacks_nothing_brings_the_offer_again() -> None:
    left = left_by(putting_off(PutOff(part="vehicle tax of 123ABC for 2026", endpoint=TAX)), None, now=NOW)
    assert left is not None

    asked = collect(offer_of(*left.parked), "what do you know so far?", language="en", now=NOW)

    assert isinstance(asked, Asked)
    assert "vehicle tax (yes or no)?" in asked.question
    assert "123ABC" in asked.question
    assert isinstance(collect(asked.collecting, "yes", language="en", now=NOW), Ready)
