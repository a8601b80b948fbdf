"""Queue *classification*: answer a question about search that somebody waits for."""

from __future__ import annotations

from tasks import names
from tasks.app import app
from tasks.base import StageTask
from tasks.rooms import rooms


@app.task(name=names.SEARCH, base=StageTask)  # type: ignore[untyped-decorator] # Celery ships no types
async def search(question_id: str) -> None:
    """Search, or explain, and leave the answer for the door."""
    await rooms().explainer.answer(question_id)
