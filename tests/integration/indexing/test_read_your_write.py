"""200 for ?wait=true means: whichever worker is asked next finds it. Each of four in turn is the only one asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from ops.local.stack import Stack
from tasks.app import build_app
from tests.integration.indexing.conftest import StartStack
from tests.integration.retrieval.qdrant_twin import running_twin
from workers.runtime.settings import RedisSettings, Settings

WORKERS = 4
NODES = [f"worker-{n}@signalbox" for n in range(1, WORKERS + 1)]
SUBJECTS = ("glacier temperature", "orchestra rehearsal", "kindergarten queue", "lighthouse visitors")


@contextmanager
def engine_settings(engine: str) -> Iterator[dict[str, str]]:
    if engine == "edge":
        yield {}
    else:
        with running_twin() as url:
            yield {"RETRIEVAL_ENGINE": "server", "RETRIEVAL_QDRANT_URL": url}


@pytest.mark.parametrize("engine", ["edge", "server"])
def test_every_worker_finds_what_was_answered_with_200(start_stack: StartStack, engine: str) -> None:
    with engine_settings(engine) as settings:
        stack = start_stack(workers=WORKERS, SHIM_INDEX_WAIT_S="60", **settings)
        app = build_app(Settings(redis=RedisSettings(url=stack.redis_url)))
        with httpx.Client(base_url=stack.url, trust_env=False, timeout=90) as client:
            for node, subject in zip(NODES, SUBJECTS, strict=True):
                others = [other for other in NODES if other != node]
                told = app.control.add_consumer("classification", destination=[node], reply=True, timeout=20)
                assert told, node
                app.control.cancel_consumer("classification", destination=others, reply=True, timeout=20)

                registered = client.post("/api-tools", params={"wait": "true"}, json=an_endpoint(subject))
                found = client.post("/rag-search/api-tools/search", json={"query": f"tell me the {subject}"})

                assert (registered.status_code, registered.json()["isSearchable"]) == (200, True)
                assert found.json()["results"][0]["name"] == an_endpoint(subject)["name"], (node, found.text)
        app.close()
        assert stack.process("worker-4").pid  # all four lived through it


def an_endpoint(subject: str) -> dict[str, str]:
    name = "get_" + subject.replace(" ", "_")
    return {"name": name, "description": f"Tell the {subject}.", "url": f"https://api.example.ee/{name}"}


def test_a_changed_text_is_what_every_worker_answers_with(start_stack: StartStack) -> None:
    stack = start_stack(workers=2, SHIM_INDEX_WAIT_S="60")
    with httpx.Client(base_url=stack.url, trust_env=False, timeout=90) as client:
        for round_ in range(4):
            body = an_endpoint("ferry departures") | {"description": f"Tell the ferry departures, edition {round_}."}
            assert client.post("/api-tools", params={"wait": "true"}, json=body).status_code == 200

            said = {first_description(client, stack) for _ in range(6)}

            assert said == {body["description"]}


def first_description(client: httpx.Client, stack: Stack) -> str:
    found = client.post("/rag-search/api-tools/search", json={"query": "ferry departures"}).json()["results"]
    assert found, stack.data_dir
    return str(found[0]["description"])
