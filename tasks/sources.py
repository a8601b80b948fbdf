"""Queue *indexing*: read the sources whose time has come."""

from __future__ import annotations

from tasks import names
from tasks.app import app
from tasks.base import StageTask
from tasks.process import process
from tasks.rooms import rooms


@app.task(name=names.LOOK_AT_SOURCES, base=StageTask)  # type: ignore[untyped-decorator] # Celery ships no types
async def look_at_sources() -> None:
    """Ask for a run of each source that is due."""
    for run in await rooms().refresher.due():
        await process().publisher.send(names.REFRESH_SOURCE, (run.run_id,))


@app.task(name=names.REFRESH_SOURCE, base=StageTask)  # type: ignore[untyped-decorator] # Celery ships no types
async def refresh_source(run_id: str) -> None:
    """Bring the registry in step with one source."""
    await rooms().refresher.refresh(run_id, index=process().publisher.index)
