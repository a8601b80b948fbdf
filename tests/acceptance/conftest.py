"""One whole system for the acceptance run: Redis, worker, beat, shim and demo API, as processes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ops.local.options import StackOptions
from ops.local.stack import Stack
from tests.acceptance.stack_tools import index_demo_catalogue, running_slow_api
from tests.conftest import free_port


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    options = StackOptions(
        data_dir=tmp_path_factory.mktemp("stack"),
        shim_port=free_port(),
        demo_port=free_port(),
        # The first entries wait for the embedding model to be loaded; a busy machine takes its time.
        environment={"CALLING_ALLOWED_HOSTS": "127.0.0.1", "SHIM_INDEX_WAIT_S": "50"},
    )
    with Stack(options) as running:
        index_demo_catalogue(running)
        yield running


@pytest.fixture(scope="session")
def slow_api() -> Iterator[str]:
    with running_slow_api(free_port()) as url:
        yield url
