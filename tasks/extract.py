"""Queue *extraction*: fill the parameters of the chosen endpoints."""

from __future__ import annotations

from tasks import names
from tasks.app import app
from tasks.base import StageTask
from tasks.dispatch import dispatch
from tasks.rooms import rooms


@app.task(name=names.EXTRACT, base=StageTask)  # type: ignore[untyped-decorator] # Celery ships no types
async def extract(turn_id: str) -> None:
    """Fill what the user said; ask for what is missing."""
    await dispatch(await rooms().steps.extract(turn_id))
