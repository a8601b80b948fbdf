"""The composition root: builds the clients once per process, on its event loop, and hands them to the stages."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from datetime import timedelta

import redis.asyncio as aioredis
import structlog

from workers.caching.cache import ResponseCache
from workers.caching.followup import judge
from workers.calling.caller import Caller
from workers.calling.fetching import DocumentFetcher
from workers.calling.outcomes import OutcomeStore
from workers.classification import language
from workers.classification.chain import Classifier
from workers.classification.explaining import Explainer
from workers.errors import StoreUnavailable
from workers.guarding.loading import guards_of
from workers.indexing.enricher import Enricher
from workers.indexing.indexer import Indexer
from workers.indexing.openapi.document import LARGEST_BYTES
from workers.indexing.refresher import Refresher
from workers.llm.ledger import Ledger
from workers.registry.questions import Questions
from workers.registry.sources import SourceStore
from workers.registry.store import RegistryStore
from workers.retrieval.embedder import Embedder, open_embedder
from workers.retrieval.search import EndpointSearch
from workers.runtime.clock import utc_now
from workers.runtime.keys import Keys
from workers.runtime.redis import async_client
from workers.runtime.settings import Settings
from workers.sessions.turns import TurnStore
from workers.sessions.user_tokens import UserTokens
from workers.turn.answering import Answering
from workers.turn.cached import CachedCalls
from workers.turn.endings import Endings
from workers.turn.following import Way
from workers.turn.judges import Judges
from workers.turn.rest import Rest
from workers.turn.speech import Speaker
from workers.turn.steps import Steps
from workers.turn.wording import Wording

log = structlog.get_logger(__name__)


_SHARE_OF_WAITING = 0.4
"""Part of a task's time that indexing may wait for its place, and once more for the model."""


@dataclass(frozen=True, kw_only=True)
class Rooms:
    """What a worker process holds open."""

    settings: Settings
    redis: aioredis.Redis
    cache_redis: aioredis.Redis
    steps: Steps
    rest: Rest
    indexer: Indexer
    refresher: Refresher
    fetcher: DocumentFetcher
    search: EndpointSearch
    explainer: Explainer
    caller: Caller
    judges: Judges
    lease_keeper: asyncio.Task[None]


_opened: list[Rooms] = []


def rooms() -> Rooms:
    """Return this process's rooms. Raises LookupError before `open_rooms`."""
    if not _opened:
        raise LookupError("open_rooms() has not run in this process")
    return _opened[0]


def occupy(opened: Rooms) -> None:
    """Make these the rooms of the process."""
    _opened[:] = [opened]


async def open_rooms(settings: Settings) -> Rooms:
    """Open every client on the running loop; the rooms belong to this loop."""
    redis = async_client(settings.redis)
    keys = Keys(settings.redis.key_prefix)
    turns = TurnStore(redis, keys, settings.turn)
    registry = RegistryStore(redis, keys)
    embedder = open_embedder(settings.retrieval)
    search = EndpointSearch(
        registry=registry, embedder=embedder, retrieval=settings.retrieval, routing=settings.routing
    )
    await asyncio.gather(search.start(), asyncio.to_thread(language.warm_up))
    outcomes = OutcomeStore(redis, keys)
    caller = Caller.open(redis=redis, keys=keys, settings=settings.calling, outcomes=outcomes)
    cache_redis = _cache_client(settings) or redis
    cache = ResponseCache.open(cache_redis, keys, settings.cache, utc_now)
    user_tokens = UserTokens.open(redis, keys, settings.calling)
    calls = CachedCalls(caller=caller, outcomes=outcomes, cache=cache, user_tokens=user_tokens)
    judges = await Judges.open(settings, Ledger(redis, keys))
    way = _way(settings, judges, judges.classifier(search, settings), cache, registry)
    steps = _steps(settings, turns, calls, way, judges)
    fetcher = DocumentFetcher(settings.calling, max_bytes=LARGEST_BYTES, timeout_s=settings.indexing.fetch_timeout_s)
    opened = Rooms(
        settings=settings,
        redis=redis,
        cache_redis=cache_redis,
        steps=steps,
        rest=Rest(
            turns,
            steps.endings,
            utc_now,
            batch_timeout_s=settings.calling.batch_timeout_s,
            lease_s=settings.turn.lease_s,
        ),
        indexer=_open_indexer(registry, embedder, judges, settings),
        refresher=_open_refresher(registry, SourceStore(redis, keys), fetcher, settings),
        fetcher=fetcher,
        search=search,
        explainer=Explainer(
            questions=Questions(redis, keys),
            search=search,
            settings=settings.routing,
            clock=utc_now,
            guards=guards_of(settings.guard.questions, settings.guard),
        ),
        caller=caller,
        judges=judges,
        lease_keeper=asyncio.get_running_loop().create_task(_keep_leases(turns, settings.turn.lease_renew_s)),
    )
    occupy(opened)
    return opened


