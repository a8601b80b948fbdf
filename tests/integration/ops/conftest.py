"""An HTTP door with a real Redis behind it and no worker, and the command line against both."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ops.local import probes
from ops.local.ports import free_port
from ops.local.process import Part
from ops.local.supervisor import Supervisor
from workers.runtime.settings import inherited_environment

REPOSITORY = Path(__file__).parents[3]
Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def door(redis_url: str, tmp_path: Path) -> Iterator[str]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    shim = Part(
        name="shim",
        command=(sys.executable, "-m", "uvicorn", "--factory", "api_shim.app:create_app", "--port", str(port)),
        where=url,
        is_ready=lambda: probes.http_status(f"{url}/healthz") == 200,
        environment=inherited_environment() | {"REDIS_URL": redis_url, "PYTHONPATH": str(REPOSITORY)},
    )
    supervisor = Supervisor([[shim]], tmp_path)
    supervisor.start()
    yield url
    supervisor.stop()


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Run `signalbox …` as an operator would, on a data folder of its own."""

    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "ops.cli.main", *words],
            cwd=REPOSITORY,
            env={
                **inherited_environment(),
                "SIGNALBOX_DATA_DIR": str(tmp_path / "data"),
                "COLUMNS": "200",
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run
