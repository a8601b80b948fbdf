"""Queue *calling*: one API call, alone or as one part of a fan-out."""

from __future__ import annotations

from tasks import names
from tasks.app import app
from tasks.base import StageTask
from tasks.dispatch import dispatch
from tasks.rooms import rooms


@app.task(name=names.CALL, base=StageTask)  # type: ignore[untyped-decorator] # Celery ships no types
async def call(turn_id: str) -> None:
    """Make the turn's only call."""
    await dispatch(await rooms().steps.call(turn_id))


@app.task(name=names.CALL_PART, base=StageTask)  # type: ignore[untyped-decorator] # Celery ships no types
async def call_part(turn_id: str, index: int) -> None:
    """Make one of several calls; the last to end starts the answer."""
    await rooms().steps.call_part(turn_id, index)
