"""Queue *classification*: find the layer that claims a turn."""

from __future__ import annotations

from tasks import names
from tasks.app import app
from tasks.base import StageTask
from tasks.dispatch import dispatch
from tasks.rooms import rooms


@app.task(name=names.CLASSIFY, base=StageTask)  # type: ignore[untyped-decorator] # Celery ships no types
async def classify(turn_id: str) -> None:
    """Find where the turn goes."""
    await dispatch(await rooms().steps.classify(turn_id))
