"""A real, very small language model on this machine, and a whole system that asks it first for everything.

SmolLM2-135M knows little Estonian and Russian and is often wrong: what is tested is that this harms no turn.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from ops.local.catalogue import DEMO_CATALOGUE, index_all, read_catalogue
from ops.local.options import StackOptions
from ops.local.stack import Stack
from tests.acceptance.local_model import serve
from tests.conftest import free_port

ENGINE = {
    "LLM_ENGINE": "dspy",
    "LLM_MODEL": serve.MODEL,
    "LLM_API_KEY": "none-is-needed",
    "LLM_FORM": "json_schema",
    "LLM_MAX_TOKENS": "160",
    "LLM_TIMEOUT_S": "240",
    "LLM_RETRIES": "0",
    "LLM_REST_AFTER_FAILURES": "100000",
    "LLM_TURN_CALLS": "100",
}


INDEXED = ("get_vehicle_tax_info", "get_public_holidays", "get_weather", "get_parliament_votings")


@dataclass(frozen=True)
class House:
    """A stack and the port of its worker's counters."""

    stack: Stack
    metrics_port: int


@pytest.fixture(scope="session")
def model_url() -> Iterator[str]:
    """The model's address, for LLM_API_BASE."""
    if not serve.WEIGHTS.is_file():
        pytest.skip("the model is not installed: make local-model")
    with subprocess.Popen(
        [sys.executable, serve.__file__], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


@pytest.fixture(scope="session")
def house(model_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A stack whose every judgement is put to the model."""
    metrics_port = free_port()
    options = StackOptions(
        data_dir=tmp_path_factory.mktemp("local-model"),
        shim_port=free_port(),
        demo_port=free_port(),
        environment={
            **ENGINE,
            "LLM_API_BASE": model_url,
            "CALLING_ALLOWED_HOSTS": "127.0.0.1",
            "QUEUE_METRICS_PORT": str(metrics_port),
            "SHIM_INDEX_WAIT_S": "60",
            "TURN_DEADLINE_S": "900",
            "QUEUE_TASK_TIME_LIMIT_S": "900",
            "QUEUE_VISIBILITY_TIMEOUT_S": "1000",
        },
    )
    with Stack(options) as stack:
        wanted = [one for one in read_catalogue(DEMO_CATALOGUE, demo_url=stack.demo_url) if one["name"] in INDEXED]
        for indexed in index_all(stack.url, wanted, wait=True):
            assert indexed.is_good, indexed
        yield House(stack, metrics_port)