def _way(
    settings: Settings, judges: Judges, classifier: Classifier, cache: ResponseCache, registry: RegistryStore
) -> Way:
    return Way(
        classifier=classifier,
        cache=cache,
        registry=registry,
        judge=judge,
        clock=utc_now,
        high_cosine=settings.routing.high_cosine,
        detector=judges.detector,
    )


def _steps(settings: Settings, turns: TurnStore, calls: CachedCalls, way: Way, judges: Judges) -> Steps:
    speaker = Speaker(turns, settings.turn, utc_now, ledger=judges.ledger)
    endings = Endings(turns=turns, speaker=speaker, clock=utc_now, filler=judges.filler)
    wording = Wording(
        writer=judges.writer,
        guards=guards_of(settings.guard.answers, settings.guard),
        most_at_once=settings.routing.max_endpoints if settings.routing.multi_intent_enabled else 1,
    )
    most = settings.routing.max_endpoints if settings.routing.multi_intent_enabled else 1
    return Steps(
        turns=turns,
        most_at_once=most,
        way=way,
        classifier=way.classifier,
        calls=calls,
        answering=Answering(turns=turns, calls=calls, endings=endings, clock=utc_now, wording=wording),
        endings=endings,
        clock=utc_now,
        batch_timeout=timedelta(seconds=settings.calling.batch_timeout_s),
        filler=judges.filler,
    )


def _open_indexer(registry: RegistryStore, embedder: Embedder, judges: Judges, settings: Settings) -> Indexer:
    return Indexer(
        registry=registry,
        embedder=embedder,
        enricher=Enricher(judges.model),
        longest_wait_s=settings.queue.task_time_limit_s * _SHARE_OF_WAITING,
    )


def _open_refresher(
    registry: RegistryStore, sources: SourceStore, fetcher: DocumentFetcher, settings: Settings
) -> Refresher:
    return Refresher(
        registry=registry,
        sources=sources,
        fetch=fetcher.fetch,
        file=settings.indexing.sources_file,
        claimed_s=settings.queue.message_expires_s,
    )


def _cache_client(settings: Settings) -> aioredis.Redis | None:
    """Open the cache's own server, when it has one."""
    url = settings.cache.redis_url
    return async_client(settings.redis.model_copy(update={"url": url})) if url else None


async def close_rooms() -> None:
    """Close what `open_rooms` opened; harmless when nothing is open."""
    while _opened:
        opened = _opened.pop()
        opened.lease_keeper.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await opened.lease_keeper
        await opened.judges.close()
        await opened.caller.close()
        await opened.fetcher.close()
        await opened.search.close()
        for client in {opened.redis, opened.cache_redis}:
            await client.aclose()
            await client.connection_pool.disconnect()


async def _keep_leases(turns: TurnStore, every_s: float) -> None:
    """Prolong this process's claims for as long as its loop turns."""
    while True:
        await asyncio.sleep(every_s)
        try:
            await turns.renew_leases()
        except StoreUnavailable as error:
            log.warning("leases_not_renewed", error=str(error))
