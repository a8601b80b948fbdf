from __future__ import annotations

import pytest

from schemas.conversations import Conversation
from schemas.endpoints import Language
from schemas.routing import Choice, Decision, Layer
from tests.unit.workers.classification import twins
from tests.unit.workers.classification.tables import table
from tests.unit.workers.classification.twins import ADDRESS, HOLIDAYS, PRICES, SCHOOL, TAX, WEATHER, WordSearch
from workers.classification.api_tools import ApiTools
from workers.classification.layer import Message
from workers.classification.routes import RouteFinder
from workers.errors import StoreUnavailable

_TABLE = table("collection")
RESUME = [(language, said) for language, kinds in _TABLE.items() for said in kinds["resume"]]
SWITCH = [(language, said) for language, kinds in _TABLE.items() for said in kinds["switch"]]


async def claim(message: Message, *, search: WordSearch | None = None, **settings: object) -> Decision | None:
    finder = RouteFinder(search=search or WordSearch(), settings=twins.settings(**settings))
    return await ApiTools(finder=finder).claim(message)


async def decided(message: Message, *, search: WordSearch | None = None, **settings: object) -> Decision:
    decision = await claim(message, search=search, **settings)
    assert decision is not None
    return decision


def ids(decision: Decision) -> list[str]:
    return [endpoint.endpoint_id for endpoint in decision.endpoints]


async def test_a_sure_match_is_taken_and_its_score_is_told() -> None:
    decision = await decided(twins.message("What are the public holidays in Estonia?"))

    assert (decision.layer, decision.rule, ids(decision)) == (Layer.SERVICE, "high_confidence", ["holidays"])
    assert decision.scores == {"holidays": 0.8}


async def test_a_greeting_before_a_request_does_not_hide_it() -> None:
    assert ids(await decided(twins.message("hello, what are the public holidays in Estonia?"))) == ["holidays"]


@pytest.mark.parametrize("said", ["hello", "thanks", "what can you do?", "ok", "what did I ask?"])
async def test_small_talk_is_passed_on_without_a_search(said: str) -> None:
    search = WordSearch({said: (twins.candidate(HOLIDAYS, 0.9, high=True),)})

    assert await claim(twins.message(said), search=search) is None
    assert search.searched == []


async def test_nothing_found_is_passed_on() -> None:
    assert await claim(twins.message("write me a poem")) is None


async def test_a_switched_off_layer_claims_nothing() -> None:
    assert await claim(twins.message("public holidays"), api_tools_enabled=False) is None


async def test_a_failing_search_is_left_to_the_chain() -> None:
    with pytest.raises(StoreUnavailable):
        await claim(twins.message("public holidays"), search=WordSearch(is_down=True))


async def test_a_dominant_endpoint_does_not_swallow_the_second_request() -> None:
    said = "Arvuta sõidukimaks 123ABC 2026 ja näita elektrihindu"
    search = WordSearch({said: (twins.candidate(TAX, 0.85, high=True),)})

    decision = await decided(twins.message(said, language="et"), search=search)

    assert (decision.rule, ids(decision)) == ("parallel", ["tax", "prices"])
    assert search.most_at_once == 3


async def test_a_request_that_no_endpoint_fits_is_named() -> None:
    decision = await decided(twins.message("Calculate my vehicle tax and explain climate change"))

    assert (decision.rule, ids(decision)) == ("partly_matched", ["tax"])
    assert decision.unmatched == ("explain climate change",)


async def test_two_parts_of_one_endpoint_are_one_request() -> None:
    decision = await decided(twins.message("Show me all public holidays and also list every public holiday"))

    assert ids(decision) == ["holidays"]
    assert decision.unmatched == ()


async def test_with_the_flag_off_a_message_is_never_split() -> None:
    search = WordSearch()

    await claim(twins.message("find an address and show my tax"), search=search, multi_intent_enabled=False)

    assert search.searched == ["find an address and show my tax"]


async def test_things_that_share_one_opening_are_called_together() -> None:
    decision = await decided(twins.message("find an address and my vehicle tax"))

    assert (decision.rule, ids(decision)) == ("parallel", ["address", "tax"])


async def test_a_guessed_split_does_not_overrule_a_sure_match() -> None:
    said = "name and address of the taxpayer"
    search = WordSearch({said: (twins.candidate(WEATHER, 0.9, high=True),)})

    assert ids(await decided(twins.message(said), search=search)) == ["weather"]


async def test_the_only_medium_match_is_taken() -> None:
    search = WordSearch({"days off": (twins.candidate(HOLIDAYS, 0.45),)})

    decision = await decided(twins.message("days off"), search=search)

    assert (decision.rule, ids(decision)) == ("clear_winner", ["holidays"])


async def test_close_matches_are_told_apart_by_their_own_words() -> None:
    close = (twins.candidate(HOLIDAYS, 0.62), twins.candidate(SCHOOL, 0.60))
    search = WordSearch({"free days at school": close})

    decision = await decided(twins.message("free days at school"), search=search)

    assert (decision.rule, ids(decision)) == ("distinguished_by_words", ["school"])


CLOSE = (twins.candidate(HOLIDAYS, 0.50), twins.candidate(SCHOOL, 0.49), twins.candidate(PRICES, 0.41))


async def test_matches_that_nothing_tells_apart_are_offered() -> None:
    decision = await decided(twins.message("days off", language="et"), search=WordSearch({"days off": CLOSE}))

    assert (decision.rule, decision.endpoints) == ("choice_offered", ())
    assert decision.choices == (
        Choice(title="Riigipühad", payload="#endpoint:holidays"),
        Choice(title="Koolivaheajad", payload="#endpoint:school"),
    )
    assert "Riigipühad või Koolivaheajad" in decision.reply


