"""One OpenTelemetry trace a turn: its tasks and API calls, in whichever process they ran. Off unless a URL is set.

A trace's id is the turn's, digested, so nothing has to travel with a message. Attributes are names, numbers and hosts:
no values, texts, paths or headers, and of an exception its type alone.

Source: OpenTelemetry specification 1.x, trace API; sent as OTLP over HTTP. The packages are the extra `tracing`.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import datetime
from typing import Any

import structlog

log = structlog.get_logger(__name__)

Fact = str | int | float | bool
_EXPORT_EVERY_MS = 1_000
_forced_ids: ContextVar[tuple[int, int] | None] = ContextVar("forced_ids", default=None)


class Mark:
    """A span under way, or nothing where nobody traces."""

    def __init__(self, span: Any = None) -> None:
        self._span = span

    def note(self, **facts: Fact) -> None:
        """Add attributes."""
        if self._span is not None:
            self._span.set_attributes(_named(facts))


class _Tracing:
    """What this process traces with; `tracer` is None while it does not."""

    def __init__(self) -> None:
        self.tracer: Any = None
        self.provider: Any = None


_tracing = _Tracing()


def start(url: str, *, share: float = 1.0, exporter: Any = None) -> None:
    """Send spans to the collector at `url` from now on (an `exporter` stands in for it), those of `share` of all turns.

    Without the packages the log says what to install, and nothing is traced.
    """
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
        from opentelemetry.sdk.trace.sampling import TraceIdRatioBased
    except ImportError as error:
        log.error("traces_not_sent", missing=error.name, remedy="pip install 'signalbox[tracing]'")  # noqa: TRY400
        return

    class Ids(RandomIdGenerator):  # type: ignore[misc, unused-ignore] # an optional package
        """Random ids, but for a turn's own span."""

        def generate_trace_id(self) -> int:
            forced = _forced_ids.get()
            return forced[0] if forced else int(super().generate_trace_id())

        def generate_span_id(self) -> int:
            forced = _forced_ids.get()
            return forced[1] if forced else int(super().generate_span_id())

    provider = TracerProvider(
        resource=Resource.create({"service.name": "signalbox"}),
        sampler=TraceIdRatioBased(share),
        id_generator=Ids(),
        shutdown_on_exit=False,
    )
    sender = BatchSpanProcessor(exporter or _exporter(url), schedule_delay_millis=_EXPORT_EVERY_MS)
    provider.add_span_processor(sender)
    _tracing.provider, _tracing.tracer = provider, provider.get_tracer("signalbox")


def _exporter(url: str) -> Any:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(endpoint=url, timeout=5)


def stop() -> None:
    """Send what is left and trace no more."""
    provider, _tracing.provider, _tracing.tracer = _tracing.provider, None, None
    if provider is not None:
        provider.shutdown()


@contextlib.contextmanager
def span(name: str, *, turn_id: str | None, is_call: bool = False, **facts: Fact) -> Iterator[Mark]:
    """Trace what happens inside, as a part of the turn, or of what is traced already. `is_call`: to another system."""
    tracer = _tracing.tracer
    if tracer is None:
        yield Mark()
        return
    from opentelemetry.trace import SpanKind, Status, StatusCode

    with tracer.start_as_current_span(
        name,
        context=_parent(turn_id),
        kind=SpanKind.CLIENT if is_call else SpanKind.CONSUMER,
        attributes=_named(facts),
        record_exception=False,
        set_status_on_exception=False,
    ) as opened:
        try:
            yield Mark(opened)
        except BaseException as error:
            opened.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise


def turn_ended(turn_id: str, *, began: datetime, **facts: Fact) -> None:
    """Trace the turn as a whole, from its admission to now: the span that all its others belong to."""
    if _tracing.tracer is None:
        return
    from opentelemetry.context import Context

    token = _forced_ids.set(ids_of(turn_id))
    try:
        whole = _tracing.tracer.start_span(
            "turn", context=Context(), start_time=round(began.timestamp() * 1e9), attributes=_named(facts)
        )
    finally:
        _forced_ids.reset(token)
    whole.end(time.time_ns())


def ids_of(turn_id: str) -> tuple[int, int]:
    """Return the ids of a turn's trace and of its own span; a digest, for a turn's id opens its stream of events."""
    digest = hashlib.sha256(f"trace of {turn_id}".encode()).digest()
    return int.from_bytes(digest[:16], "big"), int.from_bytes(digest[16:24], "big")


def _parent(turn_id: str | None) -> Any:
    """Return the context to begin in: the span that is open here, if it is of the same turn, else the turn's own."""
    from opentelemetry import trace
    from opentelemetry.context import Context

    if turn_id is None:
        return Context()
    trace_id, span_id = ids_of(turn_id)
    if trace.get_current_span().get_span_context().trace_id == trace_id:
        return None
    whole = trace.SpanContext(trace_id, span_id, is_remote=True, trace_flags=trace.TraceFlags(1))
    return trace.set_span_in_context(trace.NonRecordingSpan(whole), Context())


def _named(facts: dict[str, Fact]) -> dict[str, Fact]:
    return {f"signalbox.{name}": fact for name, fact in facts.items()}
