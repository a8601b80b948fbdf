"""Queue *maintenance*: move on the turns that nobody moves."""

from __future__ import annotations

from tasks import names
from tasks.app import app
from tasks.base import StageTask
from tasks.dispatch import dispatch
from tasks.process import process
from tasks.rooms import rooms


@app.task(name=names.SWEEP, base=StageTask)  # type: ignore[untyped-decorator] # Celery ships no types
async def sweep() -> None:
    """Ask again for whatever is owed to a turn that rests too long."""
    for command in await rooms().rest.sweep(await process().publisher.depth()):
        await dispatch(command)
