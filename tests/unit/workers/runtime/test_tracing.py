"""Spans of turns: one trace each, in whichever process and order they come; nothing of them that was said or sent."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from workers.runtime import tracing

TURN, OTHER = "0123456789abcdef-0123456789abcdef", "0123456789abcdef-fedcba9876543210"


@pytest.fixture
def exporter() -> Iterator[InMemorySpanExporter]:
    kept = InMemorySpanExporter()
    tracing.start("", exporter=kept)
    yield kept
    tracing.stop()


def told(exporter: InMemorySpanExporter) -> dict[str, Any]:
    tracing.stop()
    return {span.name: span for span in exporter.get_finished_spans()}


def test_a_turns_tasks_and_calls_are_one_trace_under_the_turns_own_span(exporter: InMemorySpanExporter) -> None:
    began = datetime.now(UTC) - timedelta(seconds=3)
    with tracing.span("task", turn_id=TURN, queue="calling"), tracing.span("api_call", turn_id=TURN, is_call=True) as m:
        m.note(outcome="succeeded", status=200)
    with tracing.span("other", turn_id=OTHER):
        pass
    tracing.turn_ended(TURN, began=began, phase="done")

    spans = told(exporter)
    assert {spans[name].context.trace_id for name in ("turn", "task", "api_call")} == {tracing.ids_of(TURN)[0]}
    assert spans["other"].context.trace_id == tracing.ids_of(OTHER)[0]
    assert spans["task"].parent.span_id == spans["turn"].context.span_id
    assert spans["api_call"].parent.span_id == spans["task"].context.span_id
    assert spans["turn"].parent is None
    assert spans["turn"].end_time - spans["turn"].start_time >= 3e9
    assert dict(spans["api_call"].attributes) == {"signalbox.outcome": "succeeded", "signalbox.status": 200}


def test_another_turn_inside_is_a_trace_of_its_own(exporter: InMemorySpanExporter) -> None:
    with tracing.span("task", turn_id=TURN), tracing.span("next", turn_id=OTHER):
        pass

    assert told(exporter)["next"].context.trace_id == tracing.ids_of(OTHER)[0]


def test_of_an_exception_the_type_alone_is_told(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="s3cret"), tracing.span("task", turn_id=None):
        raise ValueError("s3cret")

    span = told(exporter)["task"]
    assert (span.status.description, span.events) == ("ValueError", ())
    assert "s3cret" not in span.to_json()


def test_a_share_of_none_traces_no_turn() -> None:
    kept = InMemorySpanExporter()
    tracing.start("", share=0.0, exporter=kept)
    with tracing.span("task", turn_id=TURN):
        pass
    tracing.turn_ended(TURN, began=datetime.now(UTC))

    assert told(kept) == {}


def test_off_it_costs_no_import_and_changes_nothing(repository: Path) -> None:
    code = (
        "import sys; from workers.runtime import tracing\n"
        "with tracing.span('x', turn_id='t') as mark: mark.note(a=1)\n"
        "tracing.stop(); print(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_a_turns_id_is_not_to_be_read_from_its_trace() -> None:
    trace_id, span_id = tracing.ids_of(TURN)

    assert f"{trace_id:032x}"[:16] not in TURN
    assert f"{span_id:016x}" not in TURN
