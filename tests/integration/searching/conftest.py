"""A small system of its own: Redis, one worker with every queue, the HTTP door, and the command line against it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from ops.local import probes
from ops.local.parts import QUEUES
from ops.local.ports import free_port
from ops.local.process import Part
from ops.local.supervisor import Supervisor
from tests.conftest import running_redis
from workers.runtime.settings import inherited_environment

REPOSITORY = Path(__file__).parents[3]
CATALOGUE = """
- name: get_public_holidays
  endpointId: holidays
  description: Public holidays of a year in Estonia.
  url: https://api.example.ee/holidays
  examples: {en: ["When is Midsummer Day?", "Which days off are there in December?", "Is Good Friday a day off?"]}
  params: [{name: year, type: integer}]
- name: get_electricity_price
  endpointId: electricity
  description: The price of electricity on the exchange, hour by hour.
  url: https://api.example.ee/electricity
  examples: {en: ["What does a kilowatt hour cost now?", "When is power cheapest today?", "How dear is electricity?"]}
- name: get_power_price
  endpointId: power
  description: The price of electricity on the power exchange for each hour.
  url: https://api.example.ee/power
- name: get_vehicle_tax
  endpointId: tax
  description: The yearly tax on a vehicle by its registration number.
  url: https://api.example.ee/tax
  examples: {en: ["How much car tax do I pay?", "What is the tax on 123 ABC?", "Tax for my motorcycle"]}
  params: [{name: reg_number, required: true}]
"""


@dataclass(frozen=True)
class System:
    """Where the system listens."""

    url: str
    redis_url: str
    logs: Path
    cli: Callable[..., subprocess.CompletedProcess[str]]

    def post(self, path: str, **body: object) -> httpx.Response:
        return httpx.post(f"{self.url}{path}", json=body, timeout=30, trust_env=False)


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    folder = tmp_path_factory.mktemp("system")
    with running_redis(folder / "redis") as redis_url:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        environment = inherited_environment() | {
            "REDIS_URL": redis_url,
            "PYTHONPATH": str(REPOSITORY),
            "RETRIEVAL_POLL_REGISTRY_S": "0.1",
            "SIGNALBOX_DATA_DIR": str(folder / "data"),
        }
        supervisor = Supervisor([[_shim(url, port, environment), _worker(redis_url, environment)]], folder)
        supervisor.start()
        try:
            yield _with_catalogue(System(url, redis_url, folder, _cli(folder, environment)), folder)
        finally:
            supervisor.stop()


def _shim(url: str, port: int, environment: dict[str, str]) -> Part:
    return Part(
        name="shim",
        command=(sys.executable, "-m", "uvicorn", "--factory", "api_shim.app:create_app", "--port", str(port)),
        where=url,
        is_ready=lambda: probes.http_status(f"{url}/healthz") == 200,
        environment=environment,
    )


def _worker(redis_url: str, environment: dict[str, str]) -> Part:
    celery = (sys.executable, "-m", "celery", "--app", "tasks.app", "worker", "--hostname", "w@test")
    return Part(
        name="worker",
        command=(*celery, "--queues", ",".join(QUEUES), "--without-gossip", "--without-mingle"),
        where="every queue",
        is_ready=lambda: "w@test" in probes.consuming_workers(probes.BrokerAddress(redis_url=redis_url), only="w@test"),
        environment=environment,
        stop_within_s=20.0,
    )


def _cli(folder: Path, environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ops.cli.main", *arguments],
            env=environment | {"COLUMNS": "200"} | changes,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )

    return run


def _with_catalogue(system: System, folder: Path) -> System:
    file = folder / "catalogue.yaml"
    file.write_text(CATALOGUE, encoding="utf-8")
    indexed = system.cli("index", str(file), "--url", system.url, "--wait")
    assert indexed.returncode == 0, indexed.stdout + indexed.stderr
    return system
