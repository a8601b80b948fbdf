"""A worker among its neighbours: beat, metrics, and a Redis that goes away."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from kombu import Connection, Queue

from schemas.commands import Command, Stage
from schemas.ids import chat_key, new_turn_id
from tasks import names
from tasks.publish import Publisher
from tasks.transport import Transport
from tests.conftest import free_port, server_binary
from tests.integration.tasks.conftest import Workers, eventually
from workers.errors import StoreUnavailable
from workers.runtime.settings import RedisSettings, Settings

TURN = new_turn_id(chat_key("default", "surroundings"))


class Server:
    """A Redis that can be killed and started again on its port."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                server_binary(),
                "--port",
                str(self.port),
                "--bind",
                "127.0.0.1",
                "--dir",
                str(self._folder),
                "--save",
                "",
            ],
            stdout=subprocess.DEVNULL,
        )
        client = redis.Redis.from_url(self.url)
        eventually(lambda: _answers(client))
        client.close()

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path)
    running.start()
    yield running
    running.kill()


async def test_a_worker_resumes_after_redis_was_killed_and_came_back_empty(
    server: Server, environment: dict[str, str], tmp_path: Path
) -> None:
    client = redis.Redis.from_url(server.url, decode_responses=True)
    workers = Workers(redis=client, environment={**environment, "REDIS_URL": server.url}, folder=tmp_path)
    publisher = Publisher.open(Settings(redis=RedisSettings(url=server.url)))
    command = Command(stage=Stage.CLASSIFICATION, turn_id=TURN)
    try:
        worker = workers.start()
        await publisher.stage(command)
        eventually(lambda: workers.marks("classified") == [TURN])

        server.kill()
        with pytest.raises(StoreUnavailable):
            await publisher.stage(command)
        await asyncio.sleep(2)
        server.start()
        await publisher.stage(command)

        eventually(lambda: workers.marks("classified") == [TURN], within_s=20)
        assert worker.poll() is None
    finally:
        await publisher.close()
        workers.stop()
        client.close()


def test_a_connection_lost_with_a_message_in_hand_is_given_up_quietly(server: Server) -> None:
    """Celery's two steps after a loss; kombu alone ends the worker in the second, where it asks a dead connection."""
    connection = Connection(server.url, transport=Transport)
    channel = connection.default_channel
    queue = Queue("held", channel=channel)
    queue.declare()
    connection.Producer(channel).publish({}, routing_key="held")
    assert queue.get() is not None  # taken, and not acknowledged
    for consuming in (channel, connection.channel()):
        queue(consuming).consume(consumer_tag="next", callback=lambda _: None)
    with pytest.raises(TimeoutError):
        connection.drain_events(timeout=0.1)  # leaves a pop waiting, as Celery's loop does

    server.kill()
    connection.collect(socket_timeout=1)
    connection.close()


def test_a_worker_waits_for_a_redis_that_starts_later(
    server: Server, environment: dict[str, str], tmp_path: Path
) -> None:
    server.kill()
    workers_environment = {**environment, "REDIS_URL": server.url}
    log = tmp_path / "early.log"
    with log.open("wb") as out:
        worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "tests.integration.tasks.worker_app", "worker"],
            env=workers_environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        eventually(lambda: "redis_awaited" in log.read_text(), within_s=20)
        server.start()
        eventually(lambda: "ready." in log.read_text(), within_s=20)
    finally:
        worker.kill()
        worker.wait()


def test_beat_asks_for_sweeps_and_leaves_no_file(
    workers: Workers, environment: dict[str, str], prefix: str, tmp_path: Path
) -> None:
    folder = tmp_path / "beat"
    folder.mkdir()
    with (tmp_path / "beat.log").open("wb") as log:
        beat = subprocess.Popen(
            [sys.executable, "-m", "celery", "-A", "tasks.app", "beat"],
            env={**environment, "TURN_SWEEP_EVERY_S": "0.3"},
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        eventually(lambda: workers.redis.llen(f"{prefix}maintenance") >= 3)
    finally:
        beat.terminate()
        beat.wait(timeout=10)

    message = json.loads(workers.redis.lindex(f"{prefix}maintenance", 0))
    assert message["headers"]["task"] == names.SWEEP
    assert message["headers"]["expires"]
    assert list(folder.iterdir()) == []


async def test_a_worker_serves_its_metrics(workers: Workers, given: Settings) -> None:
    port = free_port()
    workers.start(QUEUE_METRICS_PORT=port)
    publisher = Publisher.open(given)
    await publisher.stage(Command(stage=Stage.CLASSIFICATION, turn_id=TURN))
    await publisher.close()
    eventually(lambda: workers.marks("classified"))

    def line(start: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            text = answer.read().decode()
        return next((one for one in text.splitlines() if one.startswith(start)), "")

    labels = '{queue="classification",task="signalbox.classify"}'
    eventually(lambda: line(f"signalbox_tasks_finished_total{labels}").endswith(" 1.0"))
    assert line('signalbox_queue_wait_seconds_count{queue="classification"}').endswith(" 1.0")
    eventually(lambda: float(line("signalbox_loop_lag_seconds_count").split()[-1]) > 0)
