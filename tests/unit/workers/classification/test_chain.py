from __future__ import annotations

import pytest

from schemas.endpoints import Language
from schemas.routing import Decision, Layer
from tests.unit.workers.classification import twins
from tests.unit.workers.classification.twins import HOLIDAYS, NOON, WordSearch
from workers.classification.chain import LAYER_FAILURES, Classifier
from workers.classification.layer import Message


def classifier(search: WordSearch | None = None, **settings: object) -> Classifier:
    return Classifier(search=search or WordSearch(), settings=twins.settings(**settings))


@pytest.mark.parametrize(
    ("said", "layer"),
    [("public holidays in Estonia", Layer.SERVICE), ("hello", Layer.CONTEXT), ("write a poem", Layer.OOD)],
)
async def test_the_first_layer_that_claims_decides(said: str, layer: Layer) -> None:
    assert (await classifier().decide(twins.request(said), None, now=NOON)).layer is layer


async def test_a_layer_that_fails_passes_on_and_is_counted() -> None:
    failures = LAYER_FAILURES.labels(layer="service")
    before = failures._value.get()

    decision = await classifier(WordSearch(is_down=True)).decide(twins.request("public holidays"), None, now=NOON)

    assert decision.layer is Layer.OOD
    assert failures._value.get() == before + 1


@pytest.mark.parametrize(
    ("previous", "said", "expected"),
    [(None, "Millal on riigipühad?", "et"), ("et", "public holidays", "et"), ("en", "Какие праздники?", "ru")],
)
async def test_the_decision_carries_the_language_of_the_chat(
    previous: Language | None, said: str, expected: Language
) -> None:
    chat = twins.conversation(language=previous) if previous else None

    assert (await classifier().decide(twins.request(said), chat, now=NOON)).language == expected


async def test_a_knowledge_layer_is_asked_between_small_talk_and_refusal() -> None:
    class Knowledge:
        name = Layer.RAG

        async def claim(self, message: Message) -> Decision | None:
            return Decision(layer=Layer.RAG, language=message.language, rule="passage", reply="From the book.")

    chain = Classifier(search=WordSearch(), settings=twins.settings(), knowledge=(Knowledge(),))

    assert (await chain.decide(twins.request("hello"), None, now=NOON)).layer is Layer.CONTEXT
    assert (await chain.decide(twins.request("what is VAT?"), None, now=NOON)).layer is Layer.RAG


async def test_falling_through_skips_the_endpoints_and_says_why() -> None:
    chat = twins.conversation(open_=twins.collecting(HOLIDAYS))

    decision = await classifier().fall_through(twins.request("public holidays"), chat, language="et", rule="max_turns")

    assert (decision.layer, decision.language, decision.rule) == (Layer.OOD, "et", "max_turns>out_of_domain")


async def test_a_no_that_ended_a_collection_is_acknowledged_without_asking_again() -> None:
    chat = twins.conversation(open_=twins.collecting(HOLIDAYS, question="Which country?"))

    decision = await classifier().fall_through(twins.request("no"), chat, language="en", rule="declined")

    assert decision.layer is Layer.CONTEXT
    assert "Which country?" not in decision.reply
    assert not decision.keeps_collection
