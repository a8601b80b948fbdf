"""Queue *indexing*: make an endpoint findable."""

from __future__ import annotations

from tasks import names
from tasks.app import app
from tasks.base import StageTask
from tasks.rooms import rooms


@app.task(name=names.INDEX, base=StageTask)  # type: ignore[untyped-decorator] # Celery ships no types
async def index(endpoint_id: str) -> None:
    """Embed the endpoint and put it into search."""
    await rooms().indexer.index(endpoint_id)
