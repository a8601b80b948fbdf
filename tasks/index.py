"""Queue *indexing*: make an endpoint findable."""

from __future__ import annotations

from typing import Any

from tasks import names
from tasks.app import app
from tasks.base import StageTask
from tasks.rooms import rooms


class _Index(StageTask):
    abstract = True

    async def is_done(self, *args: Any) -> bool:
        return await rooms().indexer.is_indexed(*args)


@app.task(name=names.INDEX, base=_Index)  # type: ignore[untyped-decorator] # Celery ships no types
async def index(endpoint_id: str) -> None:
    """Embed the endpoint and put it into search."""
    await rooms().indexer.index(endpoint_id)