async def test_at_most_three_choices_are_offered() -> None:
    close = tuple(twins.candidate(e, 0.50) for e in (HOLIDAYS, SCHOOL, PRICES, WEATHER))

    decision = await decided(twins.message("days off"), search=WordSearch({"days off": close}))

    assert len(decision.choices) == 3


OFFERED = twins.conversation(
    choices=(
        Choice(title="Public holidays", payload="#endpoint:holidays"),
        Choice(title="School holidays", payload="#endpoint:school"),
    )
)


@pytest.mark.parametrize(
    "said", ["#endpoint:school", " #endpoint:school ", "School holidays", "2", "the second one", "teine", "второй"]
)
async def test_an_offered_choice_is_taken(said: str) -> None:
    decision = await decided(twins.message(said, chat=OFFERED))

    assert (decision.rule, ids(decision)) == ("choice_taken", ["school"])


@pytest.mark.parametrize("chat", [None, OFFERED, twins.conversation()])
async def test_a_choice_that_this_chat_was_not_offered_is_refused(chat: Conversation | None) -> None:
    decision = await decided(twins.message("#endpoint:tax", chat=chat))

    assert (decision.rule, decision.endpoints) == ("choice_refused", ())
    assert "no longer open" in decision.reply


async def test_an_endpoint_removed_since_it_was_offered_is_refused() -> None:
    chat = twins.conversation(choices=(Choice(title="Gone", payload="#endpoint:gone"),))

    assert (await decided(twins.message("#endpoint:gone", chat=chat))).rule == "choice_refused"


OPEN = twins.collecting(HOLIDAYS, TAX, asked=("kind",))


@pytest.mark.parametrize(("language", "said"), RESUME)
async def test_a_reply_resumes_the_collection(language: Language, said: str) -> None:
    chat = twins.conversation(language=language, open_=OPEN)

    decision = await decided(twins.message(said, language=language, chat=chat))

    assert decision.resumes
    assert ids(decision) == ["holidays", "tax"]


@pytest.mark.parametrize(("language", "said"), SWITCH)
async def test_a_clear_request_for_something_else_leaves_the_collection(language: Language, said: str) -> None:
    chat = twins.conversation(language=language, open_=OPEN)

    decision = await decided(twins.message(said, language=language, chat=chat))

    assert not decision.resumes
    assert decision.rule.startswith("switch:")
    assert not {"holidays", "tax"} & set(ids(decision))


@pytest.mark.parametrize("language", ["en", "et", "ru"])
def test_each_language_has_at_least_forty_utterances(language: str) -> None:
    assert len(_TABLE[language]["resume"]) + len(_TABLE[language]["switch"]) >= 40


async def test_a_weak_match_does_not_leave_the_collection() -> None:
    search = WordSearch({"show me something else": (twins.candidate(WEATHER, 0.49),)})
    chat = twins.conversation(open_=OPEN)

    assert (await decided(twins.message("show me something else", chat=chat), search=search)).resumes


async def test_values_are_not_even_searched() -> None:
    search = WordSearch()

    await claim(twins.message("EE, from 2026-01-01 to 2026-12-31", chat=twins.conversation(open_=OPEN)), search=search)

    assert search.searched == []


async def test_an_allowed_value_that_was_asked_for_is_a_value() -> None:
    search = WordSearch({"sõiduauto": (twins.candidate(WEATHER, 0.9, high=True),)})
    chat = twins.conversation(language="et", open_=OPEN)

    assert (await decided(twins.message("sõiduauto", language="et", chat=chat), search=search)).rule == "value_reply"


async def test_a_new_request_beside_the_open_one_is_put_off_and_nothing_collected_is_lost() -> None:
    chat = twins.conversation(open_=OPEN)

    decision = await decided(twins.message("calculate the tax for 123ABC and show me the weather", chat=chat))

    assert decision.resumes
    assert [one.part for one in decision.later] == ["show me the weather"]


async def test_a_collection_goes_on_when_search_is_down() -> None:
    chat = twins.conversation(open_=OPEN)

    decision = await decided(twins.message("find an address", chat=chat), search=WordSearch(is_down=True))

    assert (decision.resumes, decision.rule) == (True, "search_failed")


@pytest.mark.parametrize("said", ["hello", "what can you do?", "thanks", "what did I ask?", "repeat that"])
async def test_a_side_remark_is_left_to_the_context_layer(said: str) -> None:
    assert await claim(twins.message(said, chat=twins.conversation(open_=OPEN))) is None


async def test_thanks_at_the_continuation_prompt_is_an_answer_to_it() -> None:
    chat = twins.conversation(open_=twins.collecting(HOLIDAYS, awaits_continuation=True))

    assert (await decided(twins.message("thanks", chat=chat))).rule == "steering_reply"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "and in Latvia?"),
        ("et", "ja Lätis?"),
        ("ru", "а в Латвии?"),
        ("en", "what about 2027?"),
        ("et", "aga homme?"),
    ],
)
async def test_an_elliptic_question_repeats_the_one_before(language: Language, said: str) -> None:
    transcript = twins.said(("public holidays in Estonia", "Here they are."), ("thanks", "You're welcome!"))
    chat = twins.conversation(language=language, transcript=transcript)

    decision = await decided(twins.message(said, language=language, chat=chat))

    assert (decision.rule, ids(decision)) == ("follow_up:high_confidence", ["holidays"])


@pytest.mark.parametrize("said", ["and write me a poem about the sea", "and in Latvia?"])
async def test_without_an_earlier_question_nothing_is_followed_up(said: str) -> None:
    assert await claim(twins.message(said)) is None


async def test_addresses_are_found_in_the_tenant_of_the_request() -> None:
    assert ids(await decided(twins.message("find an address"))) == [ADDRESS.endpoint_id]
