"""Every Prometheus metric of the house is declared here, so that a dashboard's author finds them on one page."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram, start_http_server

_WORK_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_WAIT_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120)

TASKS_STARTED = Counter("signalbox_tasks_started", "Deliveries that a worker took up.", ("task", "queue"))
TASKS_FINISHED = Counter("signalbox_tasks_finished", "Deliveries that ended well.", ("task", "queue"))
TASKS_FAILED = Counter("signalbox_tasks_failed", "Deliveries that ended in a dead letter.", ("task", "queue", "error"))
TASKS_RETRIED = Counter("signalbox_tasks_retried", "Tries that failed and were repeated.", ("task", "queue", "error"))
TASKS_RETURNED = Counter("signalbox_tasks_returned", "Deliveries given back to their queue.", ("task", "queue"))
TASK_SECONDS = Histogram(
    "signalbox_task_seconds", "Time from taking up to the end.", ("task", "queue"), buckets=_WORK_S
)
QUEUE_WAIT_SECONDS = Histogram(
    "signalbox_queue_wait_seconds", "Time a message waited on its queue.", ("queue",), buckets=_WAIT_S
)
TASKS_RUNNING = Gauge("signalbox_tasks_running", "Coroutines under way in this process.")
LOOP_LAG_SECONDS = Histogram(
    "signalbox_loop_lag_seconds", "How late the event loop woke from a short sleep.", buckets=_WAIT_S
)
DEAD_LETTERS = Counter("signalbox_dead_letters", "Tasks given up.", ("task", "reason"))
QUARANTINED = Counter("signalbox_quarantined", "Messages no task could take.", ("reason",))

API_CALLS = Counter("signalbox_api_calls", "Calls to APIs, by their outcome.", ("host", "outcome"))
API_CALL_SECONDS = Histogram(
    "signalbox_api_call_seconds", "Time of a call to an API, with its waits and tries.", ("host",), buckets=_WORK_S
)
BREAKER_CHANGES = Counter("signalbox_breaker_changes", "Breakers that entered a state.", ("state", "by"))

MODEL_REQUESTS = Counter(
    "signalbox_model_requests", "Requests to models, by their end.", ("judgement", "model", "ending")
)
MODEL_TOKENS = Counter("signalbox_model_tokens", "Tokens sent to and got from models.", ("judgement", "model", "kind"))
MODEL_COST_USD = Counter("signalbox_model_cost_usd", "Dollars spent on models.", ("judgement", "model"))
MODEL_SECONDS = Histogram("signalbox_model_seconds", "Time of a request to a model.", ("judgement",), buckets=_WORK_S)
MODEL_FALLBACKS = Counter(
    "signalbox_model_fallbacks", "Judgements that models left to the rules.", ("judgement", "reason")
)
ENDPOINTS_ENRICHED = Counter(
    "signalbox_endpoints_enriched", "Contexts asked of a model, by who wrote them at last.", ("by",)
)
GUARD_OBJECTIONS = Counter("signalbox_guard_objections", "Texts that a guard held back.", ("guard", "side"))

GUARD_FAILURES = Counter("signalbox_guard_failures", "Checks of an operator's own guard that broke.", ("guard",))


def serve_metrics(port: int, *, host: str = "127.0.0.1") -> None:
    """Answer GET /metrics on a thread of its own. Raises OSError when the port is taken."""
    start_http_server(port, addr=host)
