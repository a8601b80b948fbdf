"""Names of tasks on the wire. Plain strings: Celery takes anything that has a `.name` for a task object."""

from __future__ import annotations

CLASSIFY = "signalbox.classify"
EXTRACT = "signalbox.extract"
CALL = "signalbox.call"
CALL_PART = "signalbox.call_part"
FORMAT = "signalbox.format"
INDEX = "signalbox.index"
LOOK_AT_SOURCES = "signalbox.look_at_sources"
REFRESH_SOURCE = "signalbox.refresh_source"
SEARCH = "signalbox.search"
SWEEP = "signalbox.sweep"
