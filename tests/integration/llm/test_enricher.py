"""Enriching by a scripted model: its words in the description's language, asked for once; else the rules'."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import redis.asyncio as aioredis

from schemas.endpoints import Endpoint, ParamSpec
from schemas.registry import Registered, Searchable
from tests.integration.llm.scripted import Script, marked, scripted_model
from workers.indexing.enrich import enrich
from workers.indexing.enricher import Enricher
from workers.indexing.indexer import Indexer
from workers.llm.model import LanguageModel
from workers.registry.store import RegistryStore
from workers.retrieval.embedder import LetterEmbedder
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.settings import LlmSettings
from workers.runtime.telemetry import ENDPOINTS_ENRICHED, MODEL_FALLBACKS

ESTONIAN = "Inimene tahab teada, millal ja mis kell järgmine tramm või praam väljub, ning kõik peatused."
HOURS = Endpoint(
    endpoint_id="a",
    name="get_bus_times",
    description="Leia busside väljumisajad peatuse järgi.",
    url="https://api.example.ee/buses?key=hidden",
    params=(ParamSpec(name="stop", required=True, description="Peatus"),),
)


@pytest.fixture
async def asked(clean_redis: aioredis.Redis) -> AsyncIterator[tuple[Script, Indexer, RegistryStore]]:
    registry = RegistryStore(clean_redis, Keys())
    await registry.put(Registered(endpoint=HOURS, updated_at=utc_now()))
    with scripted_model() as script:
        settings = {"engine": "auto", "model": "openai/m", "api_base": script.base_url, "api_key": "k", "retries": 0}
        model = await LanguageModel.open(LlmSettings.model_validate(settings))
        yield script, Indexer(registry=registry, embedder=LetterEmbedder(), enricher=Enricher(model)), registry
        await model.close()


async def made(registry: RegistryStore) -> Searchable:
    found = await registry.searchable("a")
    assert found is not None
    return found


async def test_the_models_words_are_part_of_the_embed_text_and_paid_for_once(
    asked: tuple[Script, Indexer, RegistryStore],
) -> None:
    script, indexer, registry = asked
    script.lines.append(marked(context=ESTONIAN))

    await indexer.index("a")
    await indexer.index("a")

    assert (await made(registry)).endpoint.enriched_context == ESTONIAN
    assert (await made(registry)).enriched_by == "model"
    assert len(script.requests) == 1
    prompt = str(script.requests[0]["messages"])
    assert "Estonian" in prompt
    assert "stop (string, required): Peatus" in prompt
    assert "hidden" not in prompt  # a query may carry a key


async def test_what_its_owner_changed_is_asked_about_anew(asked: tuple[Script, Indexer, RegistryStore]) -> None:
    script, indexer, registry = asked
    script.lines += [marked(context=ESTONIAN), marked(context=f"{ESTONIAN} Ja trammid.")]
    await indexer.index("a")

    changed = HOURS.model_copy(update={"description": "Leia busside ja trammide väljumisajad peatuse järgi."})
    await registry.put(Registered(endpoint=changed, updated_at=utc_now()))
    await indexer.index("a")

    assert (await made(registry)).endpoint.enriched_context.endswith("Ja trammid.")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (503, "unanswered"),
        ("no form at all", "unanswered"),
        (marked(context="The person wants to know when the bus leaves."), "other_language"),
        (marked(context=" "), "empty"),
    ],
    ids=["away", "unreadable", "in English", "empty"],
)
async def test_the_rules_speak_where_the_model_fails_and_it_is_counted(
    asked: tuple[Script, Indexer, RegistryStore], line: str | int, reason: str
) -> None:
    script, indexer, registry = asked
    script.lines += [line, line]
    fallbacks = MODEL_FALLBACKS.labels(judgement="endpoint_enrichment", reason=reason)
    by_rules = ENDPOINTS_ENRICHED.labels("rules")
    before = (fallbacks._value.get(), by_rules._value.get())

    await indexer.index("a")

    assert (await made(registry)).endpoint.enriched_context == enrich(HOURS).enriched_context
    assert (await made(registry)).enriched_by == "rules"
    assert (fallbacks._value.get(), by_rules._value.get()) == (before[0] + 1, before[1] + 1)


async def test_a_model_that_is_back_is_asked_at_the_next_indexing(asked: tuple[Script, Indexer, RegistryStore]) -> None:
    script, indexer, registry = asked
    script.lines += [503, marked(context=ESTONIAN)]

    await indexer.index("a")
    await indexer.index("a")

    assert (await made(registry)).enriched_by == "model"
