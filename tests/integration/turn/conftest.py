"""The rooms of a worker in this process, with the demo's endpoints, for tests of whole turns."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from schemas.endpoints import Endpoint
from tests.acceptance.town_api import TownApi, running_town_api
from tests.conftest import running_redis
from tests.integration.turn.house import House, open_house, running_loop
from workers.indexing.catalogue import read_catalogue


@pytest.fixture(scope="module")
def api() -> Iterator[TownApi]:
    with running_town_api() as running:
        yield running


@pytest.fixture(scope="module")
def endpoints(api: TownApi) -> dict[str, Endpoint]:
    """What the API offers, by name."""
    found, problems = read_catalogue(json.dumps(list(api.entries)))
    assert not problems
    return {endpoint.name: endpoint for endpoint in found}


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with running_loop() as running:
        yield running


@pytest.fixture(scope="module")
def redis_url_of_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Redis of the module's own: the shared one is emptied by other tests."""
    with running_redis(tmp_path_factory.mktemp("house")) as url:
        yield url


@pytest.fixture(scope="module")
def redis_with_endpoints(
    request: pytest.FixtureRequest,
    redis_url_of_module: str,
    loop: asyncio.AbstractEventLoop,
    endpoints: dict[str, Endpoint],
) -> str:
    """A Redis in which the endpoints are indexed: those that the module names in `INDEXED`, else all."""
    wanted = getattr(request.module, "INDEXED", tuple(endpoints))
    with open_house(loop, redis_url_of_module) as house:
        house.run(house.index([endpoints[name] for name in wanted]))
    return redis_url_of_module


@pytest.fixture(scope="module")
def rules(loop: asyncio.AbstractEventLoop, redis_with_endpoints: str) -> Iterator[House]:
    """A house without a model."""
    with open_house(loop, redis_with_endpoints) as house:
        yield house
