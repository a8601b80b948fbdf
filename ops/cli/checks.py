"""What the doctor looks at. A check never raises: what it runs into is its finding."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Literal

import httpx

from ops.cli.place import checked_settings, placed_settings, running_stack, shim_url
from ops.cli.screen import CommandFailed
from ops.local import ports, probes, server
from schemas.base import Frozen


class Finding(Frozen):
    """What a check found. A note tells of something that is not needed now; a fault must be mended."""

    what: str
    level: Literal["ok", "note", "fault"]
    found: str
    remedy: str = ""


def checks(*, for_tests: bool) -> Sequence[Callable[[], Finding]]:
    """Return the checks in the order in which they make sense. Bad settings make the others pointless."""
    settings_alone = _settings()
    if settings_alone.level == "fault":
        return (_python, lambda: settings_alone)
    always = (_python, _settings, _folder, _redis, _eviction, _vectors, _embedder, _model, _ports, _shim, _workers)
    return (*always, _chromium) if for_tests else always


def _python() -> Finding:
    return Finding(what="Python", level="ok", found=f"{sys.version.split()[0]} at {sys.executable}")


def _settings() -> Finding:
    try:
        checked_settings()
    except CommandFailed as failure:
        return Finding(what="settings", level="fault", found=failure.problem, remedy="README lists every variable")
    return Finding(what="settings", level="ok", found="all can be read")


def _folder() -> Finding:
    folder = checked_settings().local.data_dir
    nearest = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if os.access(nearest, os.W_OK):
        return Finding(what="data folder", level="ok", found=str(folder))
    remedy = f"make {nearest} writable or set SIGNALBOX_DATA_DIR"
    return Finding(what="data folder", level="fault", found=f"{folder} can't be written", remedy=remedy)


def _redis() -> Finding:
    given = placed_settings().redis
    if probes.redis_answers(given.url):
        return Finding(what="Redis", level="ok", found=f"{given.url} answers")
    if "url" in given.model_fields_set:
        remedy = "start that server, or unset REDIS_URL to use an embedded one"
        return Finding(what="Redis", level="fault", found=f"{given.url} does not answer", remedy=remedy)
    try:
        return Finding(what="Redis", level="ok", found=f"`signalbox up` will run {server.find_server()}")
    except server.NoServer as error:
        return Finding(what="Redis", level="fault", found="no server", remedy=str(error))


def _eviction() -> Finding:
    """A full server that evicts takes queued messages and turns, and tells nobody."""
    given = placed_settings()
    servers = {"REDIS_URL": given.redis.url, "QUEUE_BROKER_URL": given.queue.broker_url}
    policies = {
        variable: probes.eviction_policy(url)
        for variable, url in servers.items()
        if url.startswith(("redis://", "rediss://"))
    }
    evicting = [f"the server of {name} has {policy}" for name, policy in policies.items() if _evicts(policy)]
    if not evicting:
        return Finding(what="Redis memory", level="ok", found="no server is known to evict")
    remedy = "redis-cli config set maxmemory-policy noeviction, and the same in its configuration file"
    return Finding(what="Redis memory", level="fault", found="; ".join(evicting), remedy=remedy)


def _evicts(policy: str) -> bool:
    return policy not in ("", "noeviction")


def _vectors() -> Finding:
    given = checked_settings().retrieval
    if given.engine == "server":
        if probes.http_status(f"{given.qdrant_url}/readyz") == httpx.codes.OK:
            return Finding(what="vector engine", level="ok", found=f"Qdrant at {given.qdrant_url} answers")
        remedy = "start Qdrant, correct RETRIEVAL_QDRANT_URL, or set RETRIEVAL_ENGINE=edge"
        return Finding(what="vector engine", level="fault", found=f"{given.qdrant_url} is not ready", remedy=remedy)
    if find_spec("qdrant_edge"):
        return Finding(what="vector engine", level="ok", found="Qdrant Edge, in process")
    remedy = "pip install 'signalbox[local]', or set RETRIEVAL_ENGINE=server and RETRIEVAL_QDRANT_URL"
    return Finding(what="vector engine", level="fault", found="qdrant-edge-py is not installed", remedy=remedy)


def _embedder() -> Finding:
    from workers.errors import WorkerError
    from workers.retrieval.embedder import open_embedder

    given = checked_settings().retrieval

    async def dimensions() -> int:
        embedder = open_embedder(given)
        try:
            return len((await embedder.embed_queries(["tere"]))[0])
        finally:
            await embedder.close()

    try:
        size = asyncio.run(dimensions())
    except (WorkerError, ImportError, OSError) as error:
        remedy = "pip install 'signalbox[local]', or set RETRIEVAL_EMBEDDER and RETRIEVAL_EMBEDDER_URL"
        return Finding(what="embeddings", level="fault", found=f"{given.embedder}: {error}", remedy=remedy)
    return Finding(what="embeddings", level="ok", found=f"{given.embedder}, {size} dimensions")


def _model() -> Finding:
    given = checked_settings().llm
    if given.engine == "rules":
        return Finding(what="language model", level="ok", found="none needed: the rules engine answers")
    if not find_spec("dspy"):
        remedy = "pip install 'signalbox[llm]', or set LLM_ENGINE=rules"
        return Finding(what="language model", level="fault", found="dspy is not installed", remedy=remedy)
    where = given.api_base or "its provider"
    return Finding(what="language model", level="ok", found=f"{given.model} at {where}, when the rules are unsure")


def _ports() -> Finding:
    given = checked_settings()
    if running_stack() is not None:
        return Finding(what="ports", level="ok", found="held by the running stack")
    wanted = {
        "SHIM_PORT": given.shim.port,
        "SIGNALBOX_REDIS_PORT": given.local.redis_port,
        "SIGNALBOX_DEMO_PORT": given.local.demo_port,
    }
    taken = [f"{variable}={port}" for variable, port in wanted.items() if not ports.is_free(port)]
    if not taken:
        return Finding(what="ports", level="ok", found=", ".join(map(str, wanted.values())) + " are free")
    remedy = "`signalbox up` takes other ones by itself, unless you name them"
    return Finding(what="ports", level="note", found=f"taken: {', '.join(taken)}", remedy=remedy)


def _shim() -> Finding:
    url = shim_url("")
    try:
        answer = httpx.get(f"{url}/readyz", timeout=5.0, trust_env=False)
    except httpx.HTTPError:
        return Finding(what="HTTP door", level="note", found=f"nobody listens at {url}", remedy="signalbox up")
    if answer.is_success:
        return Finding(what="HTTP door", level="ok", found=f"{url} is ready")
    return Finding(
        what="HTTP door", level="fault", found=f"{url}/readyz says {answer.text[:500]}", remedy="see its log"
    )


def _workers() -> Finding:
    given = placed_settings()
    address = probes.BrokerAddress(
        redis_url=given.redis.url, key_prefix=given.redis.key_prefix, broker_url=given.queue.broker_url
    )
    is_broker_there = bool(address.broker_url) or probes.redis_answers(address.redis_url)
    names = probes.consuming_workers(address, timeout_s=1.0) if is_broker_there else ()
    if names:
        return Finding(what="workers", level="ok", found=", ".join(names))
    is_expected = running_stack() is not None
    return Finding(
        what="workers",
        level="fault" if is_expected else "note",
        found="none answers over the broker",
        remedy="see worker.log in the data folder's logs" if is_expected else "signalbox up",
    )


def _chromium() -> Finding:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found:
        return Finding(what="Chromium", level="ok", found=found)
    remedy = "apt-get install chromium; without it the browser tests are skipped"
    return Finding(what="Chromium", level="note", found="not installed", remedy=remedy)
