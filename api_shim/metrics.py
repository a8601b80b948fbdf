"""What Prometheus may know about the door. Names are stable: dashboards depend on them."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_FIRST_TOKEN_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class DoorMetrics:
    """The instruments of one process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.first_token = Histogram(
            "signalbox_time_to_first_token_seconds",
            "From a turn's arrival to the first text sent",
            buckets=_FIRST_TOKEN_S,
            registry=self.registry,
        )
        self.turns = Counter(
            "signalbox_turns_total", "Turns followed to their end here", ["outcome"], registry=self.registry
        )
        self.refusals = Counter(
            "signalbox_requests_refused_total", "Requests answered with an error", ["type"], registry=self.registry
        )
        self.streams = Gauge("signalbox_streams_open", "Event streams open now", registry=self.registry)
        self.cut = Counter(
            "signalbox_streams_cut_total", "Streams cut because their reader was too slow", registry=self.registry
        )
        self.queued = Gauge("signalbox_queued_messages", "Messages waiting in the turn queues", registry=self.registry)
