"""Stack: the whole system as processes of this machine, started and stopped by a program or a test.

with Stack(StackOptions(data_dir=folder, environment={"TURN_DEADLINE_S": "20"})) as stack:
    httpx.post(f"{stack.url}/orchestrate", json=…)
    stack.kill("worker")  # comes back by itself
"""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Self

from ops.local import parts, ports, server
from ops.local.options import StackOptions
from ops.local.probes import BrokerAddress
from ops.local.process import Part, PartProcess
from ops.local.running import FolderTaken, RunningStack, lock_folder, write_note
from ops.local.supervisor import StackFailed, Supervisor
from workers.runtime.settings import KEY_CHARACTERS, inherited_environment

_CODE = str(Path(__file__).parents[2])


class Stack:
    """All parts under one data folder. `start` returns when every part answers; `stop` when all are gone."""

    def __init__(
        self,
        options: StackOptions | None = None,
        *,
        data_dir: Path | None = None,
        workers: int = 1,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Take the options, or a data folder and the few things that tests change."""
        if options is None:
            if data_dir is None:
                raise TypeError("a stack needs options or a data_dir")
            options = StackOptions(data_dir=data_dir, workers=workers, environment=environment or {})
        self.options = options
        self.data_dir = options.data_dir.absolute()
        self._lock: IO[str] | None = None
        self._supervisor: Supervisor | None = None
        self._places: parts.Places | None = None

    @property
    def places(self) -> parts.Places:
        """Where the parts listen. Raises LookupError before `start`."""
        if self._places is None:
            raise LookupError("the stack has not been started")
        return self._places

    @property
    def url(self) -> str:
        """The shim's address."""
        return self.places.url

    @property
    def redis_url(self) -> str:
        """The server that holds state, events, broker and results."""
        return self.places.redis_url

    @property
    def demo_url(self) -> str:
        """The demo API's address."""
        return self.places.demo_url

    @property
    def processes(self) -> Sequence[PartProcess]:
        """The parts, in the order they start. Empty before `start`."""
        return tuple(self._supervisor.processes.values()) if self._supervisor else ()

    def start(self) -> Self:
        """Start everything. Raises StackFailed, with all parts stopped again."""
        try:
            self._lock = lock_folder(self.data_dir)
            self._start_parts()
        except (FolderTaken, server.NoServer) as error:
            self.stop()
            raise StackFailed(str(error)) from error
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop everything, the door first and the server last. Harmless when nothing runs."""
        if self._supervisor is not None:
            self._supervisor.stop()
        if self._lock is not None:
            (self.data_dir / "stack.json").unlink(missing_ok=True)
            self._lock.close()
            self._lock = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def process(self, name: str) -> PartProcess:
        """Return a part by name: redis, demo-api, worker (worker-1 … with several), beat, shim. Raises KeyError."""
        if self._supervisor is None:
            raise LookupError("the stack has not been started")
        return self._supervisor.processes[name]

    def kill(self, name: str, wanted: signal.Signals = signal.SIGKILL) -> int:
        """Send a signal to a part (the supervisor starts a dead one again); return the pid that got it."""
        process = self.process(name)
        pid = process.pid
        process.send(wanted)
        return pid

    def index_demo(self) -> None:
        """Register the demo catalogue and wait until search finds all of it. Raises StackFailed naming what failed."""
        from ops.local.catalogue import DEMO_CATALOGUE, index_all, read_catalogue

        entries = read_catalogue(DEMO_CATALOGUE, demo_url=self.demo_url)
        failed = [done for done in index_all(self.url, entries, wait=True) if not done.is_good]
        if failed:
            raise StackFailed("; ".join(f"{done.name}: {done.reason}" for done in failed))

    def _start_parts(self) -> None:
        logs = self.data_dir / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        redis_port = ports.wanted_or_free(self.options.redis_port)
        self._places = self._choose_places(redis_port)
        self._supervisor = Supervisor(self._tiers(redis_port), logs)
        self._supervisor.start()
        running = RunningStack(pid=os.getpid(), url=self.url, redis_url=self.redis_url, demo_url=self.demo_url)
        write_note(self.data_dir, running)

    def _choose_places(self, redis_port: int) -> parts.Places:
        options = self.options
        redis_url = options.redis_url or f"redis://127.0.0.1:{redis_port}/0"
        inherited = {**inherited_environment(), **options.environment}
        return parts.Places(
            data_dir=self.data_dir,
            redis_url=redis_url,
            broker=BrokerAddress(
                redis_url=redis_url,
                key_prefix=inherited.get("REDIS_KEY_PREFIX", "sb"),
                broker_url=inherited.get("QUEUE_BROKER_URL", ""),
            ),
            shim_host=options.host,
            shim_port=ports.wanted_or_free(options.shim_port),
            demo_port=ports.wanted_or_free(options.demo_port),
        )

    def _tiers(self, redis_port: int) -> list[list[Part]]:
        environment = self._environment()
        count = self.options.workers
        names = ["worker"] if count == 1 else [f"worker-{n}" for n in range(1, count + 1)]
        own_server = [] if self.options.redis_url else [parts.redis_part(self.places, redis_port, environment)]
        demo = [parts.demo_part(self.places, environment)] if self.options.with_demo else []
        return [
            own_server,
            [
                *demo,
                *(parts.worker_part(name, self.places, environment) for name in names),
                parts.beat_part(environment),
                parts.shim_part(self.places, environment),
            ],
        ]

    def _environment(self) -> dict[str, str]:
        """What the children see: what we inherited, over it the caller's wishes, over both where things are."""
        wished = {**inherited_environment(), **self.options.environment}
        # The demo API and no other port: Redis listens on the same loopback.
        demo = f"127.0.0.1:{self.places.demo_port}" if self.options.with_demo else ""
        allowed = [wished.get("CALLING_ALLOWED_HOSTS", ""), demo]
        paths = [_CODE, wished.get("PYTHONPATH", "")]
        # Tokens are sealed for a minute: a key that lives as long as the stack is enough.
        key = wished.get("CALLING_USER_TOKEN_KEY") or (
            secrets.token_urlsafe(KEY_CHARACTERS) if wished.get("CALLING_USER_TOKEN_HOSTS") else ""
        )
        return wished | {
            "CALLING_USER_TOKEN_KEY": key,
            "REDIS_URL": self.redis_url,
            "SHIM_HOST": self.places.shim_host,
            "SHIM_PORT": str(self.places.shim_port),
            "SIGNALBOX_DEMO_PORT": str(self.places.demo_port),
            "SIGNALBOX_DATA_DIR": str(self.data_dir),
            "CALLING_ALLOWED_HOSTS": ",".join(host for host in allowed if host),
            "PYTHONPATH": os.pathsep.join(path for path in paths if path),
            "PYTHONUNBUFFERED": "1",
        }
