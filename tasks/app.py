"""The Celery app. Light: it names the task modules and loads none; a worker imports them when it starts."""

from __future__ import annotations

from celery import Celery
from kombu.transport import TRANSPORT_ALIASES

from tasks.configuration import configuration
from workers.runtime.settings import Settings, settings

TASK_MODULES = (
    "tasks.lifecycle",
    "tasks.presence",
    "tasks.rooms",
    "tasks.classify",
    "tasks.extract",
    "tasks.call",
    "tasks.format",
    "tasks.index",
    "tasks.search",
    "tasks.sources",
    "tasks.sweep",
)

_TRANSPORT = "tasks.transport:Transport"


def build_app(given: Settings) -> Celery:
    """Build an app for these settings. Raises ValueError when they name no possible broker."""
    # Ours stands in kombu's table, not in broker_transport: under a name of its own Flower would show no queues.
    TRANSPORT_ALIASES.update(redis=_TRANSPORT, rediss=_TRANSPORT)
    built = Celery("signalbox", include=TASK_MODULES, set_as_current=False)
    built.conf.update(configuration(given))
    return built


app = build_app(settings())
