"""A whole system that asks a scripted model for every judgement, and says whatever the test wants it to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from ops.local.options import StackOptions
from ops.local.stack import Stack
from tests.acceptance.client import Chat
from tests.acceptance.metrics import counted
from tests.acceptance.stack_tools import index_demo_catalogue
from tests.conftest import free_port
from tests.integration.llm.scripted import Script, scripted_model
from tests.integration.llm.sensible import SensibleModel


@dataclass
class Modelled:
    """A stack and its model. `metrics_port` is the worker's."""

    stack: Stack
    script: Script
    model: SensibleModel
    metrics_port: int

    def chat(self) -> Chat:
        return Chat(self.stack.url)

    def counted(self, name: str, **labels: str) -> float:
        return counted(self.metrics_port, name, **labels)


def _running(tmp_path_factory: pytest.TempPathFactory, engine: str) -> Iterator[Modelled]:
    model, metrics_port = SensibleModel(), free_port()
    with scripted_model(otherwise=model) as script:
        options = StackOptions(
            data_dir=tmp_path_factory.mktemp(engine),
            shim_port=free_port(),
            demo_port=free_port(),
            environment={
                "CALLING_ALLOWED_HOSTS": "127.0.0.1",
                "QUEUE_METRICS_PORT": str(metrics_port),
                "SHIM_INDEX_WAIT_S": "60",
                "LLM_ENGINE": engine,
                "LLM_API_BASE": script.base_url,
                "LLM_API_KEY": "scripted-key",
                "LLM_TIMEOUT_S": "1.5",
                "LLM_RETRIES": "0",
                "LLM_REST_AFTER_FAILURES": "100000",
                "LLM_TURN_CALLS": "100",
            },
        )
        with Stack(options) as stack:
            index_demo_catalogue(stack)
            yield Modelled(stack, script, model, metrics_port)


@pytest.fixture(scope="module")
def _dspy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Modelled]:
    yield from _running(tmp_path_factory, "dspy")


@pytest.fixture(scope="module")
def _auto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Modelled]:
    yield from _running(tmp_path_factory, "auto")


@pytest.fixture
def dspy_house(_dspy: Modelled) -> Iterator[Modelled]:
    """The engine that asks first, with a model that has forgotten earlier tests."""
    _forget(_dspy)
    yield _dspy
    _forget(_dspy)


@pytest.fixture
def auto_house(_auto: Modelled) -> Iterator[Modelled]:
    """The engine that asks when the rules are unsure."""
    _forget(_auto)
    yield _auto
    _forget(_auto)


def _forget(house: Modelled) -> None:
    house.model.replies.clear()
    house.model.asked.clear()
    for kept in (house.script.requests, house.script.headers, house.script.paths, house.script.sent_at):
        kept.clear()
