from __future__ import annotations

import ssl
import subprocess
import sys
from typing import Any

import pytest
from kombu.transport.redis import Channel

from tasks.app import build_app
from tasks.configuration import configuration
from tasks.queues import QueueName
from workers.runtime.settings import QueueSettings, RedisSettings, Settings


def configured(**redis: Any) -> dict[str, Any]:
    return configuration(Settings(redis=RedisSettings(**redis)))


def test_every_transport_option_is_one_that_kombu_reads() -> None:
    assert set(configured()["broker_transport_options"]) <= set(Channel.from_transport_options)


def test_a_redis_cluster_is_refused_as_broker_by_the_name_of_its_variable() -> None:
    with pytest.raises(ValueError, match="QUEUE_BROKER_URL"):
        configuration(Settings(queue=QueueSettings(broker_url="redis+cluster://10.0.0.1:7000")))


def test_a_broker_of_its_own_keeps_results_in_the_redis_of_the_state() -> None:
    built = build_app(Settings(queue=QueueSettings(broker_url="amqp://rabbit//")))

    assert built.conf.broker_url == "amqp://rabbit//"
    assert built.conf.broker_transport is None
    assert built.backend.as_uri().startswith("redis://127.0.0.1:6379")
    assert {queue.queue_arguments["x-queue-type"] for queue in built.conf.task_queues} == {"quorum"}
    built.close()


def test_encrypted_redis_is_verified() -> None:
    assert configured(url="rediss://redis.example:6380/0")["broker_use_ssl"] == {"ssl_cert_reqs": ssl.CERT_REQUIRED}


def test_the_prefix_of_a_deployment_is_on_broker_and_results() -> None:
    found = configured(key_prefix="blue")

    assert found["broker_transport_options"]["global_keyprefix"] == "blue:queue:"
    assert found["result_backend_transport_options"]["global_keyprefix"] == "blue:result:"


def test_only_json_is_accepted() -> None:
    assert configured()["accept_content"] == ["json"]
    assert configured()["result_accept_content"] == ["json"]


def test_the_default_queue_is_a_declared_one() -> None:
    assert configured()["task_default_queue"] in set(QueueName)


def test_sweeps_that_nobody_took_expire_before_they_pile_up() -> None:
    entry = configured()["beat_schedule"]["sweep"]

    assert entry["options"]["expires"] <= 2 * entry["schedule"]


def test_celery_knows_every_setting_we_give() -> None:
    from celery.app.defaults import NAMESPACES, flatten

    known = {name for name, _ in flatten(NAMESPACES)}
    read_but_not_listed = {"redis_backend_health_check_interval"}  # celery/backends/redis.py asks for it all the same

    assert set(configured()) - known == read_but_not_listed


def test_publishing_loads_no_room_no_model_and_no_vector_store() -> None:
    script = (
        "import sys, tasks.publish, tasks.app; "
        "heavy = ('workers.wiring', 'workers.turn', 'workers.classification', 'workers.extraction', 'workers.calling', "
        "'workers.formatting', 'workers.indexing', 'workers.retrieval', 'workers.llm', 'qdrant_client', 'dspy'); "
        "print([m for m in sys.modules if m.startswith(heavy)])"
    )

    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"
