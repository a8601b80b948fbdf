"""Queue *formatting*: say what the calls brought."""

from __future__ import annotations

from tasks import names
from tasks.app import app
from tasks.base import StageTask
from tasks.dispatch import dispatch
from tasks.rooms import rooms


@app.task(name=names.FORMAT, base=StageTask)  # type: ignore[untyped-decorator] # Celery ships no types
async def format_answer(turn_id: str) -> None:
    """Answer; also the join of a fan-out."""
    await dispatch(await rooms().steps.format(turn_id))
